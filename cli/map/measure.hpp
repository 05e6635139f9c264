// Runs the jobs of `sennit map`, whose ranks execute the measuring program, and reads their output.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "map/figures.hpp"

namespace sennit::cli::map {

struct Options {
    std::vector<std::uint64_t> sizes{std::uint64_t{1} << 20, std::uint64_t{100} << 20};
    std::vector<std::uint64_t> sizes_at_once{std::uint64_t{1} << 20, std::uint64_t{200} << 20};
    std::size_t rounds = 1000;
    std::size_t rounds_at_once = 100;
    std::vector<std::string> ways{"mapped", "cma", "adopted", "xpmem", "threads", "flag"};
    std::vector<std::string> parts{"pairs", "at-once"};
    std::size_t pairs = 0;  // number of pairs to measure; 0: all
    double seconds = 60;    // the budget of all parts
    bool json = false;
    bool show_commands = false;
    std::string colour = "auto";
    std::string svg;
    std::string read;
};

// Measures figures->machine with the options. `on_line` gets each accepted line. Sets figures->end.
void measure(const Options &options, Figures *figures,
             const std::function<void(const Json &)> &on_line);

}  // namespace sennit::cli::map
