// A taker of a queue that has left, and its producers, where ranks are threads of one process.
// Would break: a producer that touches memory that has gone with the taker.
#include <sennit/sennit.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "../engine/job.hpp"
#include "memory/segments.hpp"
#include "runtime/rank.hpp"

namespace sennit::test {
namespace {

constexpr int kTaker = 0;

// Until the segment of the queue is on its way out, and then some time for the rest of the way.
void wait_for_the_end(sennit_queue_address address) {
    const ControlBlock *control = control_of(*current_rank(), kTaker);
    const SegmentRecord &record = control->records[memory::index_of(address.gptr.segment)];
    while (record.live.load() != 0)
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

TEST(left_taker, producers_that_push_or_detach_later_do_not_touch_its_memory) {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "0.2", 1);
    Job job(2, "inproc");
    job.run(
        [&](int rank) {
            sennit_queue queue = SENNIT_QUEUE_NULL;
            sennit_queue_address address{};
            // Of pages of its own, so that they go.
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
            wait_for_the_end(address);
            const sennit_status status = sennit_queue_push(producers[0], &item, 0);
            if (status != SENNIT_ERR_NOT_REGISTERED) job.note(sennit_status_string(status));
            for (const sennit_producer producer : producers)
                job.expect(sennit_queue_detach(producer), "detach");
        },
        {SENNIT_ERR_TIMEOUT, SENNIT_ERR_PEER_LOST});
    (void)unsetenv("SENNIT_FINALIZE_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
