// Access to a rank that has left, where all ranks are threads of one process: by the producers of
// its queue, and by ranks that use its segments by address. Broken by a producer that touches
// memory freed with the taker; by an owner that unmaps addresses still in use by others after its
// time to wait for them is over.
#include <sennit/sennit.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "../engine/job.hpp"
#include "rank/rank.hpp"

namespace sennit::test {
namespace {

constexpr int kTaker = 0;

// Waits until the rank has left, and then 100 ms, in which it frees its memory.
void wait_for_the_end(int rank) {
    const auto &state = control_of(*current_rank(), rank)->header.state;
    while (state.load() != static_cast<std::uint32_t>(RankState::left))
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

TEST(left_taker, late_producers_do_not_touch_the_memory_of_a_taker_that_left) {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "0.2", 1);
    Job job(2, "inproc");
    job.run(
        [&](int rank) {
            sennit_queue queue = SENNIT_QUEUE_NULL;
            sennit_queue_address address{};
            // Large enough for pages of its own, which are unmapped.
            if (rank == kTaker)
                job.expect(sennit_queue_create(8, 100'000, 2, &queue, &address), "create");
            job.expect(sennit_broadcast(SENNIT_TEAM_WORLD, kTaker, &address, sizeof address, kLong),
                       "broadcast");
            sennit_producer producers[2] = {};
            const std::uint64_t item = 1;
            if (rank != kTaker)
                for (sennit_producer &producer : producers) {
                    job.expect(sennit_queue_attach(address, &producer), "attach");
                    job.expect(sennit_queue_push(producer, &item, 0), "push");
                }
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            if (rank == kTaker) return;
            wait_for_the_end(kTaker);
            const sennit_status status = sennit_queue_push(producers[0], &item, 0);
            if (status != SENNIT_ERR_NOT_REGISTERED) job.note(sennit_status_string(status));
            for (const sennit_producer producer : producers)
                job.expect(sennit_queue_detach(producer), "detach");
        },
        {SENNIT_ERR_TIMEOUT, SENNIT_ERR_PEER_LOST});
    (void)unsetenv("SENNIT_FINALIZE_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

TEST(left_owner, memory_of_an_owner_that_left_keeps_its_addresses_during_use) {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "0.2", 1);
    Job job(2, "inproc");
    job.run(
        [&](int rank) {
            constexpr std::uint64_t kBytes = 1 << 20;
            sennit_gptr field = SENNIT_GPTR_NULL;
            job.expect(sennit_alloc(SENNIT_TEAM_WORLD, kBytes, 0, 0, &field), "alloc");
            std::vector<char> ones(kBytes, 1);
            const sennit_gptr there = sennit_gptr_at(field, kTaker);
            if (rank != kTaker)
                job.expect(sennit_put(there, ones.data(), kBytes), "put before the owner leaves");
            char *const pointer = static_cast<char *>(sennit_ptr(there));
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            if (rank == kTaker) return;
            wait_for_the_end(kTaker);
            pointer[kBytes / 2] = 2;
            if (pointer[kBytes / 2] != 2) job.note("a store did nothing");
            const sennit_status status = sennit_put(there, ones.data(), kBytes);
            if (status != SENNIT_OK && status != SENNIT_ERR_PEER_LOST &&
                status != SENNIT_ERR_NOT_REGISTERED)
                job.note(sennit_status_string(status));
        },
        {SENNIT_ERR_TIMEOUT, SENNIT_ERR_PEER_LOST});
    (void)unsetenv("SENNIT_FINALIZE_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
