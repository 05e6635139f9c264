// Turns a status of Sennit into an exception with its details.
#pragma once

#include <fmt/format.h>
#include <sennit/error.h>

#include <stdexcept>

namespace sennit::bench {

inline void check(sennit_status status, const char *what) {
    if (status != SENNIT_OK) {
        throw std::runtime_error(fmt::format("{}: {}: {}", what, sennit_status_string(status),
                                             sennit_last_error()->text));
    }
}

}  // namespace sennit::bench
