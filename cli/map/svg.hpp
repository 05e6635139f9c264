// What `sennit map` measured as one SVG image: a heat map of each way and size, and a curve of each
// with many transfers at once.
#pragma once

#include <string>

#include "map/figures.hpp"

namespace sennit::cli::map {

std::string svg_of(const Figures &figures);

}  // namespace sennit::cli::map
