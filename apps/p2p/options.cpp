#include "options.hpp"

#include "common/command_line.hpp"

namespace p2p {
namespace {

// With these limits, products of sizes and the values of cells are whole numbers that a double
// holds.
constexpr std::int64_t kSideLimit = 1'000'000;
constexpr std::int64_t kIterationLimit = 1'000'000'000;

}  // namespace

Options parse_options(int argc, const char *const *argv, const std::vector<std::string> &ways) {
    Options options;
    options.way = ways.front();
    apps::CommandLine line("p2p", "Sync_p2p: a pipeline through a grid that ranks share");
    line.number("--columns", options.columns, {2, kSideLimit}, "columns of the grid");
    line.number("--lines", options.lines, {2, kSideLimit},
                "lines of the grid (as many as columns)");
    line.number("--iterations", options.iterations, {1, kIterationLimit},
                "sweeps that are timed, after one that is not");
    line.number("--group", options.group, {1, kSideLimit}, "lines that are handed over at once");
    line.number("--behind", options.behind, {0, kBehindLimit},
                "groups that a rank stays behind if it finds none; with Sennit (0: chosen)");
    line.word("--way", options.way, ways, "how lines are handed over");
    line.flag("--json", options.json, "print the result as one JSON object on one line");
    line.flag("--spoil", options.spoil, "make the data wrong: the run must then end with an error");
    if (!line.parse(argc, argv)) options.help = line.help();
    if (options.lines == 0) options.lines = options.columns;
    return options;
}

}  // namespace p2p
