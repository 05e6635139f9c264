// One result of a benchmark, and its line of JSON. The measuring programs send the line to `sennit
// bench`, and --json shows it to the user.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/statistics.hpp"

namespace sennit::bench {

// Memory of the process of an idle rank.
struct MemoryUse {
    Summary private_bytes;
    double pss_bytes =
        0.0;  // median; shared pages divided by the number of processes that map them
};

struct Record {
    std::string bench;    // pingpong, put, start, memory and so on
    std::string subject;  // raw-*, sennit-*, openmpi-*, hand-* and so on
    std::string job;      // launcher of the ranks: sennit, openmpi, mpich, openshmem
    std::uint64_t bytes = 0;
    int ranks = 0;
    int hosts = 1;                    // nodes of the ranks
    int rails = 1;                    // used by the subject, if hosts is above 1
    std::string provider;             // of libfabric, if hosts is above 1; "" for an MPI
    int level = -1;                   // support level of notified operations; -1: not Sennit
    std::string progress;             // SENNIT_PROGRESS for Sennit, if hosts is above 1
    std::optional<Summary> time_ns;   // of one operation; absent for memory
    std::optional<MemoryUse> memory;  // memory only
    double ratio_to_raw = 0.0;        // median over the fastest raw-* median of the same job
    // 95 % confidence interval of the median of the ratios of each round; 0 if there is none.
    double ratio_low = 0.0;
    double ratio_high = 0.0;
};

// The ranks of a measuring job, and the library that is measured.
struct JobNote {
    std::string job;
    std::string library;  // the version of the measured library
    int ranks = 0;
    std::string binding;
    bool oversubscribed = false;
};

// Fields: bench, subject, bytes, ranks, median_ns, p5_ns, p95_ns, rounds, ratio_to_raw, ratio_low,
// ratio_high, job. Between hosts also hosts, rails and provider, and for Sennit's subjects level
// and progress. memory has null for the times and adds private_bytes, private_p5_bytes,
// private_p95_bytes, pss_bytes.
nlohmann::ordered_json to_json(const Record &record);

// The same as a line of text; and the line about a job, which precedes its results.
std::string line_of(const Record &record);
std::string line_of(const JobNote &note);

// Throws nlohmann::json::exception or std::invalid_argument if a field is missing or invalid.
Record record_from_json(const nlohmann::ordered_json &line);

// Empty if the record is valid, otherwise the error.
std::string complaint_about(const Record &record);

}  // namespace sennit::bench
