// SPDX-License-Identifier: BSD-3-Clause
// The barriers and the exchange of small messages.
#include <cstring>

#include "base/fail.hpp"
#include "bootstrap/bootstrap.hpp"
#include "op/peer_memory.hpp"
#include "request/request.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"
#include "team/cluster.hpp"
#include "team/long_wait.hpp"
#include "team/nodes.hpp"
#include "team/team.hpp"

namespace sennit::team {
namespace {

// Wakes the other members, after the stores for which they wait.
void ring_all(const Team &team) {
    // SYNC doorbell: pairs with the fence in announce_sleep(); the arrival comes before the loads
    // of sleepers.
    store_load_fence();
    for (std::uint32_t place = 0; place + 1 < team.size; ++place) {
        Doorbell &bell = *team.bells[place];
        // relaxed: the fence above orders it, for all peers.
        if (bell.sleepers.load(std::memory_order_relaxed) != 0) ring_sleepers(bell);
    }
}

void publish_arrival(Team &team, std::uint64_t epoch) {
    // SYNC barrier-arrival: pairs with the acquire in has_arrived(); everything that this rank did
    // comes before.
    team.own->arrived.epoch.store(epoch, std::memory_order_release);
    ring_all(team);
}

// The world rank of the member `place` + 1 positions after this one.
int peer_at(const Team &team, std::uint32_t place) {
    return team.world_ranks[(team.rank + place + 1) % team.size];
}

bool has_arrived(const Team &team, std::uint32_t place, std::uint64_t epoch) {
    // SYNC barrier-arrival: pairs with the releases in publish_arrival() and arrive_at_cluster().
    return team.arrivals[place]->load(std::memory_order_acquire) >= epoch;
}

// Finds a rank that has ended and has not arrived in the current epoch, or returns -1. Checks all
// ranks from the awaited one on, because a late rank must not hide a dead one.
int find_lost_arrival(Rank &rank, const Team &team) {
    for (std::uint32_t place = team.next_peer; place + 1 < team.size; ++place) {
        const int peer = peer_at(team, place);
        // peer_gone() comes first: a rank arrives before it leaves.
        if (peer_gone(rank, peer) != Gone::no && !has_arrived(team, place, team.epoch + 1))
            return peer;
    }
    return -1;
}

// The context of a LostSearch in the wait of a synchronisation.
struct BarrierWait {
    const Team *team;
    LongWait *wait;
};

// For LostSearch::find, with a BarrierWait.
int check_wait(Rank &rank, const void *context) {
    const BarrierWait &wait = *static_cast<const BarrierWait *>(context);
    const int lost = find_lost_arrival(rank, *wait.team);
    if (lost < 0) wait.wait->check();
    return lost;
}

bool member_has_arrived(const Team &team, std::uint32_t member, std::uint64_t epoch) {
    const std::uint32_t place = (member + team.size - team.rank - 1) % team.size;
    return member == team.rank || has_arrived(team, place, epoch);
}

LateRanks find_late(const Team &team, std::uint64_t epoch) {
    LateRanks late;
    for (std::uint32_t member = 0; member < team.size; ++member)
        if (!member_has_arrived(team, member, epoch)) late.add(team.world_ranks[member]);
    return late;
}

// The first member that has arrived warns for all. sennit_finalize has warnings of its own.
void warn_of_late(Rank & /*rank*/, const void *context, int seconds) {
    const Team &team = *static_cast<const BarrierWait *>(context)->team;
    const std::uint64_t epoch = team.epoch + 1;
    if (team.purpose == Purpose::leave) return;
    for (std::uint32_t member = 0; member < team.rank; ++member)
        if (member_has_arrived(team, member, epoch)) return;
    const LateRanks late = find_late(team, epoch);
    if (!late.is_empty()) late.warn(call_name(static_cast<std::uint8_t>(team.purpose)), seconds);
}

// Checks the members of a flat barrier that were not seen yet. Inline, because often all have
// arrived.
inline bool have_all_arrived(Team &team) {
    for (; team.next_peer + 1 < team.size; ++team.next_peer)
        if (!has_arrived(team, team.next_peer, team.epoch + 1)) return false;
    return true;
}

bool is_over(Team &team) {
    return team.way == Way::clusters ? is_released(team, team.epoch + 1) : have_all_arrived(team);
}

// Waits by load and store. Each arrival is progress: polling restarts.
[[gnu::noinline]] sennit_status wait_for_late(Rank &rank, Team &team, const Deadline &deadline) {
    const std::uint64_t epoch = team.epoch + 1;
    LongWait long_wait(rank, team, static_cast<std::uint8_t>(team.purpose), epoch);
    const BarrierWait barrier_wait{&team, &long_wait};
    while (!is_over(team)) {
        const std::uint32_t awaited = team.next_peer;
        const auto ready = [&] {
            return is_over(team) || team.next_peer != awaited || long_wait.differs();
        };
        const sennit_status status =
            wait_until(rank, deadline, LostSearch{check_wait, &barrier_wait, warn_of_late}, ready);
        if (status == SENNIT_ERR_TIMEOUT) find_late(team, epoch).report();
        if (status != SENNIT_OK) return status;
        if (long_wait.differs()) return long_wait.fail_differs();
    }
    return SENNIT_OK;
}

void begin_synchronisation(Team &team, Purpose purpose) {
    team.purpose = purpose;
    team.next_peer = 0;
}

inline bool look_flat(Team &team, Purpose purpose) {
    if (!is_arrived(team)) {
        publish_arrival(team, team.epoch + 1);
        begin_synchronisation(team, purpose);
    }
    return have_all_arrived(team);
}

bool look_in_clusters(Team &team, Purpose purpose) {
    if (is_arrived(team)) return is_released(team, team.epoch + 1);
    const bool was_last = arrive_at_cluster(team, team.epoch + 1);
    if (was_last) ring_all(team);
    begin_synchronisation(team, purpose);
    return was_last || is_released(team, team.epoch + 1);
}

// For teams in which some members have no path to each other. For the world the launcher has a
// barrier.
sennit_status synchronise_without_path(Rank &rank, const Team &team, const Deadline &deadline) {
    if (team.slot == memory::kWorldSlot)
        return runtime::bootstrap_barrier(rank.bootstrap, deadline);
    return fail(SENNIT_ERR_OTHER_NODE, "no path joins all ranks of the team");
}

// A member's message in an exchange. If two ranks are in different calls, `purpose` or `number`
// differs.
struct ExchangeMessage {
    Purpose purpose;
    std::uint32_t bytes;
    std::uint64_t number;
    std::uint8_t payload[kExchangeBytes];
};
static_assert(sizeof(ExchangeMessage) == kMailboxBytes);

// Reads the message of *member. With Way::nodes (`node_buffer` is not null), *member is a place
// (Team::by_place) and is set to the member.
sennit_status read_message(Rank &rank, const Team &team, const std::byte *node_buffer,
                           std::uint32_t *member, ExchangeMessage *message) {
    const std::byte *in_buffer = nullptr;
    if (node_buffer != nullptr) {
        in_buffer = node_buffer + kMailboxBytes * *member;
        *member = team.by_place[*member];
    }
    const std::size_t turn = team.epoch % 2;
    const TeamSync *sync = sync_of(rank, team, *member);
    if (sync != nullptr || in_buffer != nullptr) {
        const void *from = in_buffer;
        if (sync != nullptr) from = sync->mailboxes[turn].bytes;
        std::memcpy(message, from, sizeof *message);
        return SENNIT_OK;
    }
    const std::size_t offset =
        sync_offset(team) + offsetof(TeamSync, mailboxes) + sizeof(Mailbox) * turn;
    return op::get_control(rank, team.world_ranks[*member], offset, message, sizeof *message);
}

sennit_status exchange_without_path(Rank &rank, const Team &team, const Exchange &what,
                                    const Deadline &deadline) {
    if (team.slot == memory::kWorldSlot)
        return runtime::bootstrap_allgather(rank.bootstrap, what.mine, what.all, what.bytes,
                                            deadline);
    return synchronise_without_path(rank, team, deadline);
}

}  // namespace

bool try_synchronise(Team &team, Purpose purpose) {
    return team.way == Way::flat ? look_flat(team, purpose) : look_in_clusters(team, purpose);
}

namespace {

[[gnu::noinline]] sennit_status synchronise_otherwise(Rank &rank, Team &team, Purpose purpose,
                                                      const Deadline &deadline) {
    if (team.way == Way::clusters)
        return look_in_clusters(team, purpose) ? SENNIT_OK : wait_for_late(rank, team, deadline);
    return team.way == Way::none ? synchronise_without_path(rank, team, deadline)
                                 : synchronise_by_nodes(rank, team, purpose, deadline);
}

// Inline in the barrier, which is called often.
[[gnu::always_inline]] inline sennit_status synchronise_inline(Rank &rank, Team &team,
                                                               Purpose purpose,
                                                               const Deadline &deadline) {
    sennit_status status = SENNIT_OK;
    if (team.way != Way::flat) [[unlikely]]
        status = synchronise_otherwise(rank, team, purpose, deadline);
    else if (!look_flat(team, purpose))
        status = wait_for_late(rank, team, deadline);
    if (status != SENNIT_OK) return status;
    ++team.epoch;
    team.purpose = Purpose::none;
    return SENNIT_OK;
}

}  // namespace

sennit_status synchronise(Rank &rank, Team &team, Purpose purpose, const Deadline &deadline) {
    return synchronise_inline(rank, team, purpose, deadline);
}

namespace {

// Completes implicit operations before this rank arrives. Errors: TIMEOUT, which ends the call.
// After other errors this rank still arrives, since the others wait, and reports the error after
// the synchronisation.
sennit_status complete_operations(Rank &rank, Team &team, const Deadline &deadline) {
    const sennit_status status = request::flush(rank, kAnyPeer, deadline);
    if (status == SENNIT_ERR_TIMEOUT) return status;
    if (status != SENNIT_OK) team.flush_error = *thread_error();
    return SENNIT_OK;
}

sennit_status take_flush_error(Team &team) {
    *thread_error() = team.flush_error;
    team.flush_error.status = SENNIT_OK;
    return thread_error()->status;
}

void write_message(const Team &team, Purpose purpose, const void *payload, std::size_t bytes) {
    // The epoch that the synchronisation completes. It is equal on all members, also after
    // failures.
    const std::uint64_t number = team.epoch + 1;
    ExchangeMessage message{purpose, static_cast<std::uint32_t>(bytes), number, {}};
    if (bytes != 0) std::memcpy(message.payload, payload, bytes);
    // Plain stores: the arrival, stored with release, follows.
    std::memcpy(team.own->mailboxes[number % 2].bytes, &message, sizeof message);
}

// Called when a message does not match. A barrier writes no message, so if the message has another
// number, the member is in a barrier.
sennit_status fail_other_call(const Team &team, std::uint32_t member,
                              const ExchangeMessage &message, Purpose mine) {
    const bool is_barrier = message.number != team.epoch;
    const Purpose theirs = is_barrier ? Purpose::barrier : message.purpose;
    const int peer = team.world_ranks[member];
    return fail_peer(SENNIT_ERR_ARG, peer, "",
                     "rank %d is in %s, this rank in %s: all ranks of a team make the same "
                     "collective calls in the same order",
                     peer, call_name(static_cast<std::uint8_t>(theirs)),
                     call_name(static_cast<std::uint8_t>(mine)));
}

}  // namespace

Deadline binding_deadline(const Team &team) {
    return team.all_reached ? default_deadline() : Deadline::never();
}

sennit_status take_up(Rank &rank, Team &team, const Deadline &deadline) {
    return synchronise(rank, team, team.purpose, deadline);
}

namespace {

// Inline in the barrier, which is called often.
[[gnu::always_inline]] inline sennit_status flush_and_synchronise(Rank &rank, Team &team,
                                                                  Purpose purpose,
                                                                  const Deadline &deadline) {
    if (is_arrived(team)) {
        if (is_bound(team)) return fail_unfinished(rank, team);
    } else if (rank.engine != nullptr) {
        const sennit_status status = complete_operations(rank, team, deadline);
        if (status != SENNIT_OK) return status;  // not arrived, so the call may be repeated
    }
    const sennit_status status = synchronise_inline(rank, team, purpose, deadline);
    if (status != SENNIT_OK || team.flush_error.status == SENNIT_OK) return status;
    return take_flush_error(team);
}

}  // namespace

sennit_status barrier(Rank &rank, Team &team, const Deadline &deadline) {
    return flush_and_synchronise(rank, team, Purpose::barrier, deadline);
}

// Between nodes a word of Purpose::barrier may be lost. Then the leader that waits for it reads
// ArrivalLine::sent of the sender. But after the last barrier the sender may have left, so this
// barrier has Purpose::leave, whose words are not lost.
sennit_status last_barrier(Rank &rank, Team &team, const Deadline &deadline) {
    if (!team.all_load_store) return flush_and_synchronise(rank, team, Purpose::leave, deadline);
    if (!is_arrived(team) && rank.engine != nullptr) {
        const sennit_status status = complete_operations(rank, team, deadline);
        if (status != SENNIT_OK) return status;
    }
    if (!is_arrived(team)) write_message(team, Purpose::leave, nullptr, 0);
    sennit_status status = synchronise(rank, team, Purpose::leave, deadline);
    if (status != SENNIT_OK) return status;
    for (std::uint32_t member = 0; status == SENNIT_OK && member < team.size; ++member) {
        ExchangeMessage message;
        const TeamSync *sync = sync_of(rank, team, member);
        std::memcpy(&message, sync->mailboxes[team.epoch % 2].bytes,
                    offsetof(ExchangeMessage, payload));
        if (message.purpose != Purpose::leave || message.number != team.epoch)
            status = fail_other_call(team, member, message, Purpose::leave);
    }
    if (status != SENNIT_OK || team.flush_error.status == SENNIT_OK) return status;
    return take_flush_error(team);
}

sennit_status fail_unfinished(Rank &rank, const Team &team) {
    const int peer =
        team.all_load_store ? find_lost_arrival(rank, team) : find_lost_of_nodes(rank, &team);
    if (peer >= 0)
        return fail_peer(SENNIT_ERR_PEER_LOST, peer, "",
                         "rank %d is gone: the team's last barrier cannot complete, and its "
                         "collective calls have ended",
                         peer);
    if (is_binding(team.purpose)) {
        const char *name = call_name(static_cast<std::uint8_t>(team.purpose));
        return fail(SENNIT_ERR_STATE,
                    "%s timed out on this rank and is unfinished: call it again with the same "
                    "arguments until it ends, then make this call",
                    name);
    }
    return fail(SENNIT_ERR_STATE,
                "the last barrier timed out on this rank and is unfinished: call sennit_barrier "
                "again until it returns SENNIT_OK, then make this call");
}

namespace {

// Whether this call repeats the one whose synchronisation timed out.
bool continues(const Team &team, const Exchange &what) {
    if (team.purpose != what.purpose || !is_binding(what.purpose)) return false;
    const std::uint8_t *message = team.own->mailboxes[(team.epoch + 1) % 2].bytes;
    return std::memcmp(message + offsetof(ExchangeMessage, payload), what.mine, what.bytes) == 0;
}

}  // namespace

sennit_status exchange(Rank &rank, Team &team, const Exchange &what, const Deadline &deadline) {
    team.read_failed = false;
    if (!team.all_reached) return exchange_without_path(rank, team, what, deadline);
    if (is_arrived(team) && !continues(team, what)) return fail_unfinished(rank, team);
    if (!is_arrived(team)) write_message(team, what.purpose, what.mine, what.bytes);
    sennit_status status = synchronise(rank, team, what.purpose, deadline);
    if (status != SENNIT_OK) return status;
    std::byte *node_buffer = nullptr;
    if (team.way == Way::nodes) status = find_node_buffer(rank, team, &node_buffer);
    if (node_buffer != nullptr) node_buffer += messages_of_exchange(team, team.epoch).first;
    for (std::uint32_t place = 0; status == SENNIT_OK && place < team.size; ++place) {
        ExchangeMessage message;
        std::uint32_t member = place;
        status = read_message(rank, team, node_buffer, &member, &message);
        if (status != SENNIT_OK) break;
        if (message.purpose != what.purpose || message.number != team.epoch)
            return fail_other_call(team, member, message, what.purpose);
        std::memcpy(static_cast<char *>(what.all) + what.bytes * member, message.payload,
                    what.bytes);
    }
    team.read_failed = status != SENNIT_OK;
    return status;
}

}  // namespace sennit::team
