// SPDX-License-Identifier: BSD-3-Clause
// Members, flights and the clock of the path sim.
#include "transport/sim/world.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "base/mutex.hpp"
#include "transport/word_copy.hpp"

namespace sennit::transport::sim {
namespace {

// Kinds of trace entries.
enum Trace : std::uint64_t {
    turn,
    submitted,
    landed,
    arrived,
    completed,
    cancelled,
    broke,
    lost,
    reached,
    answered
};

constexpr std::uint64_t low_bits(std::uint64_t bits) {
    return bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
}

}  // namespace

void World::introduce(int rank, ControlBlock *control) {
    const MutexLock locked(lock_);
    members_[rank].control = control;
}

void World::enter(int rank, const Rank *object) {
    name_object(rank, object);
    const MutexLock locked(lock_);
    if (members_[rank].state == MemberState::absent) members_[rank].state = MemberState::present;
}

sennit_status World::attach(int rank, int owner, const SegmentRecord &record,
                            std::uint64_t *handle) {
    const MutexLock locked(lock_);
    Member &member = members_[rank];
    ControlBlock *control = members_[owner].control;
    if (control == nullptr || record.owner_slot >= kSegmentsPerTeam || record.owner_address == 0)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, owner, "sim", "the segment cannot be reached");
    std::uint32_t slot = 0;
    while (slot < member.attachment_count && member.attachments[slot].live_value != 0)
        ++slot;
    if (slot == member.attachment_count) {
        const std::uint32_t wanted = slot == 0 ? 16 : slot * 2;
        auto *grown = static_cast<Attachment *>(
            std::realloc(static_cast<void *>(member.attachments), wanted * sizeof(Attachment)));
        if (grown == nullptr)
            return fail_peer(SENNIT_ERR_NOMEM, owner, "sim", "no memory for an attachment");
        for (std::uint32_t i = slot; i < wanted; ++i)
            grown[i] = Attachment{};
        member.attachments = grown;
        member.attachment_count = wanted;
    }
    Attachment &made = member.attachments[slot];
    made.owner = owner;
    ++made.generation;
    made.base = reinterpret_cast<std::byte *>(record.owner_address);
    made.bytes = record.bytes;
    made.segment = &control->records[record.owner_slot];
    // relaxed: the caller's copy of the record, which no other thread writes.
    made.live_value = record.live.load(std::memory_order_relaxed);
    *handle = (static_cast<std::uint64_t>(made.generation & 0x7FFFFFFFu) << 32) | (slot + 1u);
    return SENNIT_OK;
}

void World::detach(int rank, std::uint64_t handle) {
    const MutexLock locked(lock_);
    Member &member = members_[rank];
    const auto place = static_cast<std::uint32_t>(handle);
    if (place == 0 || place > member.attachment_count) return;
    Attachment &attachment = member.attachments[place - 1];
    if ((attachment.generation & 0x7FFFFFFFu) == handle >> 32) attachment.live_value = 0;
}

// Sets the flight's memory from the operation. False: refused, with an error.
bool World::resolve(int rank, const Operation &operation, Flight *flight) {
    const std::uint64_t handle = operation.remote.handle;
    std::byte *base = nullptr;
    std::uint64_t bytes = 0;
    if ((handle & kControlHandle) != 0) {
        base = reinterpret_cast<std::byte *>(members_[operation.peer].control);
        bytes = sizeof(ControlBlock);
    } else {
        const Member &member = members_[rank];
        const auto place = static_cast<std::uint32_t>(handle);
        const Attachment *found = place == 0 || place > member.attachment_count
                                      ? nullptr
                                      : &member.attachments[place - 1];
        if (found == nullptr || found->live_value == 0 || found->owner != operation.peer ||
            (found->generation & 0x7FFFFFFFu) != handle >> 32) {
            (void)fail_peer(SENNIT_ERR_NOT_REGISTERED, operation.peer, "sim",
                            "the handle belongs to no attached segment");
            return false;
        }
        base = found->base;
        bytes = found->bytes;
        flight->segment = found->segment;
        flight->live_value = found->live_value;
    }
    if (base == nullptr || operation.offset > bytes || operation.bytes > bytes - operation.offset) {
        (void)fail_peer(SENNIT_ERR_RANGE, operation.peer, "sim",
                        "the operation leaves the segment of rank %d", operation.peer);
        return false;
    }
    flight->remote = base + operation.offset;
    return true;
}

std::uint64_t World::draw(std::uint64_t limit) {
    random_ = mix(random_);
    return limit == 0 ? 0 : random_ % limit;
}

void World::trace(std::uint64_t what, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t hash = mix(counters_.trace_hash ^ counters_.steps);
    hash = mix(hash ^ what);
    hash = mix(hash ^ a);
    hash = mix(hash ^ b);
    counters_.trace_hash = mix(hash ^ c);
}

Flight *World::take_flight() {
    if (free_flights_ == nullptr) {
        auto *chunk = static_cast<FlightChunk *>(std::calloc(1, sizeof(FlightChunk)));
        if (chunk == nullptr) return nullptr;
        chunk->next = chunks_;
        chunks_ = chunk;
        for (Flight &flight : chunk->flights) {
            flight.next_completed = free_flights_;
            free_flights_ = &flight;
        }
    }
    Flight *flight = free_flights_;
    free_flights_ = flight->next_completed;
    *flight = Flight{};
    return flight;
}

// Drops one reference.
void World::drop(Flight *flight) {
    if (--flight->references > 0) return;
    flight->next_completed = free_flights_;
    free_flights_ = flight;
}

Submit World::submit(int rank, Operation *operation) {
    const MutexLock locked(lock_);
    if (settings_.lockstep != 0) join_turns(rank);
    const int peer = operation->peer;
    const unsigned rail = operation->rail;
    if (members_[rank].state != MemberState::present || members_[peer].state == MemberState::left ||
        members_[peer].state == MemberState::dead) {
        (void)fail_peer(SENNIT_ERR_PEER_LOST, peer, "sim", "rank %d is lost", peer);
        return Submit::failed;
    }
    if (rail >= settings_.rails || rail_failed_[rail]) {
        (void)fail_peer(SENNIT_ERR_FABRIC, peer, "sim", "rail %u has failed", rail);
        return Submit::failed;
    }
    if (operation->kind == Operation::Kind::put_event && settings_.events == 0) {
        (void)fail_peer(SENNIT_ERR_UNSUPPORTED, peer, "sim", "there is no completion data");
        return Submit::failed;
    }
    const bool is_task = operation->kind == Operation::Kind::execute;
    if (is_task && (operation->task.payload_bytes > kMostTaskBytes ||
                    operation->task.reply_bytes > kMostTaskBytes)) {
        (void)fail_peer(SENNIT_ERR_RANGE, peer, "sim", "a task is too long");
        return Submit::failed;
    }
    if (!is_task && operation->bytes > settings_.max_piece) {
        (void)fail_peer(SENNIT_ERR_RANGE, peer, "sim", "a piece of %zu bytes is too long",
                        operation->bytes);
        return Submit::failed;
    }
    Member &member = members_[rank];
    if (member.open[rail] >= settings_.depth) {
        ++counters_.agains;
        return Submit::again;
    }
    Flight *flight = heap_.reserve(kPartsPerFlight + 3) ? take_flight() : nullptr;
    if (flight == nullptr) {
        (void)fail_peer(SENNIT_ERR_NOMEM, peer, "sim", "no memory for an operation");
        return Submit::failed;
    }
    flight->references = 1;
    if (!resolve(rank, *operation, flight)) {
        drop(flight);
        return Submit::failed;
    }
    flight->operation = operation;
    flight->from = rank;
    flight->to = peer;
    flight->rail = rail;
    flight->is_task = is_task;
    if (is_task) {
        flight->task = operation->task;
        if (flight->task.payload_bytes != 0)
            std::memcpy(flight->payload, operation->local, flight->task.payload_bytes);
    }
    flight->is_put = !is_task && operation->kind != Operation::Kind::get;
    flight->has_event = operation->kind == Operation::Kind::put_event;
    flight->local = static_cast<std::byte *>(operation->local);
    flight->bytes = operation->bytes;
    flight->event = EventData{
        operation->event.low & low_bits(settings_.events),
        settings_.events > 64 ? operation->event.high & low_bits(settings_.events - 64) : 0};
    flight->number = ++flight_number_;
    ++member.open[rail];
    counters_.most_open = std::max(counters_.most_open, member.open[rail]);
    schedule(flight);
    trace(Trace::submitted, pair(rank, peer), operation->offset, operation->bytes << 8 | rail);
    return Submit::accepted;
}

// Draws the due time of each part of the flight.
void World::schedule(Flight *flight) {
    flight->next_flying = flying_;
    if (flying_ != nullptr) flying_->previous_flying = flight;
    flying_ = flight;

    const std::uint64_t delay = settings_.delay;
    // A rail is fast or slow for a while, so that rails overtake each other by whole bursts.
    if (draw(32) == 0) rail_lag_[flight->rail] = draw(2 * delay);
    std::uint64_t begin = counters_.steps + 1 + draw(delay) + rail_lag_[flight->rail];
    std::uint64_t &last_end =
        last_end_[pair(flight->from, flight->to) * settings_.rails + flight->rail];
    const bool in_order = settings_.order != 0 && flight->is_put;
    if (in_order || (settings_.order != 0 && flight->is_task)) begin = std::max(begin, last_end);
    if (settings_.shaky != 0 && flight->rail + 1 < settings_.rails && draw(settings_.shaky) == 0) {
        ++flight->references;
        heap_.push(Due{begin + draw(2 * delay), ++order_, flight, 0, 0, Due::What::loss});
    }
    if (flight->is_task) {
        // answer() schedules the acknowledgement.
        flight->parts_left = 1;
        ++flight->references;
        heap_.push(Due{begin, ++order_, flight, 0, 0, Due::What::task});
        return;
    }

    // Parts end at word boundaries of the owner's memory.
    const std::uint64_t skew = reinterpret_cast<std::uintptr_t>(flight->remote) % 8;
    const auto parts = flight->bytes < 16 ? 1 : static_cast<int>(1 + draw(kPartsPerFlight));
    std::uint64_t end = begin;
    std::uint64_t at = 0;
    for (int i = 0; i < parts; ++i) {
        std::uint64_t stop = flight->bytes;
        if (i + 1 < parts) {
            stop = ((at + skew + draw(flight->bytes - at + 1)) & ~std::uint64_t{7});
            stop = std::clamp(stop > skew ? stop - skew : 0, at, flight->bytes);
        }
        const std::uint64_t step = begin + (i == 0 ? 0 : draw(delay));
        end = std::max(end, step);
        heap_.push(Due{step, ++order_, flight, at, stop, Due::What::part});
        at = stop;
    }
    flight->parts_left = parts;
    flight->references += parts + 1;
    if (in_order) last_end = end;
    if (flight->has_event) {
        end += draw(delay);
        ++flight->references;
        heap_.push(Due{end, ++order_, flight, 0, 0, Due::What::event});
    }
    heap_.push(Due{end + draw(delay), ++order_, flight, 0, 0, Due::What::acknowledgement});
}

void World::land_part(const Due &due) {
    Flight *flight = due.flight;
    if (flight->cancelled) return;
    // SYNC segment-live: pairs with the release of the owner that makes or ends the segment; the
    // memory exists while the word is the same as at attach().
    if (flight->segment != nullptr &&
        flight->segment->live.load(std::memory_order_acquire) != flight->live_value) {
        flight->status = SENNIT_ERR_NOT_REGISTERED;
    } else if (flight->is_put) {
        copy_to_shared(flight->remote + due.begin, flight->local + due.begin, due.end - due.begin);
    } else {
        copy_from_shared(flight->local + due.begin, flight->remote + due.begin,
                         due.end - due.begin);
    }
    ++counters_.parts;
    trace(Trace::landed, flight->number, due.begin, due.end);
    if (--flight->parts_left == 0 && flight->status == SENNIT_OK) note_arrival(*flight);
}

void World::note_arrival(const Flight &flight) {
    if (!flight.is_put) {
        ++counters_.gets;
        return;
    }
    ++counters_.puts;
    std::uint64_t *latest = &last_number_[pair(flight.from, flight.to) * settings_.rails];
    for (unsigned rail = 0; rail < settings_.rails; ++rail) {
        if (flight.number > latest[rail]) continue;
        ++(rail == flight.rail ? counters_.overtakings : counters_.rail_overtakings);
    }
    latest[flight.rail] = std::max(latest[flight.rail], flight.number);
}

void World::land_event(Flight *flight) {
    if (flight->cancelled || flight->status != SENNIT_OK) return;
    Member &target = members_[flight->to];
    if (target.state == MemberState::left || target.state == MemberState::dead) return;
    ++flight->references;
    flight->event_landed = true;
    target.events.push(flight);
    trace(Trace::arrived, flight->number, flight->event.low, pair(flight->from, flight->to));
}

// Drops unread events of all senders, as if the target's end of the rail was replaced.
void World::drop_unread(int rank, unsigned rail) {
    Member &member = members_[rank];
    FlightQueue<&Flight::next_event> kept;
    while (Flight *flight = member.events.pop()) {
        if (flight->rail != rail) {
            kept.push(flight);
            continue;
        }
        ++counters_.dropped_events;
        drop(flight);
    }
    member.events = kept;
}

void World::land_task(Flight *flight) {
    if (flight->cancelled) return;
    Member &target = members_[flight->to];
    ++flight->references;
    target.tasks.push(flight);
    trace(Trace::reached, flight->number, flight->task.sequence, pair(flight->from, flight->to));
}

// Passes received tasks, unless events remain, which precede them.
void World::fill_tasks(Member &member, Handover *out) {
    out->task_count = 0;
    while (out->task_count < kHandoversPerProgress && member.events.is_empty()) {
        Flight *flight = member.tasks.pop();
        if (flight == nullptr) return;
        if (flight->cancelled) {
            drop(flight);
            continue;
        }
        ++counters_.tasks;
        out->tasks[out->task_count++] = flight;
    }
}

void World::answer(Flight *flight, sennit_status status) {
    const MutexLock locked(lock_);
    flight->parts_left = 0;
    if (flight->cancelled) {
        ++counters_.lost_answers;
        drop(flight);
        return;
    }
    flight->status = status;
    trace(Trace::answered, flight->number, static_cast<std::uint64_t>(status), 0);
    // The answer owns the reference of the target's list.
    const std::uint64_t step = counters_.steps + 1 + draw(settings_.delay);
    if (!heap_.reserve(1)) {
        complete(flight, status);
        drop(flight);
        return;
    }
    heap_.push(Due{step, ++order_, flight, 0, 0, Due::What::acknowledgement});
}

// Puts the completion on the sender's list. Afterwards only the sender uses the operation.
void World::complete(Flight *flight, sennit_status status) {
    if (flight->over) return;
    flight->over = true;
    flight->status = status;
    if (flight->is_task && status == SENNIT_OK && flight->task.reply_bytes != 0)
        std::memcpy(flight->operation->reply, flight->reply, flight->task.reply_bytes);
    (flight->previous_flying != nullptr ? flight->previous_flying->next_flying : flying_) =
        flight->next_flying;
    if (flight->next_flying != nullptr)
        flight->next_flying->previous_flying = flight->previous_flying;
    Member &member = members_[flight->from];
    member.completed.push(flight);
    trace(Trace::completed, flight->number, static_cast<std::uint64_t>(status), flight->rail);
}

void World::cancel(Flight *flight, sennit_status status) {
    flight->cancelled = true;
    ++counters_.cancelled;
    if (flight->has_event)
        ++(flight->event_landed ? counters_.unacknowledged_events : counters_.lost_events);
    // The target has executed it, but the sender gets no answer.
    if (flight->is_task && flight->parts_left == 0) ++counters_.lost_answers;
    trace(Trace::cancelled, flight->number, static_cast<std::uint64_t>(flight->parts_left), 0);
    complete(flight, status);
}

void World::run_due() {
    for (int i = 0; i < kDeliveriesPerStep; ++i) {
        const Due *first = heap_.first();
        if (first == nullptr || first->step > counters_.steps) return;
        const Due due = heap_.pop();
        switch (due.what) {
            case Due::What::part:
                land_part(due);
                break;
            case Due::What::acknowledgement:
                complete(due.flight, due.flight->status);
                break;
            case Due::What::event:
                land_event(due.flight);
                break;
            case Due::What::task:
                land_task(due.flight);
                break;
            case Due::What::loss:
                if (due.flight->over) break;
                cancel(due.flight, SENNIT_ERR_FABRIC);
                if (due.flight->has_event) drop_unread(due.flight->to, due.flight->rail);
                break;
        }
        drop(due.flight);
    }
}

void World::strike() {
    for (const Strike &failure : settings_.rail_failures)
        if (failure.victim >= 0 && failure.step == counters_.steps)
            break_rail(static_cast<unsigned>(failure.victim));
    for (const Strike &death : settings_.kills)
        if (death.victim >= 0 && death.victim < size_ && death.step == counters_.steps)
            lose(death.victim, MemberState::dead);
}

void World::break_rail(unsigned rail) {
    if (rail >= settings_.rails || rail_failed_[rail]) return;
    rail_failed_[rail] = true;
    trace(Trace::broke, rail, 0, 0);
    for (Flight *flight = flying_; flight != nullptr;) {
        Flight *next = flight->next_flying;
        if (flight->rail == rail) cancel(flight, SENNIT_ERR_FABRIC);
        flight = next;
    }
}

void World::lose(int rank, MemberState state) {
    Member &member = members_[rank];
    if (member.state == MemberState::left || member.state == MemberState::dead) return;
    member.state = state;
    ++changes_;
    trace(Trace::lost, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(state), 0);
    for (Flight *flight = flying_; flight != nullptr;) {
        Flight *next = flight->next_flying;
        if (flight->to == rank && state == MemberState::left && flight->parts_left == 0) {
            complete(flight, flight->status);  // everything arrived before the rank ended
        } else if (flight->from == rank || flight->to == rank) {
            cancel(flight, SENNIT_ERR_PEER_LOST);
        }
        flight = next;
    }
    while (Flight *flight = member.events.pop())
        drop(flight);
    while (Flight *flight = member.tasks.pop())
        drop(flight);
}

void World::fill(Member &member, Handover *out) {
    out->done_count = 0;
    out->event_count = 0;
    while (out->event_count < kHandoversPerProgress) {
        Flight *flight = member.events.pop();
        if (flight == nullptr) break;
        out->events[out->event_count++] = flight->event;
        ++counters_.events;
        drop(flight);
    }
    while (out->done_count < kHandoversPerProgress) {
        Flight *flight = member.completed.pop();
        if (flight == nullptr) break;
        out->done[out->done_count++] = Handover::Done{flight->operation, flight->status};
        --member.open[flight->rail];
        drop(flight);
    }
}

void World::step(int rank, Handover *out) {
    const MutexLock locked(lock_);
    if (settings_.lockstep != 0) take_turn(rank);
    out->lockstep_broken = counters_.lockstep_broken;
    ++counters_.steps;
    trace(Trace::turn, static_cast<std::uint64_t>(rank), 0, 0);
    strike();
    run_due();
    fill(members_[rank], out);
    fill_tasks(members_[rank], out);
}

void World::collect(int rank, Handover *out) {
    const MutexLock locked(lock_);
    out->task_count = 0;
    fill(members_[rank], out);
}

void World::leave(int rank) {
    name_object(rank, nullptr);
    const MutexLock locked(lock_);
    lose(rank, MemberState::left);
    Member &member = members_[rank];
    std::free(member.attachments);
    member.attachments = nullptr;
    member.attachment_count = 0;
    leave_turns(rank);
}

bool World::changed(std::uint64_t *seen) {
    const MutexLock locked(lock_);
    if (*seen == changes_) return false;
    *seen = changes_;
    return true;
}

MemberState World::state_of(int rank) {
    const MutexLock locked(lock_);
    return members_[rank].state;
}

bool World::rail_failed(unsigned rail) {
    const MutexLock locked(lock_);
    return rail >= settings_.rails || rail_failed_[rail];
}

void World::fail_rail(unsigned rail) {
    const MutexLock locked(lock_);
    break_rail(rail);
}

void World::kill(int rank) {
    const MutexLock locked(lock_);
    if (rank >= 0 && rank < size_) lose(rank, MemberState::dead);
}

Counters World::counters() {
    const MutexLock locked(lock_);
    return counters_;
}

}  // namespace sennit::transport::sim
