// The results of `sennit map` as text for a terminal. docs/design/map.md lists the parts.
#pragma once

#include <string>
#include <vector>

#include "map/figures.hpp"

namespace sennit::cli::map {

enum class Border { none, cache, domain };
// The border between two neighbours of the drawing: the end of a NUMA node or package, or only of
// the largest cache that cores share.
Border border_between(const Core &one, const Core &next);

// A map of a grid: for each pair a value if there is room for it, else a digit from 0 to 9.
// `colours`: with 256 colours of a terminal.
std::string heat_text(const Machine &machine, const Grid &grid, bool colours);

// Tables of the figures by distance, of the set-up, of many transfers at once, and of table 1 of
// the paper that docs/results/map repeats.
std::string distance_table(const Figures &figures);
std::string setup_table(const Figures &figures);
std::string at_once_table(const Figures &figures);
std::string paper_table(const Figures &figures);

// One line: the number of transfers in each figure, and the limit of the measurement.
std::string rounds_text(const Figures &figures);

// The summary of the machine: two sentences, fewer if too little was measured.
std::vector<std::string> sentences(const Figures &figures);

}  // namespace sennit::cli::map
