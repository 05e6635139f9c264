#include "options.hpp"

#include "common/command_line.hpp"
#include "common/failure.hpp"

namespace kernels {
namespace {

// MPI counts elements in 31 bits.
constexpr std::int64_t kSizeLimit = std::int64_t{1} << 30;
constexpr std::int64_t kOrderLimit = 1'000'000;
constexpr std::int64_t kRanksLimit = 1'000'000;

}  // namespace

Options parse_options(int argc, const char *const *argv) {
    Options options;
    apps::CommandLine line("kernels",
                           "DAXPY, Cannon, SUMMA and Integer Sort, by several libraries");
    line.word("--kernel", options.kernel, {"daxpy", "cannon", "summa", "sort"}, "what is computed");
    line.text("--version", options.version, "how ranks communicate (the program's first)");
    line.number("--size", options.size, {1, kSizeLimit},
                "elements of each rank (the paper's number; 2^20 for sort)");
    line.number("--total", options.total, {1, kSizeLimit},
                "instead of --size: elements of the vector, or keys of all ranks");
    line.triple("--shape", options.shape, {1, kOrderLimit},
                "instead of --size: M,K,N; A is M x K, B is K x N");
    line.number("--rows", options.rows, {1, kRanksLimit}, "rows of ranks in summa's grid");
    line.number("--columns", options.columns, {1, kRanksLimit}, "columns of ranks in that grid");
    line.word("--keys", options.keys, {"uniform", "skewed"}, "distribution of keys");
    line.number("--values", options.values, {2, std::int64_t{1} << 31}, "limit of the keys; even");
    line.word("--nas", options.nas, {"S", "W", "A", "B", "C"}, "class of NAS's keys");
    line.number("--chunk", options.chunk, {1, kSizeLimit}, "elements of a daxpy chunk");
    line.number("--warmup", options.warmup, {0, 1'000'000}, "runs that are not timed, but checked");
    line.number("--runs", options.runs, {1, 1'000'000}, "runs that are timed");
    line.flag("--json", options.json, "print the result as one JSON object on one line");
    line.flag("--spoil", options.spoil, "make the data wrong: the run must then end with an error");
    if (!line.parse(argc, argv)) options.help = line.help();
    if (options.values % 2 != 0)
        throw apps::Failure("--values is odd; keys change by their last bit");
    return options;
}

}  // namespace kernels
