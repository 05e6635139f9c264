// The benchmarks inside one job, one file each. Collective; rank 0 prints the results.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/job.hpp"
#include "worker/library.hpp"
#include "worker/measure.hpp"

namespace sennit::bench {

struct MapOptions;

struct Run {
    const Job &job;
    const Library &library;
    Limits limits;
    std::vector<std::uint64_t> sizes;  // bytes
    std::size_t stride;                // between the words of a message that a ping-pong touches
    const MapOptions *map = nullptr;   // of `sennit map`
};

void run_pingpong(const Run &run);
void run_put(const Run &run);
void run_get(const Run &run);
void run_rate(const Run &run);
void run_wake(const Run &run);
void run_barrier(const Run &run);
void run_channel(const Run &run);
void run_notify(const Run &run);
void run_plan(const Run &run);
void run_progress(const Run &run);
void run_rails(const Run &run);
void run_queue(const Run &run);
void run_adopt(const Run &run);
void run_cma(const Run &run);
void run_strided(const Run &run);
void run_atomic(const Run &run);
void run_broadcast(const Run &run);
void run_allreduce(const Run &run);
void run_alltoall(const Run &run);

// Raw memory that rank 0 needs for run_queue().
std::size_t queue_payload_bytes(std::uint64_t item_bytes, int ranks);

}  // namespace sennit::bench
