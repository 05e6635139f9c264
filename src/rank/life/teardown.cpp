// The end of a rank. Bounded: the only waits are the last barrier and the transports' close, and
// both take the deadline.
#include "rank/life/teardown.hpp"

#include <unistd.h>

#include "base/fail.hpp"
#include "channel/channels.hpp"
#include "coll/collectives.hpp"
#include "group/group.hpp"
#include "memory/segments.hpp"
#include "observe/observer.hpp"
#include "op/engine.hpp"
#include "path/router.hpp"
#include "plan/plan.hpp"
#include "queue/queue.hpp"
#include "rank/life/startup.hpp"
#include "runtime/domains.hpp"
#include "runtime/wait.hpp"
#include "signal/signals.hpp"
#include "team/team.hpp"

namespace sennit::life {
namespace {

void detach_everything(Rank &rank) {
    const auto size = static_cast<std::size_t>(world_size(rank));
    for (std::uint32_t slot = 0; slot < kTeamSlots; ++slot) {
        const std::size_t rows = rank.table_rows[slot];
        for (std::size_t i = 0; i < rows * size; ++i) {
            // relaxed: the rank is ended by one thread.
            const std::uint32_t id = rank.tables[slot].load(std::memory_order_relaxed)[i].id();
            if (id != 0) path::detach(rank, static_cast<int>(i % size), id);
        }
    }
}

void close_peers(Rank &rank) {
    for (int r = 0; r < world_size(rank); ++r) {
        Peer &peer = rank.peers[r];
        if (peer.transport != nullptr) peer.transport->forget(r);
        if (peer.memory_file >= 0) (void)close(peer.memory_file);
        if (peer.pid_fd >= 0) (void)close(peer.pid_fd);
    }
}

}  // namespace

void take_apart(Rank &rank, const Deadline &deadline, bool all_left) {
    const bool met = rank.router != nullptr && rank.peers != nullptr;
    // The engine first: what it still has queued names segments by their attachments.
    op::engine_destroy(rank, deadline);
    if (met) detach_everything(rank);
    coll::collectives_close(rank);
    team::teams_close(rank);
    group::groups_close(rank);
    memory::forget_entries(rank);
    for (std::uint32_t slot = 0; slot < kTeamSlots; ++slot)
        memory::table_destroy(rank, slot, static_cast<std::uint32_t>(world_size(rank)));
    if (met) close_peers(rank);
    path::router_close(rank, deadline);
    queue::queues_close(rank);
    plan::plans_close(rank);
    signal::signals_close(rank);
    memory::segments_close(rank, all_left);
    channel::channels_close(rank);
    runtime::domains_free(rank.domains);
    rank.domains = nullptr;
    runtime::observer_close(rank);
    delete[] rank.peers;
    rank.peers = nullptr;
    if (rank.bootstrap.release != nullptr) rank.bootstrap.release(rank.bootstrap.context);
    // relaxed: threads that still call Sennit now are wrong; what they see is 0, and then STATE.
    rank.size.store(0, std::memory_order_relaxed);
}

sennit_status shutdown(Rank &rank, std::int64_t timeout_ns) {
    const Deadline deadline = Deadline::after(timeout_ns);
    sennit_status status = SENNIT_OK;
    // SYNC rank-left: pairs with the acquire in has_state(); how this rank's channels were opened
    // comes before. Who sleeps looks again soon.
    rank.control->header.state.store(static_cast<std::uint32_t>(RankState::leaving),
                                     std::memory_order_release);
    {
        team::Team &world = team::world_of(rank);
        const team::CollectiveCall call(world, team::kWorldHandle);
        status = call.status();
        runtime::observer_write(rank);
        // A barrier that timed out is another meeting than this one.
        if (status == SENNIT_OK && world.published) status = team::barrier(rank, world, deadline);
        if (status == SENNIT_OK) status = team::barrier(rank, world, deadline);
    }
    runtime::observer_finish(rank, status == SENNIT_OK);
    const sennit_error error = *thread_error();
    // SYNC rank-left: pairs with the acquire in has_state(); this rank's last stores come before.
    rank.control->header.state.store(static_cast<std::uint32_t>(RankState::left),
                                     std::memory_order_release);
    for (int peer = 0; peer < world_size(rank); ++peer) {
        ControlBlock *control = rank.peers[peer].control;
        if (control != nullptr) ring_doorbell(*control);
    }
    take_apart(rank, deadline, status == SENNIT_OK);
    if (status != SENNIT_OK) *thread_error() = error;
    return status;
}

}  // namespace sennit::life
