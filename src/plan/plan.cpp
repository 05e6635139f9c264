// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <tuple>

#include "base/fail.hpp"
#include "op/rma.hpp"

namespace sennit::plan {
namespace {

constexpr std::uint32_t kMostOperations = 1u << 28;

sennit_status no_memory() {
    return fail(SENNIT_ERR_NOMEM, "no memory for the operations of a plan");
}

// Frees the results of commit().
void free_committed(Plan &plan) {
    for (std::uint32_t i = 0; i < plan.group_count; ++i)
        op::layout_free(plan.groups[i].packed);
    std::free(plan.words.pairs);
    plan.words = {};
    plan.groups = {};
    plan.moves = {};
    plan.ranges = {};
    plan.group_count = plan.move_count = plan.range_count = 0;
    plan.checked_parts = {};
    plan.executed_parts = {};
    plan.notices = {};
    plan.named = {};
    plan.local = {};
    plan.local_count = 0;
}

// Resets the plan.
void free_plan(Plan &plan) {
    free_committed(plan);
    for (std::uint32_t i = 0; i < plan.operation_count; ++i)
        op::layout_free(const_cast<op::Layout *>(plan.operations[i].layout));
    std::free(plan.operations);
    plan.~Plan();
    new (&plan) Plan;
}

bool grow(Plan &plan) {
    const std::uint32_t room = plan.operation_room == 0 ? 16 : plan.operation_room * 2;
    if (room > kMostOperations) return false;
    void *more = std::realloc(plan.operations, sizeof(RecordedOperation) * room);
    if (more == nullptr) return false;
    plan.operations = static_cast<RecordedOperation *>(more);
    plan.operation_room = room;
    return true;
}

const signal::Notified &notified_of(const signal::Attached &attached, op::Direction direction) {
    return direction == op::Direction::put ? attached.put : attached.get;
}

// An operation while commit sorts all operations into groups.
struct SortedOperation {
    const signal::Notified *notified;  // of the group
    std::uint32_t first;               // the first operation of the group
    std::uint32_t operation;
};

bool share_signal(const RecordedOperation &a, const RecordedOperation &b) {
    return a.block.handle == b.block.handle && a.direction == b.direction &&
           signal::name_of(a.remote_signal) == signal::name_of(b.remote_signal);
}

// Finds the signal of each operation. Consecutive operations with the same block and direction that
// name the same signal share one look-up.
sennit_status find_signals(Rank &rank, Plan &plan, SortedOperation *sorted) {
    std::uint32_t named = 0;
    for (std::uint32_t i = 0; i < plan.operation_count; ++i) {
        const RecordedOperation &operation = plan.operations[i];
        const signal::Attached *attached = signal::find_attached(rank, operation.block);
        if (attached == nullptr) return fail_not_attached(plan);
        const signal::Notified *notified = &notified_of(*attached, operation.direction);
        const sennit_signal signal = operation.remote_signal;
        if (signal.handle != 0 &&
            signal::name_of(signal) != signal::name_of(notified->remote.signal)) {
            notified = &plan.named[named];
            if (i != 0 && share_signal(operation, plan.operations[i - 1])) {
                notified = sorted[i - 1].notified;
            } else {
                const sennit_status status =
                    signal::reach_notified(rank, signal, 0, &plan.named[named++]);
                if (status != SENNIT_OK) return status;
            }
        }
        sorted[i] = {notified, 0, i};
    }
    return SENNIT_OK;
}

// Sorts all operations into groups and makes the groups. The groups, and the operations within a
// group, keep the recorded order.
sennit_status make_groups(Rank &rank, Plan &plan, SortedOperation *sorted) {
    const std::uint32_t count = plan.operation_count;
    const sennit_status status = find_signals(rank, plan, sorted);
    if (status != SENNIT_OK) return status;
    std::sort(sorted, sorted + count, [](const SortedOperation &a, const SortedOperation &b) {
        return std::tie(a.notified, a.operation) < std::tie(b.notified, b.operation);
    });
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool is_same_group = i != 0 && sorted[i].notified == sorted[i - 1].notified;
        sorted[i].first = is_same_group ? sorted[i - 1].first : sorted[i].operation;
    }
    std::sort(sorted, sorted + count, [](const SortedOperation &a, const SortedOperation &b) {
        return std::tie(a.first, a.operation) < std::tie(b.first, b.operation);
    });
    for (std::uint32_t i = 0; i < count; ++i) {
        if (sorted[i].operation == sorted[i].first) {
            const sennit_peer_block block = plan.operations[sorted[i].operation].block;
            plan.groups[plan.group_count++] = BlockGroup{
                block,  signal::find_attached(rank, block), sorted[i].notified, 0, 0, false, 0,
                nullptr};
        }
        ++plan.groups[plan.group_count - 1].messages;
    }
    return SENNIT_OK;
}

// A group with a signal, for sorting the groups by signal.
struct CountedGroup {
    std::uint64_t signal;
    std::uint32_t group;
};

sennit_status too_many(const BlockGroup &group, std::uint64_t messages) {
    return fail(SENNIT_ERR_ARG,
                "%llu operation%s of the plan count%s in signal %#x of rank %d, which expects %u "
                "event%s in an epoch",
                static_cast<unsigned long long>(messages), plural(messages), singular(messages),
                group.notified->remote.signal.handle, group.notified->remote.signal.rank,
                group.notified->expected.events, plural(group.notified->expected.events));
}

// Checks that no signal gets more events than it expects; several groups may share a signal.
sennit_status check_groups(const Plan &plan, CountedGroup *counted) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < plan.group_count; ++i) {
        const signal::RemoteSignal &remote = plan.groups[i].notified->remote;
        if (!remote.is_none()) counted[count++] = {signal::name_of(remote.signal), i};
    }
    std::sort(counted, counted + count, [](const CountedGroup &a, const CountedGroup &b) {
        return std::tie(a.signal, a.group) < std::tie(b.signal, b.group);
    });
    std::uint64_t messages = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const BlockGroup &group = plan.groups[counted[i].group];
        messages += group.messages;
        if (i + 1 != count && counted[i + 1].signal == counted[i].signal) continue;
        if (messages > group.notified->expected.events) return too_many(group, messages);
        messages = 0;
    }
    return SENNIT_OK;
}

bool continues(const Move &last, const Move &next) {
    return last.to + last.bytes == next.to && last.from + last.bytes == next.from;
}

// An upper bound on the number of moves.
std::uint64_t move_bound(const Plan &plan) {
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < plan.operation_count; ++i) {
        const op::Layout *layout = plan.operations[i].layout;
        count += layout == nullptr ? 1 : op::run_count(*layout);
    }
    return count;
}

// Adds a move, or extends the last move of the same group if the new one continues it. `first`: the
// number of moves before the group.
void add_move(Plan &plan, std::uint32_t first, const Move &next) {
    if (plan.move_count > first && continues(plan.moves[plan.move_count - 1], next))
        plan.moves[plan.move_count - 1].bytes += next.bytes;
    else
        plan.moves[plan.move_count++] = next;
}

// Makes the moves of a group, in the recorded order.
void make_moves(Plan &plan, BlockGroup &group, const SortedOperation *sorted) {
    const std::uint32_t first = plan.move_count;
    for (std::uint32_t i = 0; i < group.messages; ++i) {
        const RecordedOperation &operation = plan.operations[sorted[i].operation];
        std::byte *place = group.attached->base + operation.offset;
        const bool is_put = operation.direction == op::Direction::put;
        op::Cursor cursor;
        for (std::uint64_t at = 0; at < operation.bytes;) {
            op::LayoutPart part{0, 0, operation.bytes};
            if (operation.layout != nullptr) part = layout_part(*operation.layout, at, &cursor);
            std::byte *const there = place + part.remote;
            std::byte *const here = operation.local + part.local;
            add_move(plan, first, {is_put ? there : here, is_put ? here : there, part.bytes});
            at += part.bytes;
        }
    }
    for (std::uint32_t i = first; i < plan.move_count; ++i) {
        if (group.range_count == 0 ||
            plan.ranges[plan.range_count - 1].bytes != plan.moves[i].bytes) {
            plan.ranges[plan.range_count++] = MoveRange{plan.moves[i].bytes, 0};
            ++group.range_count;
        }
        ++plan.ranges[plan.range_count - 1].moves;
    }
}

// Whether all moves are words of one group, so that a start checks only one group.
bool is_of_words(const Plan &plan) {
    for (std::uint32_t i = 0; i < plan.range_count; ++i)
        if (plan.ranges[i].bytes != sizeof(std::uint64_t)) return false;
    return plan.goes_at_once && plan.move_count != 0 && plan.group_count == 1;
}

// Makes the word moves if all sources are within 4 GiB of each other and all destinations are, too.
// Returns false if there is no memory.
bool make_words(Plan &plan) {
    WordMoves words{nullptr, plan.moves[0].to, plan.moves[0].from};
    for (std::uint32_t i = 1; i < plan.move_count; ++i) {
        words.to = std::min(words.to, plan.moves[i].to);
        words.from = std::min(words.from, plan.moves[i].from);
    }
    const auto is_far = [&words](const Move &move) {
        return move.to - words.to > UINT32_MAX || move.from - words.from > UINT32_MAX;
    };
    const Move *const moves = plan.moves;
    if (std::any_of(moves, moves + plan.move_count, is_far)) return true;
    words.pairs = static_cast<std::uint64_t *>(std::malloc(sizeof *words.pairs * plan.move_count));
    if (words.pairs == nullptr) return false;
    for (std::uint32_t i = 0; i < plan.move_count; ++i)
        words.pairs[i] = static_cast<std::uint64_t>(plan.moves[i].from - words.from) << 32 |
                         static_cast<std::uint64_t>(plan.moves[i].to - words.to);
    plan.words = words;
    return true;
}

bool is_by_pointer_group(const BlockGroup &group) {
    // relaxed: this rank has attached the block.
    return group.attached->short_handle.load(std::memory_order_relaxed) == group.block.handle &&
           (group.notified->remote.is_none() || group.notified->remote.record != nullptr);
}

bool make_room(BatchParts *made, std::size_t room) {
    made->parts = Array<sennit_notify_part>(room);
    made->directions = Array<op::Direction>(room);
    made->layouts = Array<const op::Layout *>(room);
    return made->parts != nullptr && made->directions != nullptr && made->layouts != nullptr;
}

void add_part(BatchParts *parts, const Plan &plan, std::uint32_t group,
              const RecordedOperation &operation) {
    parts->parts[parts->count] =
        sennit_notify_part{operation.block, SENNIT_OK,       operation.offset,
                           operation.local, operation.bytes, &plan.notices[group]};
    parts->directions[parts->count] = operation.direction;
    parts->layouts[parts->count] = operation.layout;
    ++parts->count;
}

// Makes the parts of a group. Adjacent operations become one part.
void make_pieces(Plan &plan, std::uint32_t number, const SortedOperation *sorted) {
    BlockGroup &group = plan.groups[number];
    BatchParts &parts = plan.executed_parts;
    const std::uint32_t first = parts.count;
    for (std::uint32_t i = 0; i < group.messages; ++i) {
        const RecordedOperation &operation = plan.operations[sorted[i].operation];
        if (operation.bytes == 0) continue;
        if (parts.count > first && operation.layout == nullptr &&
            parts.layouts[parts.count - 1] == nullptr) {
            sennit_notify_part &last = parts.parts[parts.count - 1];
            if (last.offset + last.bytes == operation.offset &&
                static_cast<std::byte *>(last.local) + last.bytes == operation.local) {
                last.bytes += operation.bytes;
                continue;
            }
        }
        add_part(&parts, plan, number, operation);
    }
    group.part_count = parts.count - first;
}

// Sets goes_by_message: whether all parts of the group need messages.
sennit_status set_goes_by_message(Rank &rank, BlockGroup *group) {
    const signal::RemoteSignal &remote = group->notified->remote;
    op::Target target;
    const sennit_status status =
        op::message_target(rank, group->attached->gptr, 0, &target, &group->goes_by_message);
    group->goes_by_message &= remote.record == nullptr;
    return status;
}

sennit_status make_parts(Rank &rank, Plan &plan, const SortedOperation *sorted) {
    if (!make_room(&plan.checked_parts, std::size_t{plan.group_count} + 1) ||
        !make_room(&plan.executed_parts, std::size_t{plan.operation_count} + 1))
        return no_memory();
    plan.notices = Array<sennit_notice>(plan.group_count);
    if (plan.notices == nullptr) return no_memory();
    for (std::uint32_t i = 0; i < plan.group_count; ++i) {
        BlockGroup &group = plan.groups[i];
        sennit_status status = set_goes_by_message(rank, &group);
        if (status != SENNIT_OK) return status;
        const RecordedOperation &first = plan.operations[sorted->operation];
        plan.notices[i] = sennit_notice{first.remote_signal, SENNIT_SIGNAL_NULL, 0, 0};
        make_pieces(plan, i, sorted);
        const std::uint32_t first_part = plan.executed_parts.count - group.part_count;
        status = pack_group(rank, plan, &group, first_part);
        if (status != SENNIT_OK) return status;
        sorted += group.messages;
        if (group.goes_by_message && !group.notified->remote.is_none())
            add_part(&plan.checked_parts, plan, i, {group.block, first.direction, 0, nullptr, 0});
    }
    return SENNIT_OK;
}

// Makes everything that a start needs. Takes as long as sorting the operations.
sennit_status make_all(Rank &rank, Plan &plan, SortedOperation *sorted, CountedGroup *counted) {
    const std::size_t room = std::size_t{plan.operation_count} + 1;
    plan.groups = Array<BlockGroup>(room);
    const std::uint64_t moves = move_bound(plan);
    if (moves > kMostOperations) return no_memory();
    plan.moves = Array<Move>(moves + 1);
    plan.ranges = Array<MoveRange>(moves + 1);
    plan.named = Array<signal::Notified>(room);
    if (plan.groups == nullptr || plan.moves == nullptr || plan.ranges == nullptr ||
        plan.named == nullptr)
        return no_memory();
    sennit_status status = make_groups(rank, plan, sorted);
    if (status == SENNIT_OK) status = check_groups(plan, counted);
    if (status == SENNIT_OK) status = make_local(rank, plan);
    if (status != SENNIT_OK) return status;
    plan.is_by_pointer = true;
    plan.has_events = false;
    for (std::uint32_t i = 0; i < plan.group_count; ++i) {
        plan.is_by_pointer &= is_by_pointer_group(plan.groups[i]);
        plan.has_events |= !plan.groups[i].notified->remote.is_none();
    }
    const bool is_short = plan.is_by_pointer && plan.local_count == 0;
    plan.goes_at_once = is_short && !plan.is_current();
    plan.goes_in_current = is_short && plan.is_current();
    const SortedOperation *of_group = sorted;
    for (std::uint32_t i = 0; plan.is_by_pointer && i < plan.group_count; ++i) {
        make_moves(plan, plan.groups[i], of_group);
        of_group += plan.groups[i].messages;
    }
    if (is_of_words(plan) && !make_words(plan)) return no_memory();
    return plan.is_by_pointer ? SENNIT_OK : make_parts(rank, plan, sorted);
}

}  // namespace

sennit_status check_state(const Plan &plan, PlanState wanted, const char *why) {
    return plan.state == wanted ? SENNIT_OK
                                : fail(SENNIT_ERR_STATE, "plan %#x: %s", handle_of(plan), why);
}

sennit_status fail_not_attached(const Plan &plan) {
    return fail(SENNIT_ERR_ARG, "plan %#x has a block that is no longer attached", handle_of(plan));
}

sennit_status create(Rank &rank, sennit_plan *plan) {
    const ColdLock lock(rank);
    Plans *all = make_once(rank.plans);
    if (all == nullptr) return no_memory();
    Plan *const made = all->take();
    if (made == nullptr) return fail_no_place(all->is_full(), Plans::kMost, "plans");
    plan->handle = all->publish(*new (made) Plan);
    return SENNIT_OK;
}

sennit_status record(Rank &rank, Plan &plan, const RecordedOperation &operation) {
    sennit_status status = check_state(plan, PlanState::recording, "it was committed already");
    if (status != SENNIT_OK) return status;
    if (operation.local == nullptr && operation.bytes != 0)
        return fail(SENNIT_ERR_ARG, "the private buffer is null");
    const signal::Attached *attached = signal::find_attached(rank, operation.block);
    if (attached == nullptr) return signal::fail_not_attached(operation.block);
    status = signal::check_inside(*attached, operation.offset, operation.bytes, operation.layout);
    if (status != SENNIT_OK) return status;
    if (operation.remote_signal.handle != 0 && operation.remote_signal.rank != attached->gptr.rank)
        return fail(SENNIT_ERR_ARG, "the signal belongs to rank %d, but the block to rank %d",
                    operation.remote_signal.rank, attached->gptr.rank);
    if (operation.local_signal.handle != 0 &&
        signal::find_own(rank, operation.local_signal) == nullptr)
        return fail_not_own(operation.local_signal);
    if (plan.operation_count == plan.operation_room && !grow(plan)) return no_memory();
    const op::Layout *const layout =
        operation.layout == nullptr ? nullptr : op::layout_copy(*operation.layout);
    if (layout == nullptr && operation.layout != nullptr) return no_memory();
    RecordedOperation &made = plan.operations[plan.operation_count++];
    made = operation;
    made.layout = layout;
    return SENNIT_OK;
}

sennit_status commit(Rank &rank, Plan &plan, std::uint64_t first_epoch, std::uint64_t epoch_step) {
    sennit_status status = check_state(plan, PlanState::recording, "it was committed already");
    if (status != SENNIT_OK) return status;
    if (first_epoch == SENNIT_EPOCH_NEXT)
        return fail(SENNIT_ERR_ARG, "the epochs of a plan are numbers, or SENNIT_EPOCH_CURRENT");
    if (first_epoch == SENNIT_EPOCH_CURRENT && epoch_step != 0)
        return fail(SENNIT_ERR_ARG, "SENNIT_EPOCH_CURRENT needs a step of 0, but the step is %llu",
                    static_cast<unsigned long long>(epoch_step));
    free_committed(plan);  // from an earlier commit that failed
    plan.next_epoch = first_epoch;
    plan.epoch_step = epoch_step;
    const std::size_t room = std::size_t{plan.operation_count} + 1;
    const Array<SortedOperation> sorted(room);
    const Array<CountedGroup> counted(room);
    status = sorted == nullptr || counted == nullptr ? no_memory()
                                                     : make_all(rank, plan, sorted, counted);
    if (status != SENNIT_OK) return status;
    plan.state = PlanState::idle;
    return SENNIT_OK;
}

sennit_status destroy(Rank &rank, Plan &plan) {
    if (plan.state == PlanState::running)
        return check_state(plan, PlanState::idle, "its last run was not waited for");
    const ColdLock lock(rank);
    made_once(rank.plans)->give_back(plan);
    free_plan(plan);
    return SENNIT_OK;
}

void plans_close(Rank &rank) {
    // relaxed: the rank is ended by one thread.
    Plans *all = rank.plans.exchange(nullptr, std::memory_order_relaxed);
    if (all == nullptr) return;
    all->each(free_plan);
    all->close();
    delete all;
}

}  // namespace sennit::plan
