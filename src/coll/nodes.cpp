// SPDX-License-Identifier: BSD-3-Clause
// Posts between nodes. Only the first member of each node (its leader) sends to other nodes, so
// that the number of transfers does not grow with the ranks per node. For post n, the leader waits
// for the posts of its node and copies them as messages to its node buffer. Then it exchanges
// messages with the other leaders in rounds of dissemination (team/nodes.hpp). A word after each
// transfer says that the messages have arrived. When all messages have arrived, the leader stores n
// in `released` and continues. Exception: the leader of the root's node may continue when only the
// last word is missing, and waits for the word before post n + 1. Other members read the messages
// of other nodes in the node buffer; a member that reads none continues at once.
//
// A message is the header of a post and the first carried_bytes() of its payload. A reader gets a
// longer payload from the slot of the post, without polling the slot's number.
//
// docs/design/collectives.md has the invariants, tests/models/node_posts.pml the model.
#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "coll/buffers.hpp"
#include "coll/post.hpp"
#include "request/request.hpp"
#include "runtime/detector.hpp"

namespace sennit::coll {
namespace {

// The interval of checks whether a leader gave up, while its word is late.
constexpr std::int64_t kAskNs = 100'000'000;

// The room for payload in a message. `length` is an index of kPostBytes.
constexpr std::size_t room_in(std::size_t length) {
    return team::kPostBytes[length] - sizeof(SlotHeader);
}
static_assert(room_in(0) >= sizeof(BufferDescription) && room_in(1) >= kSmallPayloadBytes &&
              room_in(std::size(team::kPostBytes) - 1) >= kPayloadBytes);

// The number of bytes of each payload that the messages of this post have. Equal on all members.
std::size_t carried_bytes(const TeamState &state, const OpenCall &operation) {
    const std::size_t most = room_in(team::post_lengths(*state.team) - 1);
    if (operation.step == Step::descriptions || operation.step == Step::in_place) {
        const std::size_t extents =
            has_extents(operation.call) ? sizeof(BufferExtent) * state.size : 0;
        return sizeof(BufferDescription) + extents <= most ? sizeof(BufferDescription) + extents
                                                           : sizeof(BufferDescription);
    }
    if (operation.step != Step::posts || operation.wide) return 0;
    const Cut &cut = operation.cut;
    const bool is_piece = cut.rounds() != 1 && !has_own_blocks(operation.call.kind);
    const std::size_t bytes = is_piece ? cut.piece_bytes : posted_bytes(operation);
    return bytes <= most ? bytes : 0;
}

team::MessageArray messages_of(const TeamState &state, const OpenCall &operation) {
    const std::size_t bytes = carried_bytes(state, operation);
    std::size_t length = 0;
    while (room_in(length) < bytes)
        ++length;
    return team::messages_of_post(*state.team, operation.number, length);
}

SlotHeader &message_at(const TeamState &state, const team::MessageArray &messages,
                       std::uint32_t place) {
    return *reinterpret_cast<SlotHeader *>(state.node_buffer + messages.first +
                                           messages.bytes * place);
}

std::byte *payload_in(SlotHeader &message) {
    return reinterpret_cast<std::byte *>(&message + 1);
}

bool is_from_root(const OpenCall &operation) {
    return operation.step == Step::posts && from_root(operation.call.kind);
}

// Copies the member's post, which has arrived, into the member's message.
void write_message_of(TeamState &state, const OpenCall &operation, std::uint32_t member) {
    if (is_from_root(operation) && member != operation.call.root) return;
    sennit_status status = SENNIT_OK;
    const Found found = header_of(state, member, place_of(operation), &status);
    // No slot has this post, because in the member's call nobody reads it. If the calls differ,
    // readers find no message and report that.
    if (found.header == nullptr) return;
    const PostedCall posted = posted_call(found);
    SlotHeader &message = message_at(state, messages_of(state, operation), state.places[member]);
    message.call = posted.signature;
    message.bytes = posted.bytes;
    message.rounds = posted.rounds;
    message.status = static_cast<std::uint32_t>(posted.status);
    if (found.size == operation.slot_size)
        std::memcpy(payload_in(message), payload_at(*state.areas[member], place_of(operation)),
                    carried_bytes(state, operation));
    // relaxed: the leaders' words and coll-released follow.
    message.number.store(operation.number, std::memory_order_relaxed);
}

bool gather(TeamState &state, const OpenCall &operation) {
    const team::Team &team = *state.team;
    std::uint32_t &place = state.passing.place;
    for (; place < team.first_places[team.node + 1]; ++place) {
        const std::uint32_t member = team.by_place[place];
        if (!has_reached(state, member, operation.number)) return false;
        write_message_of(state, operation, member);
        if (is_broken(state)) return false;
    }
    return true;
}

// True: the request is complete, or *request is {0}. False: not yet, or it failed, which ends the
// team's calls.
bool is_over(TeamState &state, sennit_request *request) {
    if (request->handle == 0) return true;
    int done = 0;
    const sennit_status status = op::engine_test(*state.rank, *request, true, &done);
    if (done != 0) *request = SENNIT_REQUEST_NULL;
    if (status != SENNIT_OK) end_all(state, status);
    return done != 0 && status == SENNIT_OK;
}

std::uint32_t node_of_root(const TeamState &state, const OpenCall &operation) {
    const team::Team &team = *state.team;
    const std::uint32_t *const first = team.first_places;
    return static_cast<std::uint32_t>(
        std::upper_bound(first, first + team.node_count, state.places[operation.call.root]) -
        first - 1);
}

// The parts of the node buffer that are sent in this round; returns their number. In a call from a
// root only its message is sent, from leaders that have it to leaders that do not.
std::size_t parts_of_round(const TeamState &state, const OpenCall &operation,
                           team::NodeBufferPart parts[2]) {
    const team::Team &team = *state.team;
    const Passing &passing = state.passing;
    const team::MessageArray messages = messages_of(state, operation);
    if (!is_from_root(operation))
        return team::messages_of_round(team, passing.round, messages, parts);
    const std::uint32_t place = state.places[operation.call.root];
    const std::uint32_t node = node_of_root(state, operation);
    const std::uint32_t distance = (team.node + team.node_count - node) % team.node_count;
    const std::uint32_t reached = 1u << passing.round;
    if (distance >= std::min(reached, team.node_count - reached)) return 0;
    parts[0] = {messages.first + messages.bytes * place, messages.bytes,
                &message_at(state, messages, place)};
    return 1;
}

// The request of the last word to the same place, which was sent two posts ago. That word has
// arrived, since its receiver has made another post after it; but the request may still be
// incomplete.
sennit_request *last_word(TeamState &state) {
    Passing &passing = state.passing;
    return &passing.words[passing.number % 2][passing.round];
}

std::size_t offset_of_word(const TeamState &state) {
    const Passing &passing = state.passing;
    return team::post_words_offset(*state.team) + offsetof(team::PostWords, words) +
           sizeof(std::uint64_t) * (passing.number % 2 * kRounds + passing.round);
}

// Sends this round's messages. Short messages in at most one part are sent together with the word.
// False: not yet, because the last word to the same place is still pending.
bool send(TeamState &state, const OpenCall &operation, sennit_status *status) {
    Rank &rank = *state.rank;
    const team::Team &team = *state.team;
    Passing &passing = state.passing;
    const std::uint32_t leader = team::next_leader(team, passing.round);
    const std::size_t beside = team::post_words_offset(team) + offsetof(team::PostWords, beside);
    team::NodeBufferPart parts[2] = {{beside, sizeof passing.number, &passing.number}, {}};
    const std::size_t count = parts_of_round(state, operation, parts);
    if (count <= 1 && team::goes_with_word(rank, team, leader, parts[0])) {
        if (!is_over(state, last_word(state))) return false;
        passing.ask_ns = 0;
        // SYNC coll-word: pairs with the acquire in has_word(), by the owner's task; the messages
        // come before.
        *status = team::put_with_word(rank, team, leader, parts[0],
                                      {offset_of_word(state), passing.number}, last_word(state));
        passing.step = PassStep::await_word;
        return true;
    }
    *status = team::put_parts(rank, team, leader, parts, count, passing.sends);
    passing.step = PassStep::deliver;
    return true;
}

sennit_status send_word(TeamState &state) {
    const team::Team &team = *state.team;
    Passing &passing = state.passing;
    passing.ask_ns = 0;
    // SYNC coll-word: pairs with the acquire in has_word(), by the transport's delivery; the
    // messages, whose delivery is complete, come before.
    return team::put_in_node_buffer(*state.rank, team, team::next_leader(team, passing.round),
                                    {offset_of_word(state), sizeof passing.number, &passing.number},
                                    last_word(state));
}

bool has_word(const TeamState &state) {
    const Passing &passing = state.passing;
    // SYNC coll-word: pairs with the put in send_word() and the task in send(); the messages come
    // before.
    return state.post_words->words[passing.number % 2][passing.round].load(
               std::memory_order_acquire) >= passing.number;
}

// Asks a leader whose word is late whether it gave up: a leader that gave up sends no words. A
// failed get is ignored, since the wait itself detects a lost peer.
void ask_for_word(TeamState &state) {
    Passing &passing = state.passing;
    Rank &rank = *state.rank;
    const std::uint32_t leader = team::previous_leader(*state.team, passing.round);
    int done = 0;
    if (passing.ask.handle != 0) {
        (void)op::engine_test(rank, passing.ask, false, &done);
        if (done == 0) return;
        passing.ask = SENNIT_REQUEST_NULL;
        if (passing.answer == kGaveUp && gave_up(state, leader)) return;
    }
    const std::int64_t now = now_ns();
    if (passing.ask_ns == 0) passing.ask_ns = now + kAskNs;
    if (now < passing.ask_ns) return;
    passing.ask_ns = now + kAskNs;
    passing.answer = 0;
    const int peer = state.team->world_ranks[leader];
    const op::Target target{
        peer, transport::RemoteMemory{nullptr, rank.peers[peer].control_handle},
        team::sync_offset(*state.team) + offsetof(TeamSync, coll) + offsetof(Area, latest)};
    // SYNC coll-post: pairs with the release in give_up(), by the transport's get.
    (void)op::engine_start(rank, op::Direction::get, target, &passing.answer, sizeof passing.answer,
                           {op::Completion::Mode::request, &passing.ask, true});
}

// If the sizes of the calls differ, a message may have another length, and so another place. Its
// header is copied to the place of this leader's length, so that all readers see the difference.
// The payload is not copied: ranks with the other size read the message in the other place.
void take_over_message(TeamState &state, const OpenCall &operation, std::uint32_t place) {
    SlotHeader &message = message_at(state, messages_of(state, operation), place);
    // All relaxed: the words of the leaders order the message, before and after this function.
    if (message.number.load(std::memory_order_relaxed) == operation.number) return;
    const SlotHeader *other = passed_header(state, state.team->by_place[place], operation.number);
    if (other == nullptr) return;
    message.call = other->call;
    message.bytes = other->bytes;
    message.rounds = other->rounds;
    message.status = other->status;
    message.number.store(operation.number, std::memory_order_relaxed);
}

// take_over_message() for the messages that arrived in this round.
void take_over_messages(TeamState &state, const OpenCall &operation) {
    if (is_from_root(operation))
        return take_over_message(state, operation, state.places[operation.call.root]);
    const team::Team &team = *state.team;
    const std::uint32_t reached = 1u << state.passing.round;
    const std::uint32_t count = std::min(reached, team.node_count - reached);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t node = (team.node + team.node_count - reached - i) % team.node_count;
        for (std::uint32_t place = team.first_places[node]; place < team.first_places[node + 1];
             ++place)
            take_over_message(state, operation, place);
    }
}

void release_node(TeamState &state) {
    // SYNC coll-released: pairs with the acquire in is_released(); the messages of other nodes, and
    // their members' reads of earlier posts, come before.
    state.post_words->released.store(state.passing.number, std::memory_order_release);
    ring(state);
}

// Whether the leader may continue before the last word has arrived: everything is sent, and no rank
// of the root's node reads posts of other nodes.
bool may_leave(const TeamState &state, const OpenCall &operation) {
    const team::Team &team = *state.team;
    const Passing &passing = state.passing;
    return passing.step == PassStep::await_word && is_from_root(operation) &&
           2u << passing.round >= team.node_count && !has_word(state) &&
           node_of_root(state, operation) == team.node;
}

// Ends the earlier post for which this leader did not wait. False: its last word has not arrived.
bool end_left(TeamState &state) {
    if (!has_word(state)) {
        ask_for_word(state);
        return false;
    }
    state.passing.is_left = false;
    release_node(state);
    return true;
}

// False: the step still waits, or it failed, which has ended the team's calls.
bool take_pass_step(TeamState &state, const OpenCall &operation) {
    Passing &passing = state.passing;
    sennit_status status = SENNIT_OK;
    switch (passing.step) {
        case PassStep::gather:
            if (!gather(state, operation)) return false;
            passing.step = PassStep::send;
            return true;
        case PassStep::send:
            if (!send(state, operation, &status)) return false;
            break;
        case PassStep::deliver:
            // Puts may overtake each other, so the messages must be complete first.
            if (!is_over(state, &passing.sends[0]) || !is_over(state, &passing.sends[1]) ||
                !is_over(state, last_word(state)))
                return false;
            status = send_word(state);
            passing.step = PassStep::await_word;
            break;
        case PassStep::await_word:
            if (!has_word(state)) {
                ask_for_word(state);
                return false;
            }
            take_over_messages(state, operation);
            passing.step = PassStep::send;
            ++passing.round;
            return true;
    }
    if (status != SENNIT_OK) end_all(state, status);
    return status == SENNIT_OK;
}

}  // namespace

sennit_status open_nodes(TeamState &state) {
    const team::Team &team = *state.team;
    const sennit_status status = team::find_node_buffer(*state.rank, team, &state.node_buffer);
    if (status != SENNIT_OK) return status;
    state.post_words =
        reinterpret_cast<team::PostWords *>(state.node_buffer + team::post_words_offset(team));
    for (std::uint32_t place = 0; place < state.size; ++place)
        state.places[team.by_place[place]] = place;
    return SENNIT_OK;
}

void close_nodes(TeamState &state) {
    const auto give_back = [&](sennit_request &request) {
        op::engine_abandon(*state.rank, request, op::Abandoned::library_s);
        request = SENNIT_REQUEST_NULL;
    };
    for (sennit_request &request : state.passing.sends)
        give_back(request);
    for (auto &words : state.passing.words)
        for (sennit_request &request : words)
            give_back(request);
    give_back(state.passing.ask);
}

bool pass_on(TeamState &state, const OpenCall &operation) {
    const team::Team &team = *state.team;
    if (!team::leads(team) || is_released(state, operation.number)) return true;
    Passing &passing = state.passing;
    if (passing.number != operation.number) {
        if (passing.is_left && !end_left(state)) return false;
        passing.number = operation.number;
        passing.place = team.first_places[team.node];
        passing.round = 0;
        passing.step = PassStep::gather;
    }
    while ((1u << passing.round) < team.node_count) {
        passing.is_left = may_leave(state, operation);
        if (passing.is_left) return true;
        if (!take_pass_step(state, operation)) return false;
    }
    release_node(state);
    return true;
}

bool is_released(const TeamState &state, std::uint64_t number) {
    // SYNC coll-released: pairs with the release in release_node().
    return state.post_words->released.load(std::memory_order_acquire) >= number;
}

bool is_passed_on(TeamState &state, std::uint32_t member, std::uint64_t number) {
    const team::Team &team = *state.team;
    if (is_released(state, number)) {
        state.seen[member] = number;
        return true;
    }
    const std::uint32_t leader = team::leader_of(team, team.node);
    // SYNC coll-post: pairs with the release in give_up().
    const std::uint64_t found = state.areas[leader]->latest.number.load(std::memory_order_acquire);
    if (leader != team.rank && found == kGaveUp) (void)gave_up(state, leader);
    return false;
}

const SlotHeader *passed_header(const TeamState &state, std::uint32_t member,
                                std::uint64_t number) {
    for (std::size_t length = 0; length < team::post_lengths(*state.team); ++length) {
        const team::MessageArray messages = team::messages_of_post(*state.team, number, length);
        const SlotHeader &message = message_at(state, messages, state.places[member]);
        // relaxed: coll-released comes before.
        if (message.number.load(std::memory_order_relaxed) == number) return &message;
    }
    return nullptr;
}

const std::byte *passed_payload(const TeamState &state, const OpenCall &operation,
                                std::uint32_t member, std::size_t end) {
    if (end > carried_bytes(state, operation)) return nullptr;
    SlotHeader &message = message_at(state, messages_of(state, operation), state.places[member]);
    // relaxed: coll-released comes before.
    const std::uint64_t found = message.number.load(std::memory_order_relaxed);
    return found == operation.number ? payload_in(message) : nullptr;
}

}  // namespace sennit::coll
