// Measures subjects in turn. A subject is one implementation of an operation; a case is all
// subjects at one size. In every round each subject runs one batch of operations, in random order,
// so that disturbances affect all subjects alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worker/job.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

struct Subject {
    std::string name;
    // All ranks call it with the same number. It runs a few operations to warm up, then
    // `operations` timed ones, and returns their interval; kNotTimed on ranks that do not measure.
    std::function<Interval(std::size_t operations)> run;
    std::string provider = {};  // of libfabric, between nodes, if it is not that of Sennit
};

struct Case {
    std::string bench;
    std::uint64_t bytes = 0;
    double parts_per_operation = 1.0;  // 2 for a ping-pong: half a round trip is reported
    std::vector<Subject> subjects;     // of those named raw-*, the fastest is the raw limit
};

struct Limits {
    std::size_t rounds = 201;     // at most
    std::size_t min_rounds = 7;   // at least, even when the time is over
    double seconds = 1.0;         // about, for one case
    double batch_ns = 100'000.0;  // length of a batch; the clock then costs less than 0.1 %
    // The length of a batch if ranks share cores: a rank may wait for its core for a time slice or
    // more.
    double shared_batch_ns = 2'000'000.0;
    std::size_t most_operations = std::size_t{1} << 26;  // of a batch, even if it is then shorter
};

// The number of operations to warm up before `operations` timed ones.
inline std::size_t warm_up_operations(std::size_t operations) {
    return operations / 32 + 1;
}

// Collective. Nanoseconds of one operation, by subject and round, the same on all ranks. The limits
// determine the number of rounds.
std::vector<std::vector<double>> sample_in_turn(const Job &job,
                                                const std::vector<Subject> &subjects,
                                                const Limits &limits);

// Collective. The same, and rank 0 prints one line of JSON for each subject.
void measure_in_turn(const Job &job, const Case &what, const Limits &limits);

// Measures an operation that the calling rank does alone, or that all ranks do together.
template <class Operation>
Interval time_batch(std::size_t operations, Operation operation) {
    for (std::size_t i = warm_up_operations(operations); i > 0; --i) {
        operation();
    }
    const double start = now_ns();
    for (std::size_t i = 0; i < operations; ++i) {
        operation();
    }
    return {start, now_ns()};
}

}  // namespace sennit::bench
