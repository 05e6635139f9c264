// SPDX-License-Identifier: BSD-3-Clause
#include "team/nodes.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "memory/segments.hpp"
#include "op/engine.hpp"
#include "op/peer_memory.hpp"
#include "op/put_word.hpp"
#include "op/resolve.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"
#include "team/long_wait.hpp"

namespace sennit::team {
namespace {

// Whether a member of this node has arrived.
bool member_arrived(Rank &rank, const Team &team, std::uint32_t member, std::uint64_t epoch) {
    // SYNC barrier-arrival: pairs with the release in arrive().
    return sync_of(rank, team, member)->arrived.epoch.load(std::memory_order_acquire) >= epoch;
}

bool is_node_released(Rank &rank, const Team &team, std::uint64_t epoch) {
    const TeamSync *leader = sync_of(rank, team, leader_of(team, team.node));
    // SYNC node-release: pairs with the release in release_node().
    return leader->cluster.released.epoch.load(std::memory_order_acquire) >= epoch;
}

void arrive(Rank &rank, Team &team, std::uint64_t epoch) {
    // SYNC barrier-arrival: pairs with the acquire in member_arrived(); everything that this rank
    // did comes before.
    team.own->arrived.epoch.store(epoch, std::memory_order_release);
    if (!leads(team))
        ring_doorbell(*control_of(rank, team.world_ranks[leader_of(team, team.node)]));
}

void release_node(Rank &rank, Team &team, std::uint64_t epoch) {
    // SYNC node-release: pairs with the acquire in is_node_released(); everything that all members
    // did and the messages of other nodes come before.
    team.own->cluster.released.epoch.store(epoch, std::memory_order_release);
    for (std::uint32_t place = team.first_places[team.node] + 1;
         place < team.first_places[team.node + 1]; ++place)
        ring_doorbell(*control_of(rank, team.world_ranks[team.by_place[place]]));
}

LateRanks find_late_of_node(Rank &rank, const Team &team, std::uint64_t epoch) {
    LateRanks late;
    for (std::uint32_t place = team.first_places[team.node];
         place < team.first_places[team.node + 1]; ++place)
        if (!member_arrived(rank, team, team.by_place[place], epoch))
            late.add(team.world_ranks[team.by_place[place]]);
    return late;
}

// The first member of the node that has arrived warns of those that have not. If all have arrived,
// the wait is for other nodes. Then the leaders of the first two nodes warn: two, because one of
// these nodes may be late itself. sennit_finalize has warnings of its own.
void warn_of_late(Rank &rank, const Team &team, int seconds) {
    const std::uint64_t epoch = team.epoch + 1;
    if (team.purpose == Purpose::leave) return;
    for (std::uint32_t place = team.first_places[team.node]; team.by_place[place] != team.rank;
         ++place)
        if (member_arrived(rank, team, team.by_place[place], epoch)) return;
    const char *const call = call_name(static_cast<std::uint8_t>(team.purpose));
    const LateRanks late = find_late_of_node(rank, team, epoch);
    if (!late.is_empty())
        late.warn(call, seconds);
    else if (leads(team) && team.node < 2)
        warn_of_late_elsewhere(call, seconds);
}

// For LostSearch::warn, with a Team.
void warn_of_late_of_node(Rank &rank, const void *team, int seconds) {
    warn_of_late(rank, *static_cast<const Team *>(team), seconds);
}

// Called by a leader: waits until all members of its node have arrived.
sennit_status gather(Rank &rank, Team &team, std::uint64_t epoch, const Deadline &deadline) {
    const std::uint32_t first = team.first_places[team.node];
    const std::uint32_t count = team.first_places[team.node + 1] - first;
    const auto all_here = [&] {
        for (; team.next_peer < count; ++team.next_peer)
            if (!member_arrived(rank, team, team.by_place[first + team.next_peer], epoch))
                return false;
        return true;
    };
    // Often all have arrived already. Then wait_until() would only poll the network before this
    // rank's word is sent.
    if (all_here()) return SENNIT_OK;
    const LostSearch search{find_lost_of_nodes, &team, warn_of_late_of_node};
    const sennit_status status = wait_until(rank, deadline, search, all_here);
    if (status == SENNIT_ERR_TIMEOUT) find_late_of_node(rank, team, epoch).report();
    return status;
}

sennit_status await_release(Rank &rank, const Team &team, std::uint64_t epoch,
                            const Deadline &deadline) {
    const LostSearch search{find_lost_of_nodes, &team, warn_of_late_of_node};
    const sennit_status status =
        wait_until(rank, deadline, search, [&] { return is_node_released(rank, team, epoch); });
    if (status == SENNIT_ERR_TIMEOUT) {
        const LateRanks late = find_late_of_node(rank, team, epoch);
        late.report();
        if (late.is_empty()) report_late_elsewhere();
    }
    return status;
}

// ---- Messages.

std::byte *own_node_buffer(const Team &team) {
    return reinterpret_cast<std::byte *>(team.node_buffer_record->owner_address);
}

// Copies the messages in the mailboxes of this node's members to the node buffer.
void collect_messages(Rank &rank, const Team &team, std::uint64_t number) {
    const MessageArray messages = messages_of_exchange(team, number);
    for (std::uint32_t place = team.first_places[team.node];
         place < team.first_places[team.node + 1]; ++place)
        std::memcpy(own_node_buffer(team) + messages.first + messages.bytes * place,
                    sync_of(rank, team, team.by_place[place])->mailboxes[number % 2].bytes,
                    kMailboxBytes);
}

// Starts a put of a copy of the data, so that the caller's memory is not in use if the
// synchronisation ends early.
sennit_status start_send(Rank &rank, const op::Target &target, const void *data, std::size_t bytes,
                         sennit_request *request, bool is_hint = false) {
    return op::engine_start(rank, op::Direction::put, target, const_cast<void *>(data), bytes,
                            {op::Completion::Mode::request, request, true, is_hint});
}

struct NodeRange {
    std::uint32_t first;
    std::uint32_t count;
};

// Sets *target to the node buffer of the other leader, from the offset.
sennit_status find_in_node_buffer(Rank &rank, const Team &team, std::uint32_t leader,
                                  std::size_t offset, op::Target *target) {
    const int peer = team.world_ranks[leader];
    memory::SegmentEntry *entry = nullptr;
    const sennit_status status = op::resolve(rank, {peer, team.node_buffers[leader], 0}, &entry);
    if (status == SENNIT_OK)
        *target = op::Target{peer, transport::RemoteMemory{nullptr, entry->handle}, offset};
    return status;
}

NodeBufferPart messages_of_nodes(const Team &team, const MessageArray &messages,
                                 const NodeRange &nodes) {
    const std::uint32_t place = team.first_places[nodes.first];
    const std::uint32_t end = team.first_places[nodes.first + nodes.count];
    const std::size_t offset = messages.first + messages.bytes * place;
    return {offset, messages.bytes * (end - place), own_node_buffer(team) + offset};
}

}  // namespace

sennit_status put_in_node_buffer(Rank &rank, const Team &team, std::uint32_t leader,
                                 const NodeBufferPart &part, sennit_request *request) {
    op::Target target;
    const sennit_status status = find_in_node_buffer(rank, team, leader, part.offset, &target);
    return status == SENNIT_OK ? start_send(rank, target, part.data, part.bytes, request) : status;
}

bool goes_with_word(const Rank &rank, const Team &team, std::uint32_t leader,
                    const NodeBufferPart &part) {
    return part.bytes <= op::engine_most_word_data(rank, team.world_ranks[leader]);
}

sennit_status put_with_word(Rank &rank, const Team &team, std::uint32_t leader,
                            const NodeBufferPart &part, const NodeBufferWord &word,
                            sennit_request *request) {
    op::Target target;
    const sennit_status status = find_in_node_buffer(rank, team, leader, part.offset, &target);
    if (status != SENNIT_OK) return status;
    const op::WordTask task{
        word.value, static_cast<std::int64_t>(word.offset - part.offset), SENNIT_REPLACE, {}};
    return op::start_word_task(rank, target, part.data, part.bytes, task,
                               {op::Completion::Mode::request, request, true});
}

std::size_t messages_of_round(const Team &team, std::uint32_t round, const MessageArray &messages,
                              NodeBufferPart parts[2]) {
    const std::uint32_t count = std::min(1u << round, team.node_count - (1u << round));
    const std::uint32_t here = std::min(count, team.node + 1);
    parts[0] = messages_of_nodes(team, messages, {team.node + 1 - here, here});
    if (here == count) return 1;
    parts[1] = messages_of_nodes(team, messages, {team.node_count - (count - here), count - here});
    return 2;
}

sennit_status put_parts(Rank &rank, const Team &team, std::uint32_t leader,
                        const NodeBufferPart parts[2], std::size_t count, sennit_request sends[2]) {
    sennit_status status = SENNIT_OK;
    for (std::size_t i = 0; i < count && status == SENNIT_OK; ++i)
        status = put_in_node_buffer(rank, team, leader, parts[i], &sends[i]);
    return status;
}

namespace {

// Sends the messages of the current exchange and round.
sennit_status send_messages(Rank &rank, Team &team) {
    NodeBufferPart parts[2];
    const MessageArray messages = messages_of_exchange(team, team.epoch + 1);
    const std::size_t count = messages_of_round(team, team.round, messages, parts);
    return put_parts(rank, team, next_leader(team, team.round), parts, count, team.sends);
}

// ---- Dissemination.

// ArrivalLine::sent of a leader that has sent the word of its current round.
std::uint64_t sent_with_round(const Team &team) {
    constexpr std::uint64_t kRoundsOfBarrier = 32;
    return (team.epoch + 1) * kRoundsOfBarrier + team.round + 1;
}

// Drops the question and the answer of an earlier round.
void forget_answer(Rank &rank, Team &team) {
    op::engine_abandon(rank, team.ask, op::Abandoned::library_s);
    team.ask = SENNIT_REQUEST_NULL;
    team.answer = 0;
    team.ask_ns = 0;
}

// Stores `epoch` into the current round's word of a member, by any path. The word of a barrier may
// be lost; a member that waits for it then calls ask_for_word().
sennit_status send_word(Rank &rank, Team &team, std::uint32_t member, std::uint64_t epoch) {
    const int peer = team.world_ranks[member];
    forget_answer(rank, team);
    // SYNC node-sent: pairs with the get in ask_for_word(); everything that the word announces
    // comes before.
    team.own->arrived.sent.store(sent_with_round(team), std::memory_order_release);
    ControlBlock *control = rank.peers[peer].control;
    if (control != nullptr) {
        // SYNC barrier-round: pairs with the acquire in has_word(); everything that the word
        // announces comes before.
        team_sync(*control, team.slot)
            .rounds[team.round]
            .epoch.store(epoch, std::memory_order_release);
        ring_doorbell(*control);
        return SENNIT_OK;
    }
    const std::size_t offset =
        sync_offset(team) + offsetof(TeamSync, rounds) + sizeof(EpochLine) * team.round;
    const op::Target target{peer, transport::RemoteMemory{nullptr, rank.peers[peer].control_handle},
                            offset};
    return start_send(rank, target, &epoch, sizeof epoch, &team.sends[0],
                      team.purpose == Purpose::barrier);
}

bool has_word(const Team &team, std::uint64_t epoch) {
    // SYNC barrier-round: pairs with the release in send_word() or the transport's delivery.
    return team.own->rounds[team.round].epoch.load(std::memory_order_acquire) >= epoch ||
           team.answer >= sent_with_round(team);
}

// Called while the word of the leader `from` is late: gets its ArrivalLine::sent. A failed get is
// ignored: the wait itself detects a lost peer.
void ask_for_word(Rank &rank, Team &team, int from) {
    constexpr std::int64_t kFirstPauseNs = 100'000'000;
    constexpr std::int64_t kLastPauseNs = 2'000'000'000;
    int done = 0;
    if (team.ask.handle != 0) {
        (void)op::engine_test(rank, team.ask, false, &done);
        if (done == 0) return;
        team.ask = SENNIT_REQUEST_NULL;
    }
    const std::int64_t now = now_ns();
    if (team.ask_ns == 0) {
        team.ask_pause_ns = kFirstPauseNs;
    } else if (now < team.ask_ns) {
        return;
    } else {
        const std::size_t offset =
            sync_offset(team) + offsetof(TeamSync, arrived) + offsetof(ArrivalLine, sent);
        const op::Target target{
            from, transport::RemoteMemory{nullptr, rank.peers[from].control_handle}, offset};
        // SYNC node-sent: pairs with the release in send_word(), by the transport's get.
        (void)op::engine_start(rank, op::Direction::get, target, &team.answer, sizeof team.answer,
                               {op::Completion::Mode::request, &team.ask, true});
        team.ask_pause_ns = std::min(2 * team.ask_pause_ns, kLastPauseNs);
    }
    team.ask_ns = now + team.ask_pause_ns;
}

struct RoundWait {
    Team *team;
    int from;
};

// For LostSearch::find, with a RoundWait.
int check_round(Rank &rank, const void *context) {
    const RoundWait &wait = *static_cast<const RoundWait *>(context);
    const int lost = find_lost_of_nodes(rank, wait.team);
    // This does not depend on the call of this rank: the other leader may be in a barrier, whose
    // word may be lost.
    const bool may_be_lost =
        wait.team->round_step == RoundStep::await_word && rank.peers[wait.from].control == nullptr;
    if (lost < 0 && may_be_lost) ask_for_word(rank, *wait.team, wait.from);
    return lost;
}

// For LostSearch::warn, with a RoundWait.
void warn_of_late_round(Rank &rank, const void *wait, int seconds) {
    warn_of_late(rank, *static_cast<const RoundWait *>(wait)->team, seconds);
}

// True: everything sent in this round is delivered, or a part has failed with *status.
bool are_sends_over(Rank &rank, Team &team, sennit_status *status) {
    for (sennit_request &request : team.sends) {
        int done = request.handle == 0 ? 1 : 0;
        if (done == 0) *status = op::engine_test(rank, request, true, &done);
        if (done == 0) return false;
        request = SENNIT_REQUEST_NULL;
        if (*status != SENNIT_OK) return true;
    }
    return true;
}

// True: all sends are over, also those of a failed round. A late message could overwrite a message
// of the synchronisation after the next one, which has the same place.
bool are_old_sends_over(Rank &rank, Team &team) {
    for (;;) {
        sennit_status status = SENNIT_OK;
        if (!are_sends_over(rank, team, &status)) return false;
        if (status == SENNIT_OK) return true;
    }
}

bool has_left(const Rank &rank, int peer) {
    // known_gone() is enough, because the search for lost ranks updates the states of peers about
    // once a millisecond.
    return known_gone(rank, peer) == Gone::left;
}

// Waits until the data to the leader `to` is delivered and, if `awaits_word`, the word of the
// leader `from` has arrived. The wait ends with PEER_LOST if a member dies, or if `from` leaves
// without having sent its word. If `to` has left while this rank is leaving too, `to` has completed
// its last barrier and no longer acknowledges the data, which is no error.
sennit_status await_round(Rank &rank, Team &team, int to, int from, bool awaits_word,
                          const Deadline &deadline) {
    const std::uint64_t epoch = team.epoch + 1;
    sennit_status sent = SENNIT_OK;
    const RoundWait wait{&team, from};
    const LostSearch search{check_round, &wait, warn_of_late_round};
    const sennit_status status = wait_until(rank, deadline, search, [&] {
        if (!are_sends_over(rank, team, &sent)) return false;
        if (sent == SENNIT_ERR_PEER_LOST && has_left(rank, to) && is_leaving(rank, rank.world_rank))
            sent = SENNIT_OK;
        return sent != SENNIT_OK || !awaits_word || has_word(team, epoch) || has_left(rank, from);
    });
    if (status != SENNIT_OK) return status;
    if (sent != SENNIT_OK) return sent;
    if (!awaits_word || has_word(team, epoch)) return SENNIT_OK;
    return fail_peer(SENNIT_ERR_PEER_LOST, from, "", "rank %d has left without this barrier", from);
}

// One step of the current round. After a timeout the next call continues this step.
sennit_status take_step(Rank &rank, Team &team, bool has_messages, const Deadline &deadline) {
    const std::uint32_t to = next_leader(team, team.round);
    const int to_rank = team.world_ranks[to];
    const int from = team.world_ranks[previous_leader(team, team.round)];
    sennit_status status = SENNIT_OK;
    switch (team.round_step) {
        case RoundStep::send_messages:
            if (!are_old_sends_over(rank, team)) {
                const LostSearch search{find_lost_of_nodes, &team};
                status = wait_until(rank, deadline, search,
                                    [&] { return are_old_sends_over(rank, team); });
            }
            if (status == SENNIT_OK && has_messages) status = send_messages(rank, team);
            if (status == SENNIT_OK) team.round_step = RoundStep::await_messages;
            return status;
        case RoundStep::await_messages:
            // Puts may overtake each other, so the word is sent after the messages are delivered.
            if (has_messages) status = await_round(rank, team, to_rank, from, false, deadline);
            team.round_step = status == SENNIT_OK ? RoundStep::send_word : team.round_step;
            break;
        case RoundStep::send_word:
            status = send_word(rank, team, to, team.epoch + 1);
            if (status == SENNIT_OK) team.round_step = RoundStep::await_word;
            return status;
        case RoundStep::await_word:
            status = await_round(rank, team, to_rank, from, true, deadline);
            if (status == SENNIT_ERR_TIMEOUT && !has_word(team, team.epoch + 1))
                report_late_elsewhere();
            if (status != SENNIT_OK) break;
            team.round_step = RoundStep::send_messages;
            ++team.round;
            return status;
    }
    // After another error the next call sends the data of this round again.
    if (status != SENNIT_OK && status != SENNIT_ERR_TIMEOUT)
        team.round_step = RoundStep::send_messages;
    return status;
}

sennit_status disseminate(Rank &rank, Team &team, bool has_messages, const Deadline &deadline) {
    sennit_status status = SENNIT_OK;
    while (status == SENNIT_OK && (1u << team.round) < team.node_count)
        status = take_step(rank, team, has_messages, deadline);
    return status;
}

bool carries_messages(const Team &team) {
    return team.way == Way::nodes && team.purpose != Purpose::barrier &&
           team.purpose != Purpose::leave && team.purpose != Purpose::part;
}

}  // namespace

void form_nodes(Rank &rank, Team &team) {
    team.node_count = 0;
    std::uint32_t place = 0;
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const int node = rank.peers[team.world_ranks[member]].first_of_node;
        const bool is_alone = team.way == Way::rounds;
        bool is_first = true;
        for (std::uint32_t n = 0; n < team.node_count && is_first && !is_alone; ++n)
            is_first = rank.peers[team.world_ranks[leader_of(team, n)]].first_of_node != node;
        if (!is_first) continue;
        team.first_places[team.node_count] = place;
        for (std::uint32_t other = member; other < team.size; ++other) {
            if (other != member &&
                (is_alone || rank.peers[team.world_ranks[other]].first_of_node != node))
                continue;
            if (other == team.rank) team.node = team.node_count;
            team.by_place[place++] = other;
        }
        ++team.node_count;
    }
    team.first_places[team.node_count] = place;
}

sennit_status make_node_buffer(Rank &rank, Team &team, std::uint32_t *id) {
    *id = 0;
    const Reach reach = own_reach(rank, team);
    if (reach.load_store || !reach.some_path || !reach.node_load_store) return SENNIT_OK;
    for (std::uint32_t member = 0; member < team.rank; ++member)
        if (rank.peers[team.world_ranks[member]].same_node) return SENNIT_OK;
    const ColdLock lock(rank);
    const MessageArray last = messages_of_post(team, 1, post_lengths(team) - 1);
    const memory::SegmentArgs args{SegmentKind::slots, 0, last.first + last.bytes * team.size, 4096,
                                   0};
    const sennit_status status = memory::segment_create(rank, args, &team.node_buffer_record);
    // relaxed: the rank's own record, under its cold mutex.
    if (status == SENNIT_OK) *id = team.node_buffer_record->id.load(std::memory_order_relaxed);
    return status;
}

void drop_node_buffer(Rank &rank, Team &team) {
    const sennit_error error = *thread_error();
    for (sennit_request &request : team.sends) {
        op::engine_abandon(rank, request, op::Abandoned::library_s);
        request = SENNIT_REQUEST_NULL;
    }
    forget_answer(rank, team);
    *thread_error() = error;
    if (team.node_buffer_record == nullptr) return;
    const ColdLock lock(rank);
    memory::segment_destroy(rank, team.node_buffer_record);
    team.node_buffer_record = nullptr;
}

sennit_status synchronise_by_nodes(Rank &rank, Team &team, Purpose purpose,
                                   const Deadline &deadline) {
    const std::uint64_t epoch = team.epoch + 1;
    if (!is_arrived(team)) {
        team.purpose = purpose;
        team.next_peer = 0;
        team.round = 0;
        team.round_step = RoundStep::send_messages;
        arrive(rank, team, epoch);
    }
    if (!leads(team)) return await_release(rank, team, epoch, deadline);
    sennit_status status = gather(rank, team, epoch, deadline);
    if (status != SENNIT_OK) return status;
    const bool has_messages = carries_messages(team);
    if (has_messages) collect_messages(rank, team, epoch);
    status = disseminate(rank, team, has_messages, deadline);
    if (status == SENNIT_OK) release_node(rank, team, epoch);
    return status;
}

sennit_status find_node_buffer(Rank &rank, const Team &team, std::byte **node_buffer) {
    const std::uint32_t leader = leader_of(team, team.node);
    if (leader == team.rank) {
        *node_buffer = own_node_buffer(team);
        return SENNIT_OK;
    }
    memory::SegmentEntry *entry = nullptr;
    const sennit_status status =
        op::resolve(rank, {team.world_ranks[leader], team.node_buffers[leader], 0}, &entry);
    if (status == SENNIT_OK) *node_buffer = entry->base;
    return status;
}

int find_lost_of_nodes(Rank &rank, const void *context) {
    const Team &team = *static_cast<const Team *>(context);
    const std::uint64_t epoch = team.epoch + 1;
    for_each_here(team, [&](std::uint32_t member) {
        if (member != team.rank) (void)peer_gone(rank, team.world_ranks[member]);
    });
    // While no rank has died, members on other nodes need no check.
    (void)count_ended(rank);
    for (std::uint32_t member = 0; member < team.size && find_dead(rank) >= 0; ++member)
        if (known_gone(rank, team.world_ranks[member]) == Gone::died)
            return team.world_ranks[member];
    // known_gone() comes first: a rank arrives, or releases its node, before it leaves.
    for (std::uint32_t place = team.first_places[team.node];
         place < team.first_places[team.node + 1]; ++place) {
        const std::uint32_t member = team.by_place[place];
        if (member == team.rank || known_gone(rank, team.world_ranks[member]) == Gone::no) continue;
        const bool is_leader = place == team.first_places[team.node];
        if (is_leader ? !is_node_released(rank, team, epoch)
                      : !member_arrived(rank, team, member, epoch))
            return team.world_ranks[member];
    }
    return -1;
}

}  // namespace sennit::team
