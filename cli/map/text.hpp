// The results of `sennit map` as text for a terminal. docs/design/map.md lists the parts.
#pragma once

#include <string>
#include <vector>

#include "map/figures.hpp"

namespace sennit::cli::map {

enum class Border { none, cache, domain };
// Between two neighbours of the drawing: where a NUMA node or package ends, or only the largest
// cache that cores share.
Border border_between(const Core &one, const Core &next);

// A map of a grid: each pair a value where there is room for it, else a digit from 0 to 9. With
// colours, in those of a terminal that has 256.
std::string heat_text(const Machine &machine, const Grid &grid, bool colours);

// The figures by distance, of the set-up, of many transfers at once, and table 1 of the paper.
std::string distance_table(const Figures &figures);
std::string setup_table(const Figures &figures);
std::string at_once_table(const Figures &figures);
std::string paper_table(const Figures &figures);

// Of how many transfers the figures are means, and what bounded them; a line.
std::string rounds_text(const Figures &figures);

// The summary of the machine: two sentences, fewer if too little was measured.
std::vector<std::string> sentences(const Figures &figures);

}  // namespace sennit::cli::map
