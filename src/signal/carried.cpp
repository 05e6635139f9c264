// SPDX-License-Identifier: BSD-3-Clause
// Counts events that arrive in completion data. An event that is early, late or surplus is not
// counted here: the task that ends its message counts or refuses it, and answers the sender.
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

// Marks the signal for waits on its waitset. The caller has made a full fence after the stores that
// the waits must see.
void mark_in_set(const Signals &all, const Own &own) {
    // relaxed: after a full fence, so the owner sees the count if this load misses its store.
    if (own.record->in_set.load(std::memory_order_relaxed) == 0) return;
    const std::uint32_t handle = handle_of(own);
    // relaxed: the handle was published after it.
    mark_fired(all.chunks[chunk_of(index_of(handle))].load(std::memory_order_relaxed), handle);
}

// The steps after a count that left `counter` in the slot.
void after_count(Rank &rank, const Signals &all, const Own &own, std::uint64_t epoch,
                 std::uint64_t counter) {
    const std::uint64_t value = value_of(counter, own.events, epoch);
    // For a strict signal, an event of the next epoch is an error to report.
    const bool is_ahead = is_strict(own) && epoch != own_epoch(own);
    if (value == 0 || is_overflown(value, own.event_bits) || is_ahead) mark_in_set(all, own);
    ring_doorbell(*rank.control);
}

void count(Rank &rank, const Signals &all, const Own &own, std::uint64_t epoch,
           std::uint64_t addend) {
    SignalRecord &record = *own.record;
    // SYNC signal-count: pairs with the acquires in own_value() and poll(), of this rank's threads;
    // the data comes before its event. SYNC signal-set: pairs with the fence in set_add(); the add
    // is also a full fence between the count and the load of in_set.
    const std::uint64_t counter = add_at_once(record.slot[slot_of(epoch)], addend);
    after_count(rank, all, own, epoch, counter + addend);
}

enum class Added : std::uint8_t {
    yes,
    no_room,  // the epoch has all its events
    not_now   // the slot or the owner's epoch has changed
};

// Adds a message to its epoch, if the epoch has room and the owner is in epoch `receivers`. The
// owner does not leave its epoch meanwhile: see count_current().
Added add_in_room(Rank &rank, const Own &own, std::uint64_t receivers, const Messages &messages,
                  std::uint64_t addend) {
    SignalRecord &record = *own.record;
    std::atomic<std::uint64_t> &slot = record.slot[slot_of(messages.epoch)];
    // SYNC signal-count: pairs with the releases of senders: whoever sees a value of a later epoch
    // also sees that epoch in the load below.
    std::uint64_t counter = slot.load(std::memory_order_acquire);
    // relaxed: the load of the slot orders it.
    if (record.epoch.load(std::memory_order_relaxed) != receivers) return Added::not_now;
    const std::uint64_t before = value_of(counter, own.events, messages.epoch);
    if (messages.count > own.events ||
        is_surplus(before, messages.count, own.events, own.event_bits))
        return Added::no_room;
    // SYNC signal-count: pairs with the acquires in own_value() and poll(); the data comes before.
    if (!slot.compare_exchange_strong(counter, counter + addend, std::memory_order_release,
                                      std::memory_order_relaxed))
        return Added::not_now;
    // SYNC signal-set: pairs with the fence in set_add(); the count comes before the load of
    // in_set.
    store_load_fence();
    after_count(rank, *signals_of(rank), own, messages.epoch, counter + addend);
    return Added::yes;
}

Own *find_by_handle(const Rank &rank, std::uint32_t handle) {
    return find_own(rank, {rank.world_rank, handle});
}

// Whether the owner, now in epoch `receivers`, accepts a message of `epoch`.
bool accepts(const Own &own, std::uint64_t epoch, std::uint64_t receivers) {
    return is_counted(epoch, receivers, is_unchecked(handle_of(own)) ? 1 : own.record->most_ahead);
}

// Undoes the message's parts and reports it to the owner now: the task that ends the message may
// arrive after the owner's next reset. The answer to that task has the error for the sender.
void refuse(Rank &rank, const Own &own, ArrivingMessage &message, std::uint64_t epoch) {
    const std::uint64_t sum = refuse_message(message, epoch);
    if (sum != 0) count(rank, *signals_of(rank), own, epoch, 0 - sum);
    const ErrorGuard unrelated;
    report_to_owner(reach_own(rank, own), epoch);
}

// Adds a part to the signal, if the owner accepts the message's epoch and the epoch has room. The
// first part to arrive sets that epoch to epoch_of(the owner's epoch). The epoch cannot end without
// the other parts.
template <class EpochOf>
void add_part_to_signal(Rank &rank, const Own &own, const Subscriber &subscriber,
                        ArrivingMessage &message, std::uint64_t addend, EpochOf epoch_of) {
    Added added = Added::not_now;
    while (added == Added::not_now) {
        // SYNC signal-epoch: pairs with the releases in advance() and reset_at_once(), of this
        // rank's threads; their use of the data of earlier epochs comes before this event.
        const std::uint64_t receivers = own.record->epoch.load(std::memory_order_acquire);
        const std::uint64_t epoch = message.sum != 0 ? message.epoch : epoch_of(receivers);
        if (!accepts(own, epoch, receivers)) return;
        if (has_events(message, event_mask(own.event_bits))) {
            count(rank, *signals_of(rank), own, epoch, addend);
            added = Added::yes;
        } else {
            added = add_in_room(rank, own, receivers, {epoch, subscriber.events}, addend);
        }
        if (added == Added::yes) note_part(message, epoch, addend);
        if (added == Added::no_room) refuse(rank, own, message, epoch);
    }
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
    const std::uint64_t addend = addend_of(layout, event, own->event_bits, it->events);
    add_part_to_signal(rank, *own, *it, *message, addend, [&](std::uint64_t receivers) {
        return it->epochs == EpochKind::current
                   ? receivers
                   : epoch_of_tag(event.tag, receivers, layout.tag_bits);
    });
}

unsigned number_bits_of(const Rank &rank) {
    const op::EventWidth width = op::engine_own_event_width(rank);
    return layout_of(width.bits, width.index_bits).number_bits;
}

// Null: the message has ended, or never existed.
ArrivingMessage *find_message(Rank &rank, int sender, const op::EventTask &task, Subscriber **of) {
    *of = signals_of(rank)->subscribers.find_of(task.index, sender);
    if (*of == nullptr) return nullptr;
    ArrivingMessage &message = (*of)->messages[task.number() % places_of(number_bits_of(rank))];
    return op::EventTask::number_in(message.number) == task.number() ? &message : nullptr;
}

void subscribe(Rank &rank, const RemoteSignal &remote, const SubscriptionKey &kind,
               std::uint64_t epoch) {
    const ErrorGuard unrelated;
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
}

// Gives indices back to their owners: those that this rank has left and that have no open messages.
void give_back_left(Rank &rank) {
    sennit_signal signal;
    std::uint32_t index = 0;
    while (signals_of(rank)->subscriptions.pop_left(&signal, &index)) {
        const ErrorGuard unrelated;
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
    }
}

// Whether completion data of `bits` bits, which may be fewer than the owner reads, is enough. A
// message to an unchecked signal may be of any epoch: its tag must be long enough for the owner to
// detect a wrong epoch at the first event, not at the end of the message.
bool has_enough_bits(const NumberedMessage &message, const RemoteSignal &remote, unsigned bits) {
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
    // Before subscribe(), since the owner may have no index left.
    give_back_left(rank);
    if (begun == Subscriptions::Begun::must_subscribe)
        subscribe(rank, remote, kind, messages.epoch);
    if (begun == Subscriptions::Begun::refused)
        runtime::note_message(rank, runtime::CountedMessage::not_carried, 0);
    if (begun != Subscriptions::Begun::yes) {
        *message = NumberedMessage{};
    } else if (!has_enough_bits(*message, remote, bits)) {
        subscriptions.undo_begin(kind, *message);
        subscriptions.refuse(kind);
        *message = NumberedMessage{};
    }
}

void undo_begin_carried(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                        const NumberedMessage &message) {
    if (message.index == 0) return;
    signals_of(rank)->subscriptions.undo_begin(kind_of(remote.signal, messages), message);
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
    static constexpr op::EventHandlers kHandlers{count_arrived, execute_event_task, renew_answer,
                                                 learn_answer};
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
        // relaxed: there is no event before the sender has the index.
        if (is_strict(*own) || kind_of_epoch(task.epoch) == EpochKind::current)
            own->state.fetch_or(kReadsFirst, std::memory_order_relaxed);
    }
    given.event_bits = static_cast<std::uint8_t>(layout.bits);
    given.index_bits = static_cast<std::uint8_t>(width.index_bits);
    return word_of(given);
}

void end_subscription(Rank &rank, int sender, const op::EventTask &task) {
    Subscribers &subscribers = signals_of(rank)->subscribers;
    if (subscribers.find_of(task.index, sender) != nullptr) subscribers.free_index(task.index);
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
    const Own *const own = find_by_handle(rank, it->handle);
    const std::uint64_t whole = is_whole ? kWholeMessage * it->events : 0;
    // The owner took the tag for that of another epoch. Only a sender to an unchecked signal can be
    // so many epochs away.
    const bool is_in_other_epoch =
        task.epoch != SENNIT_EPOCH_CURRENT && task.epoch != message->epoch;
    // The part with the events is missing, and the epoch may have no room for them any more.
    if (own != nullptr && message->sum != 0 && is_whole && !is_in_other_epoch &&
        !has_events(*message, event_mask(own->event_bits)))
        add_part_to_signal(rank, *own, *it, *message, whole - message->sum,
                           [](std::uint64_t receivers) { return receivers; });
    const std::uint64_t sum = message->sum;
    const std::uint64_t epoch = message->epoch;
    const bool is_refused = message->is_refused && !is_in_other_epoch;
    std::uint64_t missing = end_message(*message, whole, number_bits_of(rank));
    if (is_refused) return is_whole ? CarriedEnd::surplus : CarriedEnd::counted;
    if (sum == 0) return is_whole ? CarriedEnd::to_count : CarriedEnd::counted;
    if (is_in_other_epoch) missing = 0 - sum;
    const bool is_there = own != nullptr && is_counted(epoch, own_epoch(*own));
    if (missing != 0 && is_there) count(rank, *signals_of(rank), *own, epoch, missing);
    if (is_in_other_epoch && is_whole) return CarriedEnd::to_count;
    if (missing != 0 && !is_there) return CarriedEnd::late;
    return CarriedEnd::counted;
}

}  // namespace sennit::signal
