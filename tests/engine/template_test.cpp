// transport/template works as a path: random programs through the public interface, with free
// threads, a rank that leaves, and requests left open. It has no path number of its own and uses
// that of sim in this program. Broken by a template that teaches a mistake.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "arrived_events.hpp"
#include "pair.hpp"
#include "program.hpp"
#include "runtime/detector.hpp"
#include "transport/template/template.hpp"

// The linker finds this table before the library's.
namespace sennit::transport {
const Maker kMakers[] = {
    {SENNIT_PATH_SIM, true, make_template},
    {SENNIT_PATH_NONE, false, nullptr},
};
}  // namespace sennit::transport

namespace sennit::test {
namespace {

TEST(template_transport, random_programs_agree_with_the_oracle) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Network network;
        network.ranks = 2 + static_cast<int>(seed % 3);
        network.in_order = true;
        // A rank's plain copies to itself would race with other ranks' reads.
        network.self_too = false;
        Program program(seed, 4, network);
        program.run();
        ASSERT_EQ(program.fault, "") << "seed " << seed;
        EXPECT_EQ(program.counters.steps, 0u);  // sim took no part
    }
}

// Broken by a task that is executed twice or never, or by a rank that waits for its own task.
TEST(template_transport, additions_of_all_ranks_are_carried_out_once_by_the_owner) {
    Job job(4, "");
    constexpr int kEach = 200;
    job.run([&](int rank) {
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
        std::uint64_t last = 0;
        for (int i = 0; i < kEach; ++i) {
            std::uint64_t old = 0;
            job.expect(sennit_atomic_fetch_add_u64(sennit_gptr_at(gptr, (rank + i) % 4), 1, &old),
                       "fetch_add");
            if (i % 4 == 0 && old < last) job.note("a counter went back");
            if (i % 4 == 0) last = old;
        }
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        std::uint64_t sum = 0;
        job.expect(sennit_atomic_fetch_u64(sennit_gptr_at(gptr, rank), &sum), "fetch");
        if (sum != kEach) job.note("the counter is " + std::to_string(sum));
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    });
    EXPECT_EQ(job.fault, "");
}

TEST(template_transport, operations_queued_for_a_rank_that_left_are_peer_lost) {
    // Rank 1 leaves without the last barrier, as if its process had ended.
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "1", 1);
    Job job(2, "");
    std::atomic<int> ready{0};
    job.run(
        [&](int rank) {
            sennit_gptr gptr = SENNIT_GPTR_NULL;
            job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
            if (rank == 1) {
                current_rank()->peers[0].transport->close(Deadline::never());
                ready.store(1);
                return;
            }
            while (ready.load() == 0)
                std::this_thread::yield();
            std::byte local[64] = {};
            sennit_request request = SENNIT_REQUEST_NULL;
            sennit_status status = sennit_put_nb(sennit_gptr_at(gptr, 1), local, 64, &request);
            // A transport may know already that the rank has left.
            if (status == SENNIT_OK) status = sennit_wait(&request, kLong);
            if (status != SENNIT_ERR_PEER_LOST) job.note("the put did not end with PEER_LOST");
            status = sennit_get(local, sennit_gptr_at(gptr, 1), 64);
            if (status != SENNIT_ERR_PEER_LOST) job.note("the get did not end with PEER_LOST");
        },
        {SENNIT_ERR_PEER_LOST, SENNIT_ERR_TIMEOUT});
    (void)unsetenv("SENNIT_FINALIZE_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by a transport that announces completion data and loses every event. Its notified puts
// only take longer, since the task that ends each message then counts the event.
TEST(template_transport, events_arrive_in_completion_data_if_it_has_any) {
    Job job(2, "");
    unsigned bits = 0;
    arrived_events = 0;
    job.run([&](int rank) {
        const Pair pair(job, rank, 1);
        if (rank == 1) count_arrived_events();
        if (rank == 0) bits = op::engine_event_bits(*current_rank(), 1);
        pair.barrier();
        pair.pass(kBytes, 20);  // too long for a task
    });
    EXPECT_EQ(job.fault, "");
    EXPECT_EQ(arrived_events != 0, bits >= 8) << arrived_events << " events, " << bits << " bits";
}

// Broken by a rank that considers a peer dead, or waits for it, because no path maps its state.
TEST(template_transport, a_departure_is_known_without_a_mapped_control_block) {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "1", 1);
    Job job(2, "");
    job.run(
        [&](int rank) {
            const Rank &own = *current_rank();
            if (own.peers[1 - rank].control != nullptr) job.note("the control block is mapped");
            if (!is_staying(own, 1 - rank) || is_leaving(own, 1 - rank))
                job.note("the peer is thought to be leaving");
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
            if (rank == 1) return;  // its finalize times out
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (peer_gone(*current_rank(), 1) == Gone::no &&
                   std::chrono::steady_clock::now() < end)
                std::this_thread::yield();
            if (known_gone(own, 1) != Gone::left) job.note("rank 1 is not known to have left");
        },
        {SENNIT_ERR_PEER_LOST, SENNIT_ERR_TIMEOUT});
    (void)unsetenv("SENNIT_FINALIZE_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by a reach() that takes the address of such a peer, which is zeros, for that of a peer
// without the path.
TEST(template_transport, a_peer_of_another_node_is_named_as_the_reason) {
    Job job(2, "");
    job.run([&](int rank) {
        Peer &peer = current_rank()->peers[1 - rank];
        peer.same_node = false;
        const Reason reason = peer.transport->reach(1 - rank);
        peer.same_node = true;
        if (reason.code != Reason::Code::other_node) job.note("another reason");
    });
    EXPECT_EQ(job.fault, "");
}

// Broken by a copy that keeps the name of another path, which errors would then show.
TEST(template_transport, its_name_is_that_of_the_path) {
    const std::unique_ptr<transport::Transport> made(transport::kMakers[0].make());
    EXPECT_STREQ(made->traits().name, sennit_path_name(transport::kMakers[0].path));
}

TEST(template_transport, unknown_settings_are_refused) {
    std::vector<sennit_bootstrap> bootstraps(1);
    ASSERT_EQ(sennit_bootstrap_inproc_create(1, bootstraps.data()), SENNIT_OK);
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.bootstrap = bootstraps.data();
    options.paths = "sim:seed=1";
    EXPECT_EQ(sennit_init(&options), SENNIT_ERR_ARG);
    EXPECT_EQ(sennit_bootstrap_inproc_destroy(1, bootstraps.data()), SENNIT_OK);
}

}  // namespace
}  // namespace sennit::test
