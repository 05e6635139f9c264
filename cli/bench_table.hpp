// Results of benchmarks as text: aligned columns, ratios, and a sentence about each benchmark.
#pragma once

#include <string>
#include <vector>

#include "common/record.hpp"

namespace sennit::cli {

// "51.2 ns", "4.10 us", "1.30 ms", "2.00 s".
std::string format_time(double nanoseconds);

// "8", "64 Ki", "1 Mi".
std::string format_bytes(std::uint64_t bytes);

// One sentence about the operation that the benchmark measures.
std::string bench_sentence(const std::string &bench);

// Tables of the records of one benchmark. All records are from one job, or from jobs with the same
// number of ranks. The last column compares each subject with the first sennit-* subject of the
// same size: 2.00 means twice as long.
std::string time_table(const std::vector<bench::Record> &records);
std::string memory_table(const std::vector<bench::Record> &records);

}  // namespace sennit::cli
