// The results of `sennit map` as one SVG image: a heat map for each way and size, and a curve for
// each with many transfers at once.
#pragma once

#include <string>

#include "map/figures.hpp"

namespace sennit::cli::map {

std::string svg_of(const Figures &figures);

}  // namespace sennit::cli::map
