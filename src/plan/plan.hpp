// SPDX-License-Identifier: BSD-3-Clause
// Plans. A plan owns recorded puts and gets with their events, and commit resolves them once.
// Commit sorts the operations into groups of the same block, direction and signal. If load and
// store reach all groups, commit also makes moves, each contiguous on both sides; a start checks
// every group, then copies and counts group by group. Otherwise a start checks every group, then
// sends the messages of all groups together; the event of a group follows its last piece.
//
// States: recording -> idle <-> running (started and not waited for; `open` counts the incomplete
// pieces of its messages).
#pragma once

#include <sennit/plan.h>

#include "base/array.hpp"
#include "base/handle_table.hpp"
#include "rank/part.hpp"
#include "signal/batch.hpp"
#include "signal/blocks.hpp"

namespace sennit::plan {
struct Plans;
}
template <>
struct sennit::PartType<sennit::Part::plans> {
    using Type = sennit::plan::Plans;
};

namespace sennit::plan {

struct RecordedOperation {
    sennit_peer_block block;
    op::Direction direction;
    std::uint64_t offset;
    std::byte *local;  // only read by a put
    std::uint64_t bytes;
    sennit_signal remote_signal = SENNIT_SIGNAL_NULL;  // in place of the block's own
    sennit_signal local_signal = SENNIT_SIGNAL_NULL;   // a signal of this rank
    const op::Layout *layout = nullptr;                // null: contiguous bytes; owned by the plan
};

struct Move {
    std::byte *to;
    const std::byte *from;
    std::uint64_t bytes;
};

// Consecutive moves of one size, so that a start checks the size once.
struct MoveRange {
    std::uint64_t bytes;  // of each
    std::uint32_t moves;
};

// All moves through one block in one direction with one signal, and their events.
struct BlockGroup {
    sennit_peer_block block;
    signal::Attached *attached;
    const signal::Notified *notified;  // of the attached block, or one of the plan's `named`
    std::uint32_t range_count;
    std::uint32_t messages;
    bool goes_by_message;      // its data, and its event if it has one
    std::uint32_t part_count;  // in Plan::executed_parts
    // Set if tasks carry the data, with or without the events: the contiguous runs of all parts as
    // one put, with offsets from the block and from the local buffer of the first part. Owned.
    op::Layout *packed;
};

// Events of a run in one of the rank's own signals, counted when the caller may reuse all buffers.
struct LocalEvents {
    signal::RemoteSignal signal;
    signal::Expected expected;
    std::uint32_t events;
};

// Arrays with one element for each part.
struct BatchParts {
    Array<sennit_notify_part> parts;
    Array<op::Direction> directions;
    Array<const op::Layout *> layouts;  // of the operations, or null
    std::uint32_t count = 0;
};

enum class PlanState : std::uint8_t { recording, idle, running };

// The moves of a plan that moves only words. A start is limited by its loads and stores, so each
// move is packed into one word: two offsets of 32 bits from the lowest addresses.
struct WordMoves {
    std::uint64_t *pairs =
        nullptr;  // [move_count], offset of the source << 32 | of the destination
    std::byte *to = nullptr;
    const std::byte *from = nullptr;
};

// The fields for start and wait of a plan of words are first.
struct alignas(64) Plan {
    std::atomic<std::uint32_t> handle{0};  // SYNC handle
    PlanState state = PlanState::recording;
    bool is_by_pointer = false;  // all by load and store, and the rank has no observer
    bool goes_at_once = false;   // is_by_pointer, with its own epochs and no local events
    bool has_events = false;
    std::uint32_t group_count = 0;
    std::uint32_t move_count = 0;
    Array<BlockGroup> groups;  // [group_count]
    // Set if goes_at_once, each move is a word, and all are of one group.
    WordMoves words;
    std::uint64_t next_epoch = 0;  // of the next run
    std::uint64_t epoch_step = 0;
    Array<Move> moves;        // [move_count], in the order of groups
    Array<MoveRange> ranges;  // [range_count], in the order of the moves
    std::uint32_t range_count = 0;
    std::uint32_t operation_count = 0;
    std::uint32_t operation_room = 0;
    RecordedOperation *operations = nullptr;
    bool goes_in_current = false;  // is_by_pointer, is_current() and without local events
    // Used if not is_by_pointer: the parts that a start checks, those that it executes, in the
    // order of groups, and the notice of each group. Adjacent operations become one part.
    BatchParts checked_parts;
    BatchParts executed_parts;
    Array<sennit_notice> notices;   // [group_count]
    Array<signal::Notified> named;  // signals that operations name
    Array<LocalEvents> local;       // [local_count]
    std::uint32_t local_count = 0;
    // Protected by the engine's mutex. `open`: incomplete pieces.
    std::uint32_t open = 0;
    sennit_status failure = SENNIT_OK;  // of a piece that was started
    int failed_peer = -1;

    // Whether events count in the owner's current epoch.
    bool is_current() const { return next_epoch == SENNIT_EPOCH_CURRENT && epoch_step == 0; }
};

// Protected by the cold mutex.
struct Plans
    : HandleTable<Plan, HandleLayout<std::uint32_t, 20, 11>, TableShape{1u << 20, 1u << 10}> {};

// Only for a plan that find() returned.
inline std::uint32_t handle_of(const Plan &plan) {
    // relaxed: find() has done the acquire.
    return plan.handle.load(std::memory_order_relaxed);
}

// The plan of a handle, or null.
inline Plan *find(const Rank &rank, sennit_plan plan) {
    const Plans *all = made_once(rank.plans);
    if (all == nullptr) [[unlikely]]
        return nullptr;
    return all->find(plan.handle);
}

// Errors: NOMEM.
sennit_status create(Rank &rank, sennit_plan *plan);
// Copies the layout. Errors: STATE, ARG, RANGE, NOMEM.
sennit_status record(Rank &rank, Plan &plan, const RecordedOperation &operation);
sennit_status commit(Rank &rank, Plan &plan, std::uint64_t first_epoch, std::uint64_t epoch_step);
sennit_status start(Rank &rank, Plan &plan);
// Errors: STATE, TIMEOUT, and those of a put or get.
sennit_status wait(Rank &rank, Plan &plan, const Deadline &deadline);
// Errors: STATE.
sennit_status destroy(Rank &rank, Plan &plan);
// At the end of a rank.
void plans_close(Rank &rank);
// Errors: STATE, with `why` in the text, if the plan is in another state.
sennit_status check_state(const Plan &plan, PlanState wanted, const char *why);
// Returns ARG.
[[gnu::cold]] sennit_status fail_not_attached(const Plan &plan);

// Whether the block is still attached and its region still exists.
inline bool is_reachable(const BlockGroup &group) {
    const signal::Attached &attached = *group.attached;
    // relaxed twice: only equality matters; detaching or freeing at the same time is the program's
    // error.
    return attached.handle.load(std::memory_order_relaxed) == group.block.handle &&
           attached.live->load(std::memory_order_relaxed) == attached.live_value;
}

// Whether the signal of the group accepts the next run's event.
inline bool accepts_next_event(const Plan &plan, const BlockGroup &group) {
    const signal::RemoteSignal &remote = group.notified->remote;
    return remote.is_none() ||
           signal::accepts(*remote.record, remote.signal.handle, plan.next_epoch,
                           group.notified->expected.most_ahead);
}

// Whether the next run of a plan of words may start.
inline bool may_start_words(const Plan &plan) {
    return plan.state == PlanState::idle && plan.words.pairs != nullptr &&
           is_reachable(plan.groups[0]) &&
           (!plan.has_events || accepts_next_event(plan, plan.groups[0]));
}

// Whether the next run of a plan that goes_at_once may start.
inline bool may_start_at_once(const Plan &plan) {
    if (plan.state != PlanState::idle || !plan.goes_at_once) return false;
    for (std::uint32_t i = 0; i < plan.group_count; ++i)
        if (!is_reachable(plan.groups[i]) || !accepts_next_event(plan, plan.groups[i]))
            return false;
    return true;
}

// Whether the next run of a plan with is_current() may start.
inline bool may_start_in_current(const Plan &plan) {
    if (plan.state != PlanState::idle || !plan.goes_in_current) return false;
    for (std::uint32_t i = 0; i < plan.group_count; ++i) {
        const BlockGroup &group = plan.groups[i];
        const signal::RemoteSignal &remote = group.notified->remote;
        if (!is_reachable(group)) return false;
        // relaxed: only equality matters; the program orders the destruction of a signal.
        if (!remote.is_none() &&
            remote.record->handle.load(std::memory_order_relaxed) != remote.signal.handle)
            return false;
    }
    return true;
}

inline void move_word(const WordMoves &words, std::uint64_t pair) {
    copy_any(words.to + static_cast<std::uint32_t>(pair), words.from + (pair >> 32),
             sizeof(std::uint64_t));
}

// Calls no function, so it saves no registers: a store to the stack costs as much as one to the
// peer. `words` is a copy, which the moved words cannot change.
inline void move_words(WordMoves words, std::uint32_t count) {
    constexpr std::uint32_t kStride = 8;
    for (; count >= kStride; count -= kStride, words.pairs += kStride) {
#pragma GCC unroll 8
        for (std::uint32_t i = 0; i < kStride; ++i)
            move_word(words, words.pairs[i]);
    }
    for (; count != 0; --count, ++words.pairs)
        move_word(words, *words.pairs);
}

// Runs a plan that is_by_pointer, after the checks: one group after another, and in each group
// first the moves, then the event. run_groups_in_current() is for a plan with is_current(). Both
// return false, and set the thread's error, if a group has too many messages.
bool run_groups(Plan &plan);
bool run_groups_in_current(Plan &plan);
// Counts the events of a plan of words, after its moves. Returns false, and sets the thread's
// error, if there are too many messages.
bool count_words(Plan &plan);

// Fills `packed` of a group if it is sent packed. The group's parts already exist; the first one is
// part `first`. In pieces.cpp. Errors: NOMEM.
sennit_status pack_group(Rank &rank, const Plan &plan, BlockGroup *group, std::uint32_t first);

// Local events, in local.cpp. make_local() is for a commit; errors: ARG, NOMEM, and those of
// signal::read_signal(). The next two are for a start; errors: ARG, SIGNAL_OVERFLOW.
[[gnu::cold]] sennit_status fail_not_own(sennit_signal signal);
sennit_status make_local(Rank &rank, Plan &plan);
sennit_status check_local(const Rank &rank, const Plan &plan);
sennit_status count_local(const Rank &rank, const Plan &plan);

}  // namespace sennit::plan
