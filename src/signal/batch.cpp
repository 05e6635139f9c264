// Notified puts and gets of a batch. What load and store reach goes part by part. Where messages
// lead, parts are under way together, in the steps of a single call: all look, all move, all count.
// So a batch takes as many trips as one of them, and its order still holds where it counts: nothing
// moves for a part before all parts ahead of it were let in, and no event is counted before the
// data of all parts ahead of it is there. A plan looks at its signals by itself, before any of its
// parts moves, and counts all messages of a signal with the last of its pieces.
#include "signal/batch.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "op/engine.hpp"
#include "request/request.hpp"
#include "runtime/whole_call.hpp"
#include "signal/carried.hpp"
#include "signal/messages.hpp"
#include "signal/prepared.hpp"

namespace sennit::signal {
namespace {

using op::Completion;
using op::Direction;

constexpr std::size_t kTogether = 32;  // parts under way at a time
// Of a part that has had no end yet.
constexpr sennit_status kNoneYet = SENNIT_ERR_INTERNAL;

// A part on its way.
struct Flying {
    Prepared prepared;
    std::uint32_t messages = 1;
    Seen seen{};
    RecordCopy copy{};
    std::uint64_t counter = 0;
    bool fires = false;
    sennit_status status = SENNIT_OK;  // of its steps so far
    sennit_request request{};          // of the present one

    bool is_by_message() const {
        return prepared.remote.record == nullptr && !prepared.remote.is_none();
    }
};

struct Group {
    Rank &rank;
    const Batch &batch;
    const std::size_t first;  // number of its first part in the batch
    std::size_t count = 0;    // those that go on
    Flying parts[kTogether];
    std::size_t failed = kTogether;  // the first part that did, and how
    sennit_status status = SENNIT_OK;
    sennit_error why{};

    Group(Rank &the_rank, const Batch &the_batch, std::size_t the_first)
        : rank(the_rank), batch(the_batch), first(the_first) {}
};

Notifying wish_of(const Batch &batch, std::size_t number) {
    const sennit_notify_part &part = batch.parts[number];
    const Direction direction =
        batch.pieces != nullptr ? batch.pieces[number].direction : batch.direction;
    return {direction, part.offset, part.local, part.bytes, part.notice};
}

sennit_status no_block(sennit_peer_block block) {
    return fail(SENNIT_ERR_ARG, "%#x is no block that this rank has attached", block.handle);
}

// The error of the part is in the thread's error.
void note_failure(Group &group, std::size_t number, sennit_status status) {
    group.parts[number].status = status;
    if (number >= group.failed) return;
    group.failed = number;
    group.status = status;
    group.why = *thread_error();
}

// What goes on where a part fails: the parts ahead of it alone, or all.
enum class After : std::uint8_t { those_ahead, all };

// Starts something for each part that wants it, and waits for all of that.
template <class Wants, class Start>
void take_step(Group &group, After after, bool is_kept, Wants wants, Start start) {
    std::size_t begun = 0;
    for (; begun < group.count; ++begun) {
        Flying &part = group.parts[begun];
        part.request = SENNIT_REQUEST_NULL;
        if (part.status != SENNIT_OK || !wants(part)) continue;
        const sennit_status status =
            start(part, begun, Completion{Completion::Mode::request, &part.request, is_kept});
        if (status == SENNIT_OK) continue;
        note_failure(group, begun, status);
        if (after == After::those_ahead) break;
    }
    const Deadline deadline = default_deadline();
    for (std::size_t i = 0; i < begun; ++i) {
        Flying &part = group.parts[i];
        if (part.request.handle == 0) continue;
        const sennit_status status = request::wait(group.rank, &part.request, deadline);
        // The wait was over first: the operation goes on by itself.
        op::engine_abandon(group.rank, part.request);
        if (status != SENNIT_OK) note_failure(group, i, status);
    }
    if (after == After::those_ahead) group.count = std::min(group.count, group.failed);
}

// Does what is known of the part depend on one that is in the group already? Which epoch is its
// own may, and whether its local signal takes one more event.
bool depends_on_group(const Group &group, const Prepared &next, const sennit_notice *notice) {
    std::uint32_t local_events = 0;
    for (std::size_t i = 0; i < group.count; ++i) {
        const Prepared &before = group.parts[i].prepared;
        if (next.notified != nullptr && !next.remote.is_none() &&
            next.notified == before.notified &&
            (notice == nullptr || notice->epoch != before.epoch))
            return true;
        if (!next.local.is_none() && before.local.signal.handle == next.local.signal.handle)
            ++local_events;
    }
    if (local_events == 0) return false;
    const Own *own = find_own(group.rank, next.local.signal);
    std::uint32_t left = 0;
    return own == nullptr || remaining(*own, &left) != SENNIT_OK || left <= local_events;
}

// The part of a plan: its signal was looked at, and what it expects is known since it was attached.
void take_piece(const Piece &piece, Flying *part) {
    part->messages = piece.messages;
    if (piece.messages == 0) part->prepared.remote = Remote{};
    part->seen.expected = part->prepared.notified->expected;
}

void gather(Group &group) {
    const Batch &batch = group.batch;
    const std::size_t most = std::min(kTogether, batch.count - group.first);
    for (; group.count < most; ++group.count) {
        const std::size_t number = group.first + group.count;
        const sennit_peer_block block = batch.parts[number].block;
        Attached *it = find_attached(group.rank, block);
        if (it != nullptr && it->base != nullptr) return;
        Flying &part = group.parts[group.count];
        const sennit_status status =
            it == nullptr ? no_block(block)
                          : prepare(group.rank, *it, wish_of(batch, number), &part.prepared);
        if (status != SENNIT_OK) return note_failure(group, group.count, status);
        if (depends_on_group(group, part.prepared, batch.parts[number].notice)) return;
        if (batch.pieces != nullptr) take_piece(batch.pieces[number], &part);
    }
}

// What messages left that have failed comes first: they may be of the same signals.
void settle_all(Group &group) {
    for (std::size_t i = 0; i < group.count; ++i) {
        if (!group.parts[i].is_by_message()) continue;
        const sennit_status status =
            op::engine_await_acks(group.rank, group.parts[i].prepared.place.rank, op::AckWait::all);
        if (status == SENNIT_OK) continue;
        note_failure(group, i, status);
        group.count = i;
        return;
    }
}

// Which of them are let in?
void look_all(Group &group) {
    take_step(
        group, After::those_ahead, true,
        [](const Flying &part) { return !part.prepared.remote.is_none(); },
        [&](Flying &part, std::size_t, const Completion &how) {
            const Prepared &it = part.prepared;
            return part.is_by_message() ? start_look(group.rank, it.remote, &part.copy, how)
                                        : check_epoch(group.rank, it.remote, it.epoch, &part.seen);
        });
    for (std::size_t i = 0; i < group.count; ++i) {
        Flying &part = group.parts[i];
        if (!part.is_by_message()) continue;
        part.seen = seen_in(part.copy);
        const sennit_status status =
            judge_epoch(group.rank, part.prepared.remote, part.prepared.epoch, part.seen);
        if (status == SENNIT_OK) continue;
        note_failure(group, i, status);
        group.count = i;
        return;
    }
}

void move_all(Group &group) {
    take_step(
        group, After::those_ahead, false, [](const Flying &) { return true; },
        [&](Flying &part, std::size_t number, const Completion &how) {
            const Notifying wish = wish_of(group.batch, group.first + number);
            return op::transfer(group.rank, wish.direction, part.prepared.place, wish.local,
                                wish.bytes, how);
        });
}

sennit_status count_by_pointer(const Prepared &it, const Flying &part) {
    return count_whole(it.remote, part.seen.expected, it.epoch, part.messages)
               ? SENNIT_OK
               : SENNIT_ERR_SIGNAL_OVERFLOW;
}

// From here on each part ends as it does: what is counted is counted.
void count_all(Group &group) {
    take_step(
        group, After::all, true, [](const Flying &part) { return !part.prepared.remote.is_none(); },
        [&](Flying &part, std::size_t, const Completion &how) {
            const Prepared &it = part.prepared;
            return part.is_by_message() ? start_count(group.rank, it.remote,
                                                      {it.epoch, part.messages}, &part.counter, how)
                                        : count_by_pointer(it, part);
        });
    for (std::size_t i = 0; i < group.count; ++i) {
        Flying &part = group.parts[i];
        if (part.status != SENNIT_OK || !part.is_by_message()) continue;
        const Prepared &it = part.prepared;
        const sennit_status status = judge_count(group.rank, it.remote, {it.epoch, part.messages},
                                                 part.seen.expected, part.counter, &part.fires);
        if (status != SENNIT_OK) note_failure(group, i, status);
    }
}

// Signals that have fired and are in sets are marked.
void mark_all(Group &group) {
    const auto fires = [](const Flying &part) { return part.fires; };
    if (std::none_of(group.parts, group.parts + group.count, fires)) return;
    take_step(group, After::all, true, fires,
              [&](Flying &part, std::size_t, const Completion &how) {
                  return start_look(group.rank, part.prepared.remote, &part.copy, how);
              });
    for (std::size_t i = 0; i < group.count; ++i)
        group.parts[i].fires = group.parts[i].fires && group.parts[i].copy.in_set != 0;
    for (const Mark mark : {Mark::signal, Mark::summary})
        take_step(group, After::all, true, fires,
                  [&](Flying &part, std::size_t, const Completion &how) {
                      return start_mark(group.rank, part.prepared.remote, mark, how);
                  });
}

void conclude_all(Group &group) {
    for (std::size_t i = 0; i < group.count; ++i) {
        Flying &part = group.parts[i];
        if (part.status == SENNIT_OK) {
            const sennit_status status = conclude(group.rank, part.prepared);
            if (status != SENNIT_OK) note_failure(group, i, status);
        }
        group.batch.parts[group.first + i].status = part.status;
    }
}

// The time is over before anything is counted. What went on now could not be waited for: no event
// of the group is counted, so its parts ahead can be made again as well.
void stop_if_late(Group &group) {
    if (group.status == SENNIT_ERR_TIMEOUT) group.count = 0;
}

// A put alone takes its event with it where the path has room for that, as a single call does.
// Returns whether its data and event are over.
bool ride_alone(Group &group) {
    Flying &part = group.parts[0];
    const Notifying wish = wish_of(group.batch, group.first);
    if (group.count != 1 || !part.is_by_message() || part.messages != 1 ||
        wish.direction != Direction::put)
        return false;
    const Prepared &it = part.prepared;
    bool rides = false;
    const sennit_status status =
        put_riding(group.rank, {&it.remote, it.epoch, it.place, wish.local, wish.bytes}, &rides);
    if (status != SENNIT_OK) note_failure(group, 0, status);
    return rides || status != SENNIT_OK;
}

// Parts from *at on that messages lead to; at least the first is one.
sennit_status fly(Rank &rank, const Batch &batch, std::size_t *at) {
    Group group(rank, batch, *at);
    for (const auto step : {gather, settle_all, look_all}) {
        if (step == look_all && batch.pieces != nullptr) continue;
        step(group);
        stop_if_late(group);
        if (group.count == 0) break;
    }
    if (!ride_alone(group)) {
        move_all(group);
        stop_if_late(group);
        count_all(group);
        mark_all(group);
    }
    conclude_all(group);
    *at += std::min(group.count, group.failed);
    if (group.status != SENNIT_OK) *thread_error() = group.why;
    return group.status;
}

// One that load and store reach.
sennit_status notify_one(Rank &rank, Attached &it, const Batch &batch, std::size_t number) {
    const Notifying wish = wish_of(batch, number);
    if (wish.notice != nullptr || find_short(batch.parts[number].block) == nullptr)
        return notify(rank, it, wish);
    const bool is_put = wish.direction == Direction::put;
    const AtOnce how =
        is_put ? notify_at_once<Direction::put>(it, wish.offset, wish.local, wish.bytes)
               : notify_at_once<Direction::get>(it, wish.offset, wish.local, wish.bytes);
    if (how == AtOnce::done) return SENNIT_OK;
    return how == AtOnce::surplus ? SENNIT_ERR_SIGNAL_OVERFLOW : notify(rank, it, wish);
}

sennit_status go_on(Rank &rank, const Batch &batch, std::size_t *at) {
    const sennit_peer_block block = batch.parts[*at].block;
    Attached *it = find_attached(rank, block);
    if (it == nullptr) return no_block(block);
    if (it->base == nullptr) return fly(rank, batch, at);
    const sennit_status status = notify_one(rank, *it, batch, *at);
    batch.parts[*at].status = status;
    if (status == SENNIT_OK) ++*at;
    return status;
}

// What can be seen of all parts before anything moves.
sennit_status check_all(Rank &rank, const Batch &batch) {
    for (std::size_t i = 0; i < batch.count; ++i) {
        const sennit_peer_block block = batch.parts[i].block;
        const Attached *it = find_attached(rank, block);
        const sennit_status status =
            it == nullptr ? no_block(block) : check_arguments(rank, *it, wish_of(batch, i));
        if (status == SENNIT_OK) continue;
        const sennit_error why = *thread_error();
        return fail_peer(status, why.peer, why.path, "part %zu: %s", i, why.text);
    }
    return SENNIT_OK;
}

}  // namespace

sennit_status notify_batch(Rank &rank, const Batch &batch, std::size_t *done) {
    const WholeCall call;
    *done = 0;
    for (std::size_t i = 0; i < batch.count; ++i)
        batch.parts[i].status = kNoneYet;
    sennit_status status = check_all(rank, batch);
    while (status == SENNIT_OK && *done < batch.count)
        status = go_on(rank, batch, done);
    for (std::size_t i = *done; i < batch.count; ++i)
        if (batch.parts[i].status == kNoneYet) batch.parts[i].status = status;
    return status;
}

sennit_status look_at_batch(Rank &rank, const Batch &batch) {
    for (std::size_t at = 0; at < batch.count;) {
        Group group(rank, batch, at);
        for (const auto step : {gather, settle_all, look_all})
            step(group);
        if (group.status != SENNIT_OK) {
            *thread_error() = group.why;
            return group.status;
        }
        at += group.count;
    }
    return SENNIT_OK;
}

}  // namespace sennit::signal
