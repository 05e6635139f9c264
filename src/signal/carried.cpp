// See carried.hpp. The sender looks at the owner's record first, so an event that is early, late or
// of no signal is refused before anything moves. The owner looks again, since a program that is
// wrong may be wrong in between.
#include "signal/carried.hpp"

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/event_ack.hpp"
#include "op/rma.hpp"
#include "signal/event_task.hpp"

namespace sennit::signal {
namespace {

constexpr bool is_sound(const CarriedLayout &layout) {
    const unsigned low = layout.ticket_bits + layout.code_bits + layout.incarnation_bits +
                         layout.index_bits + (layout.tag_bits == 64 ? 0 : layout.tag_bits);
    return low == (layout.bits < 64 ? layout.bits : 64) &&
           layout.ticket_bits == op::ticket_bits_of(layout.bits);
}
static_assert(is_sound(layout_of(128)) && is_sound(layout_of(64)) && is_sound(layout_of(32)) &&
              is_sound(layout_of(16)) && is_sound(layout_of(8)));

op::EventForm form_of(const CarriedPutArgs &args, const CarriedLayout &layout) {
    const std::uint32_t handle = args.remote->signal.handle;
    CarriedEvent event{0, args.epoch, handle & kIncarnations, index_of(handle)};
    op::EventForm form{};
    form.first = pack(layout, event);
    event.code = further_code(layout.code_bits);
    form.further = pack(layout, event);
    form.code_shift = layout.ticket_bits;
    return form;
}

sennit_status send(Rank &rank, const op::EventPut &put) {
    const int peer = put.target.peer;
    const Deadline deadline = default_deadline();
    for (;;) {
        bool begun = false;
        sennit_status status = op::engine_put_events(rank, put, &begun);
        if (!begun) {
            if (status == SENNIT_OK) status = op::engine_await_acks(rank, peer, op::AckWait::reply);
            if (status != SENNIT_OK) return status;
            if (!deadline.over()) continue;
            return fail_peer(SENNIT_ERR_TIMEOUT, peer, "",
                             "other threads have all tickets of events for rank %d", peer);
        }
        if (status == SENNIT_OK) return op::engine_await_acks(rank, peer, op::AckWait::all);
        if (status == SENNIT_ERR_TIMEOUT || status == SENNIT_ERR_PEER_LOST) return status;
        // What is told is why the message has failed, whatever happens to its events.
        const sennit_error why = *thread_error();
        (void)op::engine_await_acks(rank, peer, op::AckWait::all);
        *thread_error() = why;
        return status;
    }
}

// The signal that the event is for, or null.
Own *find_arrived(const Signals &all, const CarriedLayout &layout, const CarriedEvent &event) {
    Own *own = all.table.at(event.index);
    if (own == nullptr) return nullptr;
    // SYNC handle: pairs with the release in HandleTable::publish(); the fields come before.
    const std::uint32_t handle = handle_in(own->handle.load(std::memory_order_acquire));
    if (handle == 0) return nullptr;
    const bool is_it =
        layout.incarnation_bits == 0 || (handle & kIncarnations) == event.incarnation;
    return is_it ? own : nullptr;
}

// For the waits of its set, after what they have to see and a full fence.
void mark_in_set(const Signals &all, const Own &own) {
    // relaxed: after a full fence; an owner that is missed looks itself, after one of its own.
    if (own.record->in_set.load(std::memory_order_relaxed) == 0) return;
    const std::uint32_t handle = handle_of(own);
    // relaxed: the handle, which find_arrived() acquired, came after it.
    mark_fired(all.chunks[chunk_of(index_of(handle))].load(std::memory_order_relaxed), handle);
}

// An event that is counted nowhere. The first is told until somebody has been told.
void report(Rank &rank, const Signals &all, Own &own, std::uint64_t epoch) {
    // relaxed: only this sets the bit, with the engine's mutex held.
    if (is_reported(own)) return;
    // relaxed: the bit comes after it.
    own.reported_epoch.store(epoch, std::memory_order_relaxed);
    // SYNC signal-report: pairs with the acquire in fail_reported(); the epoch comes before.
    own.state.fetch_or(kReported, std::memory_order_release);
    // SYNC signal-set: pairs with the fence in set_add(); the report before the look at in_set.
    store_load_fence();
    mark_in_set(all, own);
    ring_doorbell(*rank.control);
}

void count(Rank &rank, const Signals &all, const Own &own, std::uint64_t epoch,
           std::uint64_t addend) {
    SignalRecord &record = *own.record;
    // SYNC signal-count: pairs with the acquires in own_value() and poll(), of this rank's threads;
    // the data comes before its event. SYNC signal-set: pairs with the fence in set_add(); a full
    // fence too, between the count and the look at in_set.
    const std::uint64_t counter = add_at_once(record.slot[slot_of(epoch)], addend);
    const std::uint64_t value = value_of(counter + addend, own.events, epoch);
    if (value == 0 || is_overflown(value, own.event_bits)) mark_in_set(all, own);
    ring_doorbell(*rank.control);
}

void count_arrived(Rank &rank, int from, unsigned event_bits, const transport::EventData &data,
                   bool is_surplus) {
    const CarriedLayout &layout = layout_of(event_bits);
    const Signals *all = signals_of(rank);
    if (layout.is_none() || all == nullptr) return;
    const CarriedEvent event = unpack(layout, data);
    Own *own = find_arrived(*all, layout, event);
    if (own == nullptr) {
        log(SENNIT_LOG_WARNING,
            "an event of rank %d is for the signal with index %u, which was destroyed", from,
            event.index);
        return;
    }
    const std::uint64_t receivers = own_epoch(*own);
    const std::uint64_t epoch = epoch_of_tag(event.tag, receivers, layout.tag_bits);
    if (!is_counted(epoch, receivers)) {
        // What is taken back was counted in an epoch that can not be over without it.
        if (is_surplus) return;
        return report(rank, *all, *own, epoch);
    }
    const std::uint64_t addend = addend_of(layout, event, own->event_bits);
    count(rank, *all, *own, epoch, is_surplus ? 0 - addend : addend);
}

}  // namespace

bool may_ride(const Rank &rank, const RemoteSignal &remote) {
    const CarriedLayout &layout = layout_of(op::engine_event_bits(rank, remote.signal.rank));
    return !layout.is_none() && index_of(remote.signal.handle) <= low_mask(layout.index_bits);
}

sennit_status put_riding(Rank &rank, const CarriedPutArgs &args, bool *rides) {
    *rides = false;
    if (!may_ride(rank, *args.remote)) return SENNIT_OK;
    const int peer = args.place.rank;
    const CarriedLayout &layout = layout_of(op::engine_event_bits(rank, peer));
    op::EventPut put{};
    put.local = args.local;
    put.bytes = args.bytes;
    put.most_parts = most_parts(layout);
    put.sent = form_of(args, layout);
    put.counted = form_of(args, layout_of(op::kCountedBits));
    const sennit_status status =
        op::message_target(rank, args.place, args.bytes, &put.target, rides);
    return status != SENNIT_OK || !*rides ? status : send(rank, put);
}

void expect_events(Rank &rank) {
    op::engine_take_events(rank, count_arrived, take_event);
}

sennit_status fail_reported(Own &own) {
    // SYNC signal-report: pairs with the release in report(); the epoch comes before.
    own.state.fetch_and(~kReported, std::memory_order_acquire);
    const std::uint32_t handle = handle_of(own);
    // relaxed: the bit was acquired.
    const std::uint64_t seen = own.reported_epoch.load(std::memory_order_relaxed);
    const std::uint64_t epoch = own_epoch(own);
    return fail(is_early(seen, epoch) ? SENNIT_ERR_SIGNAL_EARLY : SENNIT_ERR_SIGNAL_OVERFLOW,
                "signal %#x expects %u events of epoch %llu, and one of epoch %llu has come, which "
                "was not counted",
                handle, own.events, static_cast<unsigned long long>(epoch),
                static_cast<unsigned long long>(seen));
}

}  // namespace sennit::signal
