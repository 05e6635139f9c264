// The output of `sennit doctor`. Called by doctor.cpp. Owns nothing.
#pragma once

#include "finding.hpp"

namespace sennit::cli {

std::string findings_text(const std::vector<Finding> &findings);
Json findings_json(const std::vector<Finding> &findings, int ranks);

// 1 if one is bad, else 0.
int doctor_exit_code(const std::vector<Finding> &findings);

}  // namespace sennit::cli
