// SPDX-License-Identifier: BSD-3-Clause
// The end of a rank. It waits for the other ranks in the last barrier, which ends when all ranks
// are in it, when one has died or when the caller's timeout is over. Then it waits for its open
// operations and its transports, for at most 10 s.
#include "rank/life/teardown.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "bootstrap/late_notice.hpp"
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
#include "runtime/detector.hpp"
#include "runtime/domains.hpp"
#include "runtime/wait.hpp"
#include "runtime/watch/watch.hpp"
#include "signal/signals.hpp"
#include "team/team.hpp"

namespace sennit::life {
namespace {

void detach_everything(Rank &rank) {
    const auto size = static_cast<std::size_t>(world_size(rank));
    for (std::uint32_t slot = 0; slot < kTeamSlots; ++slot) {
        const std::size_t rows = rank.table_rows[slot];
        for (std::size_t i = 0; i < rows * size; ++i) {
            // relaxed: one thread ends the rank.
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

// Living ranks of the world that have not called sennit_finalize, as far as this rank can see.
struct Late {
    int first = -1;
    int count = 0;
    bool lowest_waits = true;  // no rank with a lower number is in sennit_finalize
};

Late find_late(Rank &rank) {
    Late late;
    for (int peer = 0; peer < world_size(rank); ++peer) {
        if (peer == rank.world_rank) continue;
        if (peer < rank.world_rank && is_leaving(rank, peer)) late.lowest_waits = false;
        if (!is_staying(rank, peer) || peer_gone(rank, peer) != Gone::no) continue;
        if (late.count++ == 0) late.first = peer;
    }
    return late;
}

sennit_status fail_late(Rank &rank, std::int64_t timeout_ns) {
    const double seconds = static_cast<double>(timeout_ns) * 1e-9;
    const Late late = find_late(rank);
    if (late.count == 0)
        return fail(SENNIT_ERR_TIMEOUT,
                    "the last barrier did not complete within %g s (SENNIT_FINALIZE_TIMEOUT)",
                    seconds);
    return fail_peer(
        SENNIT_ERR_TIMEOUT, late.first, "",
        "rank %d (process %d)%s did not call sennit_finalize within %g s (SENNIT_FINALIZE_TIMEOUT)",
        late.first, rank.peers[late.first].process_id, late.count > 1 ? " and others" : "",
        seconds);
}

void warn_of_late(Rank &rank, int seconds) {
    const Late late = find_late(rank);
    if (late.count == 0 || !late.lowest_waits) return;
    log(SENNIT_LOG_WARNING,
        "rank %d has waited %d s in sennit_finalize for rank %d (process %d)%s; "
        "SENNIT_FINALIZE_TIMEOUT sets a limit",
        rank.world_rank, seconds, late.first, rank.peers[late.first].process_id,
        late.count > 1 ? " and others" : "");
}

using Barrier = sennit_status (*)(Rank &rank, team::Team &team, const Deadline &deadline);

// Calls `barrier`. If it can be resumed, it is interrupted when a warning is due.
sennit_status synchronise_at_end(Rank &rank, team::Team &world, Barrier barrier,
                                 const Deadline &deadline) {
    if (!world.all_reached) return barrier(rank, world, deadline);
    runtime::LateNotice notice;
    for (;;) {
        const sennit_status status = barrier(rank, world, notice.next(deadline));
        if (status != SENNIT_ERR_TIMEOUT || deadline.over()) return status;
        warn_of_late(rank, notice.due_s());
    }
}

}  // namespace

void take_apart(Rank &rank, const Deadline &deadline, bool all_left) {
    const bool has_peers = rank.router != nullptr && rank.peers.exists();
    path::router_stop_threads(rank);
    // The engine comes first: its queued operations name segments by their attachments.
    op::engine_destroy(rank, deadline);
    if (has_peers) detach_everything(rank);
    coll::collectives_close(rank);
    team::teams_close(rank);
    group::groups_close(rank);
    memory::forget_entries(rank);
    for (std::uint32_t slot = 0; slot < kTeamSlots; ++slot)
        memory::table_destroy(rank, slot, static_cast<std::uint32_t>(world_size(rank)));
    // The watch stops after the engine, whose open operations may need its reports, and before the
    // memory of the peers, which has its words, is unmapped.
    watch::watch_stop(rank);
    if (has_peers) close_peers(rank);
    path::router_close(rank, deadline);
    watch::watch_free(rank);
    queue::queues_close(rank);
    plan::plans_close(rank);
    signal::signals_close(rank);
    memory::segments_close(rank, all_left);
    channel::channels_close(rank);
    runtime::domains_free(rank.domains);
    rank.domains = nullptr;
    runtime::observer_close(rank);
    rank.peers.close();
    std::free(rank.mates);
    rank.mates = nullptr;
    rank.mate_count = 0;
    rank.launcher_fd = -1;
    if (rank.bootstrap.release != nullptr) rank.bootstrap.release(rank.bootstrap.context);
    // relaxed: a call that another thread makes now is the program's error.
    rank.size.store(0, std::memory_order_relaxed);
}

sennit_status shutdown(Rank &rank, std::int64_t timeout_ns) {
    // The limit for the steps after the last barrier, however long the caller's timeout is.
    constexpr std::int64_t kTakeApart_ns = 10'000'000'000;
    const Deadline deadline = Deadline::after(timeout_ns);
    sennit_status status = SENNIT_OK;
    // SYNC rank-left: pairs with the acquire in read_state(); the opening of this rank's channels
    // comes before. Sleeping peers are not woken, because they check again soon.
    rank.control->header.state.store(static_cast<std::uint32_t>(RankState::leaving),
                                     std::memory_order_release);
    {
        team::Team &world = team::world_of(rank);
        const team::CollectiveCall call(world, team::kWorldHandle);
        status = call.status();
        runtime::observer_write(rank);
        // A barrier that timed out must be completed before the last one.
        if (status == SENNIT_OK && team::is_arrived(world))
            status = synchronise_at_end(rank, world, team::take_up, deadline);
        if (status == SENNIT_OK)
            status = synchronise_at_end(rank, world, team::last_barrier, deadline);
        if (status == SENNIT_ERR_TIMEOUT) status = fail_late(rank, timeout_ns);
    }
    runtime::observer_finish(rank, status == SENNIT_OK);
    const sennit_error error = *thread_error();
    // SYNC rank-left: pairs with the acquire in read_state(); this rank's last stores come before.
    rank.control->header.state.store(static_cast<std::uint32_t>(RankState::left),
                                     std::memory_order_release);
    for (int peer = 0; peer < world_size(rank); ++peer) {
        ControlBlock *control = rank.peers[peer].control;
        if (control != nullptr) ring_doorbell(*control);
    }
    const std::int64_t rest_ns = std::min(deadline.left_ns(), kTakeApart_ns);
    take_apart(rank, Deadline::after(rest_ns), status == SENNIT_OK);
    if (status != SENNIT_OK) *thread_error() = error;
    return status;
}

}  // namespace sennit::life
