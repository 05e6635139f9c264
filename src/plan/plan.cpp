// See plan.hpp.
#include "plan/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <tuple>

#include "base/fail.hpp"
#include "runtime/whole_call.hpp"

namespace sennit::plan {
namespace {

constexpr std::uint32_t kMostOperations = 1u << 28;

sennit_status no_memory() {
    return fail(SENNIT_ERR_NOMEM, "no memory for the operations of a plan");
}

sennit_status check_state(const Plan &it, State wanted, const char *why) {
    return it.state == wanted ? SENNIT_OK : fail(SENNIT_ERR_STATE, "plan %#x: %s", it.handle, why);
}

void free_parts(Parts *it) {
    std::free(it->parts);
    std::free(it->pieces);
    *it = Parts{};
}

// What commit has made.
void free_committed(Plan &it) {
    std::free(it.groups);
    std::free(it.moves);
    std::free(it.runs);
    std::free(it.words.pairs);
    it.words = Words{};
    it.groups = nullptr;
    it.moves = nullptr;
    it.runs = nullptr;
    it.group_count = it.move_count = it.run_count = 0;
    free_parts(&it.looked_at);
    free_parts(&it.carried_out);
}

void free_plan(Plan *it) {
    free_committed(*it);
    std::free(it->operations);
    delete it;
}

bool grow(Plan &it) {
    const std::uint32_t room = it.operation_room == 0 ? 16 : it.operation_room * 2;
    if (room > kMostOperations) return false;
    void *more = std::realloc(it.operations, sizeof(Operation) * room);
    if (more == nullptr) return false;
    it.operations = static_cast<Operation *>(more);
    it.operation_room = room;
    return true;
}

const signal::Notified &notified_of(const signal::Attached &attached, op::Direction direction) {
    return direction == op::Direction::put ? attached.put : attached.get;
}

sennit_status not_attached(const Plan &it) {
    return fail(SENNIT_ERR_ARG, "plan %#x has a block that is not attached any more", it.handle);
}

// An operation where its group has it.
struct Ordered {
    const signal::Notified *notified;  // of its group
    std::uint32_t first;               // the first operation of the group
    std::uint32_t operation;
};

// Sorts all operations into groups, in the order in which the groups and the operations of each
// were recorded, and makes the groups.
sennit_status make_groups(Rank &rank, Plan &it, Ordered *ordered) {
    const std::uint32_t count = it.operation_count;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Operation &operation = it.operations[i];
        const signal::Attached *attached = signal::find_attached(rank, operation.block);
        if (attached == nullptr) return not_attached(it);
        ordered[i] = {&notified_of(*attached, operation.direction), 0, i};
    }
    std::sort(ordered, ordered + count, [](const Ordered &a, const Ordered &b) {
        return std::tie(a.notified, a.operation) < std::tie(b.notified, b.operation);
    });
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool goes_on = i != 0 && ordered[i].notified == ordered[i - 1].notified;
        ordered[i].first = goes_on ? ordered[i - 1].first : ordered[i].operation;
    }
    std::sort(ordered, ordered + count, [](const Ordered &a, const Ordered &b) {
        return std::tie(a.first, a.operation) < std::tie(b.first, b.operation);
    });
    for (std::uint32_t i = 0; i < count; ++i) {
        if (ordered[i].operation == ordered[i].first) {
            const sennit_peer_block block = it.operations[ordered[i].operation].block;
            it.groups[it.group_count++] =
                Group{block, signal::find_attached(rank, block), ordered[i].notified, 0, 0};
        }
        ++it.groups[it.group_count - 1].messages;
    }
    return SENNIT_OK;
}

// The messages of a group as its signal has them.
struct Counted {
    std::uint64_t signal;
    std::uint32_t group;
};

sennit_status too_many(const Group &group, std::uint64_t messages) {
    return fail(SENNIT_ERR_ARG,
                "%llu operations of the plan count in signal %#x of rank %d, which expects %u "
                "events in an epoch",
                static_cast<unsigned long long>(messages), group.notified->remote.signal.handle,
                group.notified->remote.signal.rank, group.notified->expected.events);
}

// Blocks may share a signal, which must take the messages of all their groups.
sennit_status check_groups(const Plan &it, Counted *counted) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < it.group_count; ++i) {
        const signal::Remote &remote = it.groups[i].notified->remote;
        if (!remote.is_none()) counted[count++] = {signal::name_of(remote.signal), i};
    }
    std::sort(counted, counted + count, [](const Counted &a, const Counted &b) {
        return std::tie(a.signal, a.group) < std::tie(b.signal, b.group);
    });
    std::uint64_t messages = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Group &group = it.groups[counted[i].group];
        messages += group.messages;
        if (i + 1 != count && counted[i + 1].signal == counted[i].signal) continue;
        if (messages > group.notified->expected.events) return too_many(group, messages);
        messages = 0;
    }
    return SENNIT_OK;
}

bool lies_behind(const Move &last, const Move &next) {
    return last.to + last.bytes == next.to && last.from + last.bytes == next.from;
}

// The moves of a group, in the order in which they were recorded.
void make_moves(Plan &it, Group &group, const Ordered *ordered) {
    const std::uint32_t first = it.move_count;
    for (std::uint32_t i = 0; i < group.messages; ++i) {
        const Operation &operation = it.operations[ordered[i].operation];
        if (operation.bytes == 0) continue;
        std::byte *place = group.attached->base + operation.offset;
        const bool is_put = operation.direction == op::Direction::put;
        const Move next{is_put ? place : operation.local, is_put ? operation.local : place,
                        operation.bytes};
        if (it.move_count > first && lies_behind(it.moves[it.move_count - 1], next)) {
            it.moves[it.move_count - 1].bytes += next.bytes;
            continue;
        }
        it.moves[it.move_count++] = next;
    }
    for (std::uint32_t i = first; i < it.move_count; ++i) {
        if (group.run_count == 0 || it.runs[it.run_count - 1].bytes != it.moves[i].bytes) {
            it.runs[it.run_count++] = Run{it.moves[i].bytes, 0};
            ++group.run_count;
        }
        ++it.runs[it.run_count - 1].moves;
    }
}

// Of one group, so that a start looks at one.
bool is_of_words(const Plan &it) {
    for (std::uint32_t i = 0; i < it.run_count; ++i)
        if (it.runs[i].bytes != sizeof(std::uint64_t)) return false;
    return it.goes_at_once && it.move_count != 0 && it.group_count == 1;
}

// Where all sources, and all destinations, lie within 4 GiB. False: no memory.
bool make_words(Plan &it) {
    Words words{nullptr, it.moves[0].to, it.moves[0].from};
    for (std::uint32_t i = 1; i < it.move_count; ++i) {
        words.to = std::min(words.to, it.moves[i].to);
        words.from = std::min(words.from, it.moves[i].from);
    }
    const auto lies_far = [&words](const Move &move) {
        return move.to - words.to > UINT32_MAX || move.from - words.from > UINT32_MAX;
    };
    if (std::any_of(it.moves, it.moves + it.move_count, lies_far)) return true;
    words.pairs = static_cast<std::uint64_t *>(std::malloc(sizeof *words.pairs * it.move_count));
    if (words.pairs == nullptr) return false;
    for (std::uint32_t i = 0; i < it.move_count; ++i)
        words.pairs[i] = static_cast<std::uint64_t>(it.moves[i].from - words.from) << 32 |
                         static_cast<std::uint64_t>(it.moves[i].to - words.to);
    it.words = words;
    return true;
}

bool is_at_once(const Group &group) {
    // relaxed: of this rank, which has attached the block.
    return group.attached->short_handle.load(std::memory_order_relaxed) == group.block.handle &&
           (group.notified->remote.is_none() || group.notified->remote.record != nullptr);
}

bool make_room(Parts *it, std::size_t room) {
    it->parts = static_cast<sennit_notify_part *>(std::malloc(sizeof *it->parts * room));
    it->pieces = static_cast<signal::Piece *>(std::malloc(sizeof *it->pieces * room));
    return it->parts != nullptr && it->pieces != nullptr;
}

void add_part(Parts *it, const Plan &plan, const Operation &operation, std::uint32_t messages) {
    it->parts[it->count] = sennit_notify_part{operation.block, SENNIT_OK,       operation.offset,
                                              operation.local, operation.bytes, &plan.notice};
    it->pieces[it->count] = signal::Piece{operation.direction, messages};
    ++it->count;
}

// The pieces of a group to which messages lead: what lies one behind the other is one, and the last
// of them counts all messages.
void make_pieces(Plan &it, const Group &group, const Ordered *ordered) {
    Parts &parts = it.carried_out;
    const std::uint32_t first = parts.count;
    for (std::uint32_t i = 0; i < group.messages; ++i) {
        const Operation &operation = it.operations[ordered[i].operation];
        if (operation.bytes == 0) continue;
        if (parts.count > first) {
            sennit_notify_part &last = parts.parts[parts.count - 1];
            if (last.offset + last.bytes == operation.offset &&
                static_cast<std::byte *>(last.local) + last.bytes == operation.local) {
                last.bytes += operation.bytes;
                continue;
            }
        }
        add_part(&parts, it, operation, 0);
    }
    if (parts.count == first) add_part(&parts, it, it.operations[ordered->operation], 0);
    parts.pieces[parts.count - 1].messages = group.messages;
}

bool is_by_message(const Group &group) {
    return group.attached->base == nullptr;
}

// First those to which messages lead, so that they are under way together.
bool make_parts(Plan &it, const Ordered *ordered) {
    if (!make_room(&it.looked_at, std::size_t{it.group_count} + 1) ||
        !make_room(&it.carried_out, std::size_t{it.operation_count} + 1))
        return false;
    const Ordered *of_group = ordered;
    for (std::uint32_t i = 0; i < it.group_count; of_group += it.groups[i++].messages) {
        const Group &group = it.groups[i];
        if (!is_by_message(group)) continue;
        make_pieces(it, group, of_group);
        const signal::Remote &remote = group.notified->remote;
        if (remote.is_none() || remote.record != nullptr) continue;
        const op::Direction direction = it.carried_out.pieces[it.carried_out.count - 1].direction;
        add_part(&it.looked_at, it, {group.block, direction, 0, nullptr, 0}, group.messages);
    }
    of_group = ordered;
    for (std::uint32_t i = 0; i < it.group_count; of_group += it.groups[i++].messages) {
        if (is_by_message(it.groups[i])) continue;
        for (std::uint32_t k = 0; k < it.groups[i].messages; ++k)
            add_part(&it.carried_out, it, it.operations[of_group[k].operation], 1);
    }
    return true;
}

// All that a start needs, in time that goes with the operations and not with their square.
sennit_status make_all(Rank &rank, Plan &it, Ordered *ordered, Counted *counted) {
    const std::size_t room = std::size_t{it.operation_count} + 1;
    it.groups = static_cast<Group *>(std::malloc(sizeof(Group) * room));
    it.moves = static_cast<Move *>(std::malloc(sizeof(Move) * room));
    it.runs = static_cast<Run *>(std::malloc(sizeof(Run) * room));
    if (it.groups == nullptr || it.moves == nullptr || it.runs == nullptr) return no_memory();
    sennit_status status = make_groups(rank, it, ordered);
    if (status == SENNIT_OK) status = check_groups(it, counted);
    if (status != SENNIT_OK) return status;
    it.goes_at_once = true;
    it.has_events = false;
    for (std::uint32_t i = 0; i < it.group_count; ++i) {
        it.goes_at_once &= is_at_once(it.groups[i]);
        it.has_events |= !it.groups[i].notified->remote.is_none();
    }
    const Ordered *of_group = ordered;
    for (std::uint32_t i = 0; it.goes_at_once && i < it.group_count; ++i) {
        make_moves(it, it.groups[i], of_group);
        of_group += it.groups[i].messages;
    }
    if (is_of_words(it) && !make_words(it)) return no_memory();
    if (!it.goes_at_once && !make_parts(it, ordered)) return no_memory();
    return SENNIT_OK;
}

template <class Copy>
void move_each(const Move *move, const Run &run, Copy copy) {
    const std::uint64_t bytes = run.bytes;  // no move changes it
    for (const Move *const end = move + run.moves; move != end; ++move)
        copy(move->to, move->from, bytes);
}

// What is asked of a size is asked once for the run. Returns its end.
const Move *move_run(const Move *move, const Run &run) {
    const Move *const end = move + run.moves;
    if (run.bytes == sizeof(std::uint64_t)) {
        // Words go at one a cycle, which a loop would take for its counting.
#pragma GCC unroll 8
        for (; move != end; ++move)
            copy_any(move->to, move->from, sizeof(std::uint64_t));
    } else if (run.bytes <= kShortBytes) {
        move_each(move, run, copy_short);
    } else if (run.bytes <= kMiddleBytes) {
        move_each(move, run, copy_middle);
    } else {
        move_each(move, run, copy_bytes);
    }
    return end;
}

// False: too many, and taken back.
bool count_group(const Group &group, std::uint64_t epoch) {
    const signal::Remote &remote = group.notified->remote;
    return remote.is_none() ||
           signal::count_whole(remote, group.notified->expected, epoch, group.messages);
}

signal::Batch batch_of(const Parts &it) {
    return {op::Direction::put, it.parts, it.count, it.pieces};
}

sennit_status run_together(Rank &rank, Plan &it, std::uint64_t epoch) {
    it.notice.epoch = epoch;
    std::size_t done = 0;
    return signal::notify_batch(rank, batch_of(it.carried_out), &done);
}

// Each operation by itself.
sennit_status run_one_by_one(Rank &rank, Plan &it, std::uint64_t epoch) {
    for (std::uint32_t i = 0; i < it.operation_count; ++i) {
        const Operation &operation = it.operations[i];
        signal::Attached *attached = signal::find_attached(rank, operation.block);
        if (attached == nullptr) return not_attached(it);
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch};
        const sennit_status status = signal::notify(
            rank, *attached,
            {operation.direction, operation.offset, operation.local, operation.bytes, &notice});
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// Nothing may move before all may.
sennit_status check_start(Rank &rank, Plan &it) {
    for (std::uint32_t i = 0; i < it.group_count; ++i) {
        const Group &group = it.groups[i];
        const signal::Attached *attached = signal::find_attached(rank, group.block);
        if (attached == nullptr) return not_attached(it);
        sennit_status status = signal::check_lives(rank, *attached);
        if (status != SENNIT_OK) return status;
        const signal::Remote &remote = group.notified->remote;
        if (remote.is_none() || (is_by_message(group) && remote.record == nullptr)) continue;
        signal::Seen seen{};
        status = signal::check_epoch(rank, remote, it.next_epoch, &seen);
        if (status != SENNIT_OK) return status;
    }
    it.notice.epoch = it.next_epoch;
    return signal::look_at_batch(rank, batch_of(it.looked_at));
}

}  // namespace

bool run_groups(Plan &it) {
    const std::uint64_t epoch = it.next_epoch;
    it.next_epoch = epoch + it.epoch_step;
    bool is_counted = true;
    const Move *move = it.moves;
    const Run *run = it.runs;
    for (std::uint32_t i = 0; i < it.group_count; ++i) {
        const Group &group = it.groups[i];
        for (const Run *end = run + group.run_count; run != end; ++run)
            move = move_run(move, *run);
        is_counted &= count_group(group, epoch);
    }
    if (is_counted) it.state = State::running;
    return is_counted;
}

bool count_words(Plan &it) {
    const std::uint64_t epoch = it.next_epoch;
    it.next_epoch = epoch + it.epoch_step;
    const bool is_counted = count_group(it.groups[0], epoch);
    if (is_counted) it.state = State::running;
    return is_counted;
}

sennit_status create(Rank &rank, sennit_plan *plan) {
    const ColdLock lock(rank);
    Plans *all = make_once(rank.plans);
    if (all == nullptr) return no_memory();
    auto *made = new (std::nothrow) Plan;
    if (made == nullptr) return no_memory();
    if (!all->put(made)) {
        delete made;
        if (!all->is_full()) return no_memory();
        return fail(SENNIT_ERR_NOMEM, "the rank has %u plans, which is the most", Plans::kMost);
    }
    plan->handle = made->handle;
    return SENNIT_OK;
}

sennit_status record(Rank &rank, Plan &it, const Operation &operation) {
    const sennit_status status = check_state(it, State::recording, "it was committed already");
    if (status != SENNIT_OK) return status;
    if (operation.local == nullptr && operation.bytes != 0)
        return fail(SENNIT_ERR_ARG, "the private buffer is null");
    const signal::Attached *attached = signal::find_attached(rank, operation.block);
    if (attached == nullptr)
        return fail(SENNIT_ERR_ARG, "%#x is no block that this rank has attached",
                    operation.block.handle);
    if (operation.offset > attached->bytes || operation.bytes > attached->bytes - operation.offset)
        return fail_peer(SENNIT_ERR_RANGE, attached->gptr.rank, "",
                         "%llu bytes at offset %llu leave the block of %llu bytes",
                         static_cast<unsigned long long>(operation.bytes),
                         static_cast<unsigned long long>(operation.offset),
                         static_cast<unsigned long long>(attached->bytes));
    if (it.operation_count == it.operation_room && !grow(it)) return no_memory();
    it.operations[it.operation_count++] = operation;
    return SENNIT_OK;
}

sennit_status commit(Rank &rank, Plan &it, std::uint64_t first_epoch, std::uint64_t epoch_step) {
    sennit_status status = check_state(it, State::recording, "it was committed already");
    if (status != SENNIT_OK) return status;
    free_committed(it);  // of an attempt that failed
    const std::size_t room = std::size_t{it.operation_count} + 1;
    auto *ordered = static_cast<Ordered *>(std::malloc(sizeof(Ordered) * room));
    auto *counted = static_cast<Counted *>(std::malloc(sizeof(Counted) * room));
    status = ordered == nullptr || counted == nullptr ? no_memory()
                                                      : make_all(rank, it, ordered, counted);
    std::free(ordered);
    std::free(counted);
    if (status != SENNIT_OK) return status;
    it.next_epoch = first_epoch;
    it.epoch_step = epoch_step;
    it.state = State::idle;
    return SENNIT_OK;
}

sennit_status start(Rank &rank, Plan &it) {
    if (it.state != State::idle)
        return check_state(it, State::idle,
                           it.state == State::recording ? "it was not committed"
                                                        : "its last run was not waited for");
    const WholeCall call;
    sennit_status status = check_start(rank, it);
    if (status != SENNIT_OK) return status;
    const std::uint64_t epoch = it.next_epoch;
    it.next_epoch = epoch + it.epoch_step;
    status = it.goes_at_once ? run_one_by_one(rank, it, epoch) : run_together(rank, it, epoch);
    if (status == SENNIT_OK) it.state = State::running;
    return status;
}

sennit_status wait(Plan &it) {
    const sennit_status status = check_state(it, State::running, "no run was started");
    if (status == SENNIT_OK) it.state = State::idle;
    return status;
}

sennit_status destroy(Rank &rank, Plan &it) {
    if (it.state == State::running)
        return check_state(it, State::idle, "its last run was not waited for");
    const ColdLock lock(rank);
    made_once(rank.plans)->remove(it);
    free_plan(&it);
    return SENNIT_OK;
}

void plans_close(Rank &rank) {
    // relaxed: the rank is ended by one thread.
    Plans *all = rank.plans.exchange(nullptr, std::memory_order_relaxed);
    if (all == nullptr) return;
    all->each(free_plan);
    delete all;
}

}  // namespace sennit::plan
