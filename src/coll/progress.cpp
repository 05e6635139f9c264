// SPDX-License-Identifier: BSD-3-Clause
// The sequence of steps of an operation, and the queue of a team.
#include <cstdlib>

#include "base/fail.hpp"
#include "base/invariant.hpp"
#include "coll/post.hpp"

namespace sennit::coll {
namespace {

// `waits`: for posts, a free slot, or pending puts or gets. `ended`: the operation has left the
// queue.
enum class StepResult { advanced, waits, ended };

void count_move(TeamState &state) {
    // relaxed: a waiting thread only compares the number. The results come with `complete`.
    state.moves.fetch_add(1, std::memory_order_relaxed);
}

// Ends the team's calls with the thread's last error, unless a peer that gave up has ended them.
StepResult end_team(TeamState &state, const OpenCall &operation, sennit_status status) {
    if (state.queue.first() == &operation) end_all(state, status);
    return StepResult::ended;
}

void post_next(TeamState &state, OpenCall &operation, std::uint32_t rounds, bool is_read) {
    post(state, operation.call, {place_of(operation), rounds, is_read, operation.status});
    operation.member = 0;
}

std::uint32_t posted_rounds(const OpenCall &operation) {
    const std::uint64_t rounds = operation.cut.rounds();
    return rounds > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(rounds);
}

// For members out of reach: passes on the posts between nodes, or starts gets of the members'
// numbers and of the first `bytes` of each payload. `advanced` means that it can do no more now.
// Posts may still be missing, so has_posted() and has_content() check each member.
inline StepResult ask_other_nodes(TeamState &state, const OpenCall &operation, std::size_t bytes) {
    if (state.reaches_control) [[likely]]
        return StepResult::advanced;
    const bool is_ready =
        state.node_buffer != nullptr ? pass_on(state, operation) : ask_all(state, operation, bytes);
    if (is_ready) return StepResult::advanced;
    return is_broken(state) ? StepResult::ended : StepResult::waits;
}

StepResult flush(TeamState &state, OpenCall &operation) {
    sennit_status status = SENNIT_OK;
    if (!op::engine_try_flush(*state.rank, operation.puts, &status)) return StepResult::waits;
    // Continue after an error: the others wait for this rank.
    note(operation, status);
    operation.step = Step::begin;
    return StepResult::advanced;
}

void make_offsets(const TeamState &state, OpenCall &operation) {
    if (!needs_offsets(operation.call, *state.team)) return;
    const std::size_t bytes = 2 * sizeof(std::size_t) * state.size;
    operation.offsets = static_cast<std::size_t *>(std::malloc(bytes));
    // Without memory each use of an offset adds up the sizes of the earlier blocks.
    if (operation.offsets == nullptr) return;
    add_offsets(operation.call, *state.team, operation.offsets);
}

StepResult begin(TeamState &state, OpenCall &operation) {
    const Call &call = operation.call;
    const bool have_sizes = has_sizes(call.kind) || call.counts != nullptr;
    if (have_sizes) make_offsets(state, operation);
    const bool describes = describes_first(state, call);
    const std::size_t most = have_sizes ? most_bytes(call, *state.team) : call.bytes;
    operation.most_bytes = most;
    operation.cut = cut_of(call, *state.team, most, kPayloadBytes);
    const sennit_status status = copy_elements(state, operation);
    if (status != SENNIT_OK) return end_team(state, operation, status);
    // If descriptions come first, decide() or work_in_place() copies this rank's own block, while
    // the peers work.
    if (!describes) note(operation, copy_own_block(state, call));
    operation.in_place = describes;
    operation.divided = describes && can_be_divided(call.kind);
    if (!describes && operation.cut.rounds() == 1)
        operation.slot_size = slot_size_for(call.kind, posted_bytes(operation));
    operation.step = describes ? Step::description_room : Step::room;
    return StepResult::advanced;
}

// The wanted payload of a post. If all members copy the same piece, short pieces are faster: they
// stay in the level-1 cache. In reductions, and if each member reads another piece, long pieces are
// faster: they only fit into the level-2 cache, but there are fewer rounds. If ranks share
// processors, long pieces are faster in all calls, since each round must schedule every rank.
std::size_t wanted_payload(const OpenCall &operation) {
    const Kind kind = operation.call.kind;
    const bool is_wide = operation.shares_processors || folds(kind) || has_own_blocks(kind);
    return is_wide ? kWideBytes : kPayloadBytes;
}

// Called after all descriptions have arrived: decides whether to work in place, or in how many
// rounds.
sennit_status decide(TeamState &state, OpenCall &operation) {
    if (operation.in_place) {
        operation.step = Step::in_place;
        return SENNIT_OK;
    }
    note(operation, copy_own_block(state, operation.call));
    std::size_t payload = wanted_payload(operation);
    if (payload > kPayloadBytes) {
        const sennit_status status = find_wide_slots(state, operation);
        if (status != SENNIT_OK) return status;
    }
    if (!operation.wide) payload = kPayloadBytes;
    operation.cut = cut_of(operation.call, *state.team, operation.most_bytes, payload);
    if (operation.wide && can_be_relayed(state, operation.call)) {
        operation.relayed = true;
        operation.cut = relay_cut(state, operation.call);
    }
    operation.step = Step::room;
    return SENNIT_OK;
}

StepResult write_and_post_description(TeamState &state, OpenCall &operation) {
    operation.number = state.number + 1;
    if (!has_room(state, place_of(operation))) return StepResult::waits;
    write_description(state, operation);
    post_next(state, operation, 0, true);
    operation.step = Step::descriptions;
    return StepResult::advanced;
}

StepResult read_descriptions(TeamState &state, OpenCall &operation) {
    const StepResult result = ask_other_nodes(state, operation, sizeof(BufferDescription));
    if (result != StepResult::advanced) return result;
    for (; operation.member < state.team->size; ++operation.member) {
        if (!has_posted(state, operation.member, place_of(operation)) ||
            !has_content(state, operation, operation.member))
            return StepResult::waits;
        if (operation.member != state.team->rank && !verify(state, operation, operation.member, 0))
            return end_team(state, operation, operation.status);
        if (operation.differs) continue;
        const sennit_status status = read_description(state, operation, operation.member);
        if (status != SENNIT_OK) return end_team(state, operation, status);
    }
    if (operation.differs) {
        // All other members of this call have seen the difference too.
        finish(state, operation, operation.status);
        return StepResult::ended;
    }
    const sennit_status status = decide(state, operation);
    return status == SENNIT_OK ? StepResult::advanced : end_team(state, operation, status);
}

StepResult fill_and_post(TeamState &state, OpenCall &operation) {
    operation.number = state.number + 1;
    const bool is_read_by_others =
        operation.relayed || is_read(operation.call, *state.team, state.team->rank);
    if (!has_room(state, place_of(operation))) return StepResult::waits;
    // An earlier post in the same wide slot may have used another header slot.
    const Place earlier{operation.number - kWideSlots, SlotSize::full};
    if (operation.wide && !has_room(state, earlier)) return StepResult::waits;
    if (operation.relayed) {
        relay_fill(state, operation);
    } else {
        fill(state, operation);
    }
    post_next(state, operation, posted_rounds(operation), is_read_by_others);
    operation.step = Step::posts;
    return StepResult::advanced;
}

StepResult take_posts(TeamState &state, OpenCall &operation) {
    const std::uint32_t own = state.team->rank;
    // Requests the payload here only if it is one whole block. Otherwise take() fetches each piece.
    const bool is_one = operation.cut.rounds() == 1 && !has_own_blocks(operation.call.kind);
    const StepResult result = ask_other_nodes(state, operation, is_one ? operation.most_bytes : 0);
    if (result != StepResult::advanced) return result;
    for (; operation.member < state.team->size; ++operation.member) {
        const std::uint32_t member = operation.member;
        if (!operation.relayed && !reads(operation.call, own, member)) continue;
        if (member != own) {
            if (!has_posted(state, member, place_of(operation)) ||
                !has_content(state, operation, member))
                return StepResult::waits;
            if (!verify(state, operation, member, posted_rounds(operation)))
                return end_team(state, operation, operation.status);
            if (operation.differs) continue;
        }
        // If the program's operator fails, take() only notes the error. A relayed call ends at
        // once, because otherwise peers would use this rank's wrong share of the result.
        const sennit_status status = operation.relayed ? relay_take(state, operation, member)
                                                       : take(state, operation, member);
        if (status != SENNIT_OK) return end_team(state, operation, status);
    }
    if (operation.relayed) {
        operation.first_operand = nullptr;
    } else {
        end_round(state, operation);
    }
    operation.step = Step::room;
    if (++operation.round < operation.cut.rounds()) return StepResult::advanced;
    finish(state, operation, operation.status);
    return StepResult::ended;
}

StepResult use_in_place(TeamState &state, OpenCall &operation) {
    note(operation, work_in_place(state, operation));
    operation.step = Step::last_room;
    // If a peer gave up and ended its loans, has_reached() reports why. The copy's error says less.
    const bool has_failed = operation.status != SENNIT_OK;
    for (std::uint32_t member = 0; has_failed && member < state.size; ++member)
        (void)has_reached(state, member, operation.number + 1);
    return is_broken(state) ? StepResult::ended : StepResult::advanced;
}

StepResult post_last(TeamState &state, OpenCall &operation) {
    operation.number = state.number + 1;
    if (!has_room(state, place_of(operation))) return StepResult::waits;
    post_next(state, operation, 0, true);
    operation.step = Step::last_posts;
    return StepResult::advanced;
}

// For divided work: notes an error if the member could not do its part.
void note_part_of(TeamState &state, OpenCall &operation, std::uint32_t member) {
    sennit_status status = SENNIT_OK;
    const Found found = header_of(state, member, place_of(operation), &status);
    if (found.header != nullptr) status = posted_call(found).status;
    if (status == SENNIT_OK || operation.status != SENNIT_OK || found.header == nullptr)
        return note(operation, status);
    const int peer = state.team->world_ranks[member];
    note(operation, fail_peer(status, peer, "", "rank %d could not do its part of %s", peer,
                              name_of(operation.call.kind)));
}

StepResult wait_for_last(TeamState &state, OpenCall &operation) {
    const StepResult result = ask_other_nodes(state, operation, 0);
    if (result != StepResult::advanced) return result;
    for (; operation.member < state.team->size; ++operation.member) {
        if (!has_posted(state, operation.member, place_of(operation))) return StepResult::waits;
        if (operation.divided && operation.member != state.team->rank)
            note_part_of(state, operation, operation.member);
        if (is_broken(state)) return StepResult::ended;
    }
    finish(state, operation, operation.status);
    return StepResult::ended;
}

StepResult take_step(TeamState &state, OpenCall &operation) {
    switch (operation.step) {
        case Step::flush:
            return flush(state, operation);
        case Step::begin:
            return begin(state, operation);
        case Step::description_room:
            return write_and_post_description(state, operation);
        case Step::descriptions:
            return read_descriptions(state, operation);
        case Step::room:
            return fill_and_post(state, operation);
        case Step::posts:
            return take_posts(state, operation);
        case Step::in_place:
            return use_in_place(state, operation);
        case Step::last_room:
            return post_last(state, operation);
        case Step::last_posts:
            return wait_for_last(state, operation);
        case Step::over:
            break;
    }
    return StepResult::ended;
}

// A second loan exists only with a first one.
bool has_taken_memory(const OpenCall &operation) {
    return operation.lent[0] != nullptr || operation.copy != nullptr || operation.puts != nullptr ||
           operation.offsets != nullptr;
}

[[gnu::noinline]] void give_memory_back(TeamState &state, OpenCall &operation) {
    end_loan(state, operation);
    std::free(operation.copy);
    std::free(operation.puts);
    std::free(operation.offsets);
    operation.offsets = nullptr;
    operation.copy = nullptr;
    operation.puts = nullptr;
}

}  // namespace

void note(OpenCall &operation, sennit_status status) {
    if (status == SENNIT_OK || operation.status != SENNIT_OK) return;
    operation.status = status;
    operation.error = *thread_error();
}

void finish(TeamState &state, OpenCall &operation, sennit_status status) {
    // Operations of a team end in the order of their calls.
    SENNIT_INVARIANT(&operation == state.queue.first() && operation.step != Step::over);
    (void)state.queue.pop();
    operation.step = Step::over;
    operation.status = status;
    if (status != SENNIT_OK && operation.error.status != status) operation.error = *thread_error();
    if (has_taken_memory(operation)) give_memory_back(state, operation);
    count_move(state);
    // All relaxed: the counts only say whether a thread should poll.
    if (operation.is_request) {
        state.open_requests.fetch_sub(1, std::memory_order_relaxed);
        state.rank->polled_requests.fetch_sub(1, std::memory_order_relaxed);
    }
    // SYNC coll-complete: pairs with the acquire in is_complete(); results and status come before.
    operation.complete.store(true, std::memory_order_release);
}

void end_all(TeamState &state, sennit_status status) {
    const sennit_error error = *thread_error();
    take_incoming(state);
    if (!is_broken(state)) {
        state.broken_by = error.peer;
        // SYNC coll-broken: pairs with the acquire in take_state(); `broken_by` comes before.
        state.broken.store(status, std::memory_order_release);
        give_up(state, status);
    }
    while (!state.queue.is_empty()) {
        *thread_error() = error;
        finish(state, *state.queue.first(), status);
    }
    *thread_error() = error;
}

void begin_posted(TeamState &state, OpenCall &operation) {
    (void)begin(state, operation);
    operation.number = state.number;
    operation.step = Step::posts;
}

void take_all_incoming(TeamState &state) {
    // SYNC coll-incoming: pairs with the release in hand_over(); the operation comes before.
    OpenCall *operation = state.incoming.exchange(nullptr, std::memory_order_acquire);
    LinkedQueue<OpenCall, &OpenCall::next> in_order;
    while (operation != nullptr) {
        OpenCall *earlier = operation->next;
        in_order.push_front(operation);
        operation = earlier;
    }
    while (OpenCall *next = in_order.pop())
        state.queue.push(next);
}

void progress(TeamState &state) {
    take_incoming(state);
    while (!state.queue.is_empty()) {
        const std::uint64_t rounds = state.number;
        const Step step = state.queue.first()->step;
        const StepResult result = take_step(state, *state.queue.first());
        if (result == StepResult::waits) return;
        if (state.queue.is_empty() || step != state.queue.first()->step || rounds != state.number)
            count_move(state);
    }
}

void try_progress(TeamState &state) {
    if (!state.turn.try_take()) return;
    progress(state);
    state.turn.give_back();
}

}  // namespace sennit::coll
