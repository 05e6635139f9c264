// See carried.hpp. An event that is early, late or one too many is left to the task of its message,
// which its sender hears of.
#include "signal/carried.hpp"

#include "base/fail.hpp"
#include "observe/observer.hpp"
#include "op/engine.hpp"
#include "signal/event_task.hpp"

namespace sennit::signal {
namespace {

constexpr bool is_sound(const CarriedLayout &layout) {
    const unsigned low = layout.number_bits + layout.code_bits + layout.index_bits +
                         (layout.tag_bits == 64 ? 0 : layout.tag_bits);
    return low == (layout.bits < 64 ? layout.bits : 64);
}
static_assert(is_sound(layout_of(128)) && is_sound(layout_of(64)) && is_sound(layout_of(32)) &&
              is_sound(layout_of(32, 8)) && is_sound(layout_of(32, 24)) &&
              is_sound(layout_of(16)) && is_sound(layout_of(8)));

// For the waits of its set, after what they have to see and a full fence.
void mark_in_set(const Signals &all, const Own &own) {
    // relaxed: after a full fence; an owner that is missed looks itself, after one of its own.
    if (own.record->in_set.load(std::memory_order_relaxed) == 0) return;
    const std::uint32_t handle = handle_of(own);
    // relaxed: the handle came after it.
    mark_fired(all.chunks[chunk_of(index_of(handle))].load(std::memory_order_relaxed), handle);
}

// What has to follow on a count, after which the slot had `counter`.
void tell_counted(Rank &rank, const Signals &all, const Own &own, std::uint64_t epoch,
                  std::uint64_t counter) {
    const std::uint64_t value = value_of(counter, own.events, epoch);
    // A strict signal is not to get one of the next epoch.
    const bool is_ahead = is_strict(own) && epoch != own_epoch(own);
    if (value == 0 || is_overflown(value, own.event_bits) || is_ahead) mark_in_set(all, own);
    ring_doorbell(*rank.control);
}

void count(Rank &rank, const Signals &all, const Own &own, std::uint64_t epoch,
           std::uint64_t addend) {
    SignalRecord &record = *own.record;
    // SYNC signal-count: pairs with the acquires in own_value() and poll(), of this rank's threads;
    // the data comes before its event. SYNC signal-set: pairs with the fence in set_add(); a full
    // fence too, between the count and the look at in_set.
    const std::uint64_t counter = add_at_once(record.slot[slot_of(epoch)], addend);
    tell_counted(rank, all, own, epoch, counter + addend);
}

// The first part of a message of the present epoch, which is the owner's as long as the slot has
// not changed: see count_current(). False: it is another one by now, and the message waits for its
// end.
bool count_first_of_current(Rank &rank, const Signals &all, const Own &own, std::uint64_t epoch,
                            std::uint64_t addend) {
    SignalRecord &record = *own.record;
    std::atomic<std::uint64_t> &slot = record.slot[slot_of(epoch)];
    // SYNC signal-count: pairs with the releases of senders: a value of a later epoch comes with
    // that epoch, for the second look at it.
    std::uint64_t counter = slot.load(std::memory_order_acquire);
    // relaxed: ordered by the load of the slot.
    if (record.epoch.load(std::memory_order_relaxed) != epoch) return false;
    // SYNC signal-count: pairs with the acquires in own_value() and poll(); the data comes before.
    if (!slot.compare_exchange_strong(counter, counter + addend, std::memory_order_release,
                                      std::memory_order_relaxed))
        return false;
    // SYNC signal-set: pairs with the fence in set_add(); the count before the look at in_set.
    store_load_fence();
    tell_counted(rank, all, own, epoch, counter + addend);
    return true;
}

Own *find_by_handle(const Rank &rank, std::uint32_t handle) {
    return find_own(rank, {rank.world_rank, handle});
}

// Has the epoch room for so many events more?
bool has_room(const Own &own, std::uint64_t epoch, std::uint32_t events) {
    // SYNC signal-count: pairs with the releases of senders; only compared.
    const std::uint64_t counter = own.record->slot[slot_of(epoch)].load(std::memory_order_acquire);
    return events <= own.events &&
           !is_surplus(value_of(counter, own.events, epoch), events, own.events, own.event_bits);
}

// A message in one part. False: it is one too many.
bool count_alone(Rank &rank, const Own &own, const Subscriber &subscriber, std::uint64_t epoch) {
    const sennit_error unrelated = *thread_error();
    RemoteSignal self;
    const Expected expected{own.events, own.event_bits, own.record->most_ahead};
    const bool is_current = subscriber.epochs == EpochKind::current;
    const Messages messages{is_current ? SENNIT_EPOCH_CURRENT : epoch, subscriber.events};
    const bool is_in = messages.count <= own.events &&
                       reach(rank, {rank.world_rank, handle_of(own)}, &self) == SENNIT_OK &&
                       count_let_in(self, expected, messages);
    *thread_error() = unrelated;
    return is_in;
}

// Of a message, whatever its sender knows.
bool is_taken(const Own &own, std::uint64_t epoch, std::uint64_t receivers) {
    return is_counted(epoch, receivers, is_unchecked(handle_of(own)) ? 1 : own.record->most_ahead);
}

// Called with the engine's mutex held.
void count_arrived(Rank &rank, const op::EventWidth &width, const transport::EventData &data) {
    Signals *all = signals_of(rank);
    const CarriedLayout layout = layout_of(width.bits, width.index_bits);
    if (all == nullptr || layout.is_none()) return;
    const CarriedEvent event = unpack(layout, data);
    Subscriber *const it = all->subscribers.find(event.index);
    ArrivingMessage *const message =
        it == nullptr ? nullptr : find_open(it->messages, event.number, layout.number_bits);
    if (message == nullptr) return;
    const Own *const own = find_by_handle(rank, it->handle);
    if (own == nullptr) return;
    // SYNC signal-epoch: pairs with the releases in advance() and reset_at_once(), of this rank's
    // threads; what they did with the data of earlier epochs comes before this event.
    const std::uint64_t receivers = own->record->epoch.load(std::memory_order_acquire);
    std::uint64_t epoch = receivers;
    if (it->epochs == EpochKind::named) epoch = epoch_of_tag(event.tag, receivers, layout.tag_bits);
    // A message that has begun stays in its epoch, which is not over without it.
    if (message->sum != 0) epoch = message->epoch;
    const std::uint64_t addend = addend_of(layout, event, own->event_bits, it->events);
    if (!is_taken(*own, epoch, receivers)) return;
    // What there is no room for is judged when the message ends.
    const bool is_first = message->sum == 0;
    if (is_first && !has_room(*own, epoch, it->events)) return;
    if (addend == kWholeMessage * it->events) {
        if (count_alone(rank, *own, *it, epoch)) take_part(*message, epoch, addend);
        return;
    }
    if (is_first && it->epochs == EpochKind::current) {
        if (!count_first_of_current(rank, *all, *own, epoch, addend)) return;
    } else {
        count(rank, *all, *own, epoch, addend);
    }
    take_part(*message, epoch, addend);
}

unsigned number_bits_of(const Rank &rank) {
    const op::EventWidth width = op::engine_own_event_width(rank);
    return layout_of(width.bits, width.index_bits).number_bits;
}

// Null: it is over, or was never there.
ArrivingMessage *find_message(Rank &rank, int sender, const op::EventTask &task, Subscriber **of) {
    *of = signals_of(rank)->subscribers.find_of(task.index, sender);
    if (*of == nullptr) return nullptr;
    ArrivingMessage &message = (*of)->messages[task.number() % places_of(number_bits_of(rank))];
    return op::EventTask::number_in(message.number) == task.number() ? &message : nullptr;
}

void subscribe(Rank &rank, const RemoteSignal &remote, const SubscriptionKey &kind,
               std::uint64_t epoch) {
    const sennit_error unrelated = *thread_error();
    op::Completion how;
    how.mode = op::Completion::Mode::implicit;
    NumberedMessage of_events;
    of_events.number = kind.events;
    const sennit_status status = start_event(rank,
                                             {.remote = &remote,
                                              .messages = {epoch, 0},
                                              .action = op::EventAction::subscribe,
                                              .message = of_events},
                                             nullptr, how);
    if (status != SENNIT_OK) signals_of(rank)->subscriptions.forget(kind);
    *thread_error() = unrelated;
}

// Indices that nothing is under way for go back to their owners.
void give_back_left(Rank &rank) {
    sennit_signal signal;
    std::uint32_t index = 0;
    while (signals_of(rank)->subscriptions.take_left(&signal, &index)) {
        const sennit_error unrelated = *thread_error();
        RemoteSignal remote;
        op::Completion how;
        how.mode = op::Completion::Mode::implicit;
        NumberedMessage of_index;
        of_index.index = index;
        if (reach(rank, signal, &remote) == SENNIT_OK && remote.record == nullptr)
            (void)start_event(rank,
                              {.remote = &remote,
                               .messages = {0, 0},
                               .action = op::EventAction::unsubscribe,
                               .message = of_index},
                              nullptr, how);
        *thread_error() = unrelated;
    }
}

// Do the bits say enough? This end may send fewer than the owner reads. And of an unchecked signal
// nobody has looked at the epoch, which may be any: the owner should find out here, and not when
// the message ends.
bool is_told_by(const NumberedMessage &message, const RemoteSignal &remote, unsigned bits) {
    constexpr unsigned kFewestTagBits = 3;
    const CarriedLayout layout = layout_of(message.event_bits, message.index_bits);
    return layout.bits <= layout_of(bits).bits &&
           (layout.tag_bits >= kFewestTagBits || !is_unchecked(remote.signal.handle));
}

}  // namespace

void begin_carried(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                   NumberedMessage *message) {
    *message = NumberedMessage{};
    const unsigned bits = op::engine_event_bits(rank, remote.signal.rank);
    if (layout_of(bits).is_none() || op::EventTask::number_in(messages.count) != messages.count)
        return;
    Subscriptions &subscriptions = signals_of(rank)->subscriptions;
    const SubscriptionKey kind = kind_of(remote.signal, messages);
    const Subscriptions::Begun begun = subscriptions.begin(kind, message);
    if (begun == Subscriptions::Begun::is_to_subscribe)
        subscribe(rank, remote, kind, messages.epoch);
    give_back_left(rank);
    if (begun == Subscriptions::Begun::refused)
        runtime::note_message(rank, runtime::CountedMessage::not_carried, 0);
    if (begun != Subscriptions::Begun::yes) {
        *message = NumberedMessage{};
    } else if (!is_told_by(*message, remote, bits)) {
        subscriptions.unbegin(kind, *message);
        subscriptions.refuse(kind);
        *message = NumberedMessage{};
    }
}

void unbegin_carried(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                     const NumberedMessage &message) {
    if (message.index == 0) return;
    signals_of(rank)->subscriptions.unbegin(kind_of(remote.signal, messages), message);
}

op::EventForm form_of(const NumberedMessage &message, std::uint64_t epoch) {
    const CarriedLayout layout = layout_of(message.event_bits, message.index_bits);
    const std::uint64_t tag = epoch == SENNIT_EPOCH_CURRENT ? 0 : epoch;
    CarriedEvent event{message.number, 0, tag, message.index};
    op::EventForm form{};
    form.first = pack(layout, event);
    event.code = further_code(layout.code_bits);
    form.further = pack(layout, event);
    form.code_shift = layout.number_bits;
    form.most_parts = most_parts(layout);
    form.index = message.index;
    form.number = message.number;
    return form;
}

void leave_subscription(Rank &rank, sennit_signal signal) {
    Signals *const all = signals_of(rank);
    if (all == nullptr || rank.engine == nullptr) return;
    all->subscriptions.leave(signal);
    give_back_left(rank);
}

void expect_events(Rank &rank) {
    static constexpr op::EventHandlers kHandlers{count_arrived, take_event, renew_answer,
                                                 hear_answer};
    op::engine_take_events(rank, &kHandlers);
}

std::uint64_t give_subscription(Rank &rank, int sender, const op::EventTask &task) {
    const op::EventWidth width = op::engine_own_event_width(rank);
    const CarriedLayout layout = layout_of(width.bits, width.index_bits);
    Subscription given;
    const bool is_reached = op::engine_event_bits(rank, sender) != 0;
    Own *const own = find_by_handle(rank, task.handle);
    if (!layout.is_none() && is_reached && own != nullptr)
        given.index = signals_of(rank)->subscribers.give(
            rank, sender,
            {{rank.world_rank, task.handle}, kind_of_epoch(task.epoch), task.number()},
            static_cast<std::uint32_t>(low_mask(layout.index_bits)), layout.number_bits,
            &given.use);
    if (given.index != 0) {
        op::engine_expect_events(rank);
        // relaxed: no event comes before the sender has the index.
        if (is_strict(*own) || kind_of_epoch(task.epoch) == EpochKind::current)
            own->state.fetch_or(kReadsFirst, std::memory_order_relaxed);
    }
    given.event_bits = static_cast<std::uint8_t>(layout.bits);
    given.index_bits = static_cast<std::uint8_t>(width.index_bits);
    return word_of(given);
}

void take_subscription_back(Rank &rank, int sender, const op::EventTask &task) {
    Subscribers &subscribers = signals_of(rank)->subscribers;
    if (subscribers.find_of(task.index, sender) != nullptr) subscribers.take_back(task.index);
}

bool close_carried(Rank &rank, int sender, const op::EventTask &task) {
    Subscriber *it = nullptr;
    ArrivingMessage *const message = find_message(rank, sender, task, &it);
    return message != nullptr && close_message(*message, kWholeMessage * it->events);
}

CarriedEnd end_carried(Rank &rank, int sender, const op::EventTask &task, bool is_whole) {
    Subscriber *it = nullptr;
    ArrivingMessage *const message = find_message(rank, sender, task, &it);
    if (message == nullptr) return CarriedEnd::to_count;
    const std::uint64_t sum = message->sum;
    const std::uint64_t epoch = message->epoch;
    std::uint64_t missing =
        end_message(*message, is_whole ? kWholeMessage * it->events : 0, number_bits_of(rank));
    if (sum == 0) return is_whole ? CarriedEnd::to_count : CarriedEnd::counted;
    // Its tag was taken for that of another epoch: only a sender that does not look gets so far
    // away.
    const bool is_astray = task.epoch != SENNIT_EPOCH_CURRENT && task.epoch != epoch;
    if (is_astray) missing = 0 - sum;
    const Own *const own = find_by_handle(rank, it->handle);
    const bool is_there = own != nullptr && is_counted(epoch, own_epoch(*own));
    if (missing != 0 && is_there) count(rank, *signals_of(rank), *own, epoch, missing);
    if (is_astray && is_whole) return CarriedEnd::to_count;
    if (missing != 0 && !is_there) return CarriedEnd::late;
    return CarriedEnd::counted;
}

}  // namespace sennit::signal
