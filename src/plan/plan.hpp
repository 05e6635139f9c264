// Plans: recorded puts and gets with their events, resolved once. Owns the operations as they were
// recorded, and what commit makes of them: moves of bytes that lie together on both sides, grouped
// by the signal that they count. A start by load and store looks at every group, then moves and
// counts group by group. Where messages lead commit makes parts of a batch of them, which are under
// way together. Where anything else is out of the ordinary the operations go the general way of
// signal::notify, one by one.
//
// States: recording -> idle <-> running. As all operations are complete when a start returns,
// running only says that the run was not waited for.
#pragma once

#include <sennit/plan.h>

#include "base/handle_table.hpp"
#include "signal/batch.hpp"
#include "signal/blocks.hpp"

namespace sennit::plan {

// As recorded.
struct Operation {
    sennit_peer_block block;
    op::Direction direction;
    std::uint64_t offset;
    std::byte *local;  // of a put only read
    std::uint64_t bytes;
};

struct Move {
    std::byte *to;
    const std::byte *from;
    std::uint64_t bytes;
};

// Moves of one size, one after the other, so that a start asks for the size once.
struct Run {
    std::uint64_t bytes;  // of each
    std::uint32_t moves;
};

// All moves through one block in one direction, and their events.
struct Group {
    sennit_peer_block block;
    signal::Attached *attached;
    const signal::Notified *notified;  // of the attached block
    std::uint32_t run_count;
    std::uint32_t messages;
};

// Of batches, of as many parts as there are.
struct Parts {
    sennit_notify_part *parts = nullptr;
    signal::Piece *pieces = nullptr;
    std::uint32_t count = 0;
};

enum class State : std::uint8_t { recording, idle, running };

struct Plan {
    std::uint32_t handle = 0;
    State state = State::recording;
    bool goes_at_once = false;  // all by load and store, and the rank has no observer
    std::uint32_t operation_count = 0;
    std::uint32_t operation_room = 0;
    std::uint32_t move_count = 0;
    std::uint32_t run_count = 0;
    std::uint32_t group_count = 0;
    Operation *operations = nullptr;
    Move *moves = nullptr;    // [move_count], in the order of groups
    Run *runs = nullptr;      // [run_count], as the moves
    Group *groups = nullptr;  // [group_count]
    // Where not all goes at once: what a start looks at, and what it carries out.
    Parts looked_at;
    Parts carried_out;
    sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0};  // of all parts
    std::uint64_t next_epoch = 0;
    std::uint64_t epoch_step = 0;
};

// Under `cold`.
struct Plans : HandleTable<Plan> {};

// The plan of a handle, or null.
inline Plan *find(const Rank &rank, sennit_plan plan) {
    const Plans *all = made_once(rank.plans);
    if (all == nullptr) [[unlikely]]
        return nullptr;
    return all->find(plan.handle);
}

// Errors: NOMEM.
sennit_status create(Rank &rank, sennit_plan *plan);
// Errors: STATE, ARG, RANGE, NOMEM.
sennit_status record(Rank &rank, Plan &it, const Operation &operation);
sennit_status commit(Rank &rank, Plan &it, std::uint64_t first_epoch, std::uint64_t epoch_step);
sennit_status start(Rank &rank, Plan &it);
sennit_status wait(Plan &it);
// Errors: STATE.
sennit_status destroy(Rank &rank, Plan &it);
// The end of a rank.
void plans_close(Rank &rank);

// May the next run begin, as far as load and store see?
inline bool may_start_at_once(const Plan &it) {
    if (it.state != State::idle || !it.goes_at_once) return false;
    for (std::uint32_t i = 0; i < it.group_count; ++i) {
        const Group &group = it.groups[i];
        const signal::Attached &attached = *group.attached;
        const signal::Remote &remote = group.notified->remote;
        // relaxed twice: only equality counts; who detaches or frees meanwhile is wrong.
        if (attached.handle.load(std::memory_order_relaxed) != group.block.handle ||
            attached.live->load(std::memory_order_relaxed) != attached.live_value ||
            (!remote.is_none() &&
             !signal::takes(*remote.record, remote.signal.handle, it.next_epoch)))
            return false;
    }
    return true;
}

// Returns the end of the run.
inline const Move *run_moves(const Move *move, const Run &run) {
    const Move *const end = move + run.moves;
    if (run.bytes == sizeof(std::uint64_t)) {
        // Words go at one a cycle, which a loop would take for its counting.
#pragma GCC unroll 8
        for (; move != end; ++move)
            op::copy(move->to, move->from, sizeof(std::uint64_t));
    } else {
        for (; move != end; ++move)
            op::copy(move->to, move->from, run.bytes);
    }
    return end;
}

// Only after that. False: messages of a group were too many, which is the thread's error.
inline bool run_at_once(Plan &it) {
    const std::uint64_t epoch = it.next_epoch;
    it.next_epoch = epoch + it.epoch_step;
    bool is_surplus = false;
    const Move *move = it.moves;
    const Run *run = it.runs;
    for (std::uint32_t i = 0; i < it.group_count; ++i) {
        const Group &group = it.groups[i];
        for (const Run *end = run + group.run_count; run != end; ++run)
            move = run_moves(move, *run);
        const signal::Remote &remote = group.notified->remote;
        if (!remote.is_none() && !signal::count_whole(remote, group.notified->expected, epoch,
                                                      group.messages)) [[unlikely]]
            is_surplus = true;
    }
    if (!is_surplus) it.state = State::running;
    return !is_surplus;
}

}  // namespace sennit::plan
