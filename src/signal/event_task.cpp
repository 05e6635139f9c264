// SPDX-License-Identifier: BSD-3-Clause
#include "signal/event_task.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "op/packed.hpp"
#include "op/rma.hpp"
#include "op/strided.hpp"
#include "runtime/detector.hpp"
#include "signal/carried.hpp"

namespace sennit::signal {
namespace {

// An answer: the result in the low 7 bits, then whether the signal is strict, then the owner's
// epoch modulo 2^56. For surplus messages: their number (24 bits, saturated), then the number
// expected.
enum class EventResult : std::uint8_t { no_signal, counted, early, late, surplus };
constexpr unsigned kResultBits = 8;
constexpr std::uint64_t kStrictBit = 1u << (kResultBits - 1);
constexpr unsigned kSurplusBits = 24;
static_assert(static_cast<std::uint64_t>(EventResult::no_signal) == op::kNoSuchSignal);

constexpr std::uint64_t answer_of(EventResult result, std::uint64_t value) {
    return value << kResultBits | static_cast<std::uint64_t>(result);
}
std::uint64_t answer_with_epoch(EventResult result, const Own &own, std::uint64_t epoch) {
    return answer_of(result, epoch) | (is_strict(own) ? kStrictBit : 0);
}
// The owner's whole epoch: the one nearest to `near` with the bits in the answer.
constexpr std::uint64_t epoch_in(std::uint64_t answer, std::uint64_t near) {
    const auto ahead = static_cast<std::int64_t>(answer - (near << kResultBits));
    return near + static_cast<std::uint64_t>(ahead >> kResultBits);
}
static_assert(epoch_in(answer_of(EventResult::late, 7), 5) == 7 &&
              epoch_in(answer_of(EventResult::early, 5), 7) == 5 &&
              epoch_in(answer_of(EventResult::late, 1), UINT64_MAX) == 1);

constexpr EventResult result_in(std::uint64_t answer) {
    return static_cast<EventResult>(answer & (kStrictBit - 1));
}
KnownEpoch known_epoch_in(std::uint64_t answer, std::uint64_t near) {
    return {epoch_in(answer, near), std::uint8_t{(answer & kStrictBit) == 0}};
}

std::uint64_t surplus_answer(const Own &own, std::uint64_t arrived_events) {
    // `arrived_events` does not include events that others have counted since, so it may be too
    // small.
    const std::uint64_t surplus = arrived_events <= own.events ? 1 : arrived_events - own.events;
    const std::uint64_t most = low_mask(kSurplusBits);
    return answer_of(EventResult::surplus,
                     std::uint64_t{own.events} << kSurplusBits | (surplus < most ? surplus : most));
}

// Errors: as check_answer() without PEER_LOST. Also called with the engine's mutex held.
// `is_newest`: the caller has waited for this answer.
sennit_status read_answer(Rank &rank, sennit_signal signal, const Messages &messages,
                          std::uint64_t answer, bool is_newest) {
    KnownEpochs &known = signals_of(rank)->known;
    const EventResult result = result_in(answer);
    if (result == EventResult::surplus) {
        const std::uint64_t value = answer >> kResultBits;
        const std::uint64_t events = value >> kSurplusBits;
        return fail_too_many(signal, messages.epoch, events,
                             events + (value & low_mask(kSurplusBits)));
    }
    if (result == EventResult::no_signal) {
        known.forget(signal);
        signals_of(rank)->subscriptions.leave(signal);
        return was_destroyed(signal);
    }
    const bool is_current = messages.epoch == SENNIT_EPOCH_CURRENT;
    const KnownEpoch answered = known_epoch_in(answer, is_current ? 0 : messages.epoch);
    // If the known epoch accepts a message that the owner reports as early, the owner has created a
    // new signal with this name.
    if (is_newest || result == EventResult::early)
        known.begin(signal, answered);
    else
        known.learn(signal, answered);
    return result == EventResult::counted
               ? SENNIT_OK
               : fail_epoch(rank, signal,
                            {messages.epoch, answered.epoch,
                             is_unchecked(signal.handle) ? std::uint8_t{1} : answered.most_ahead});
}

// An op::EventCheck.
sennit_status read_late_answer(Rank &rank, int peer, const op::EventTask &task,
                               std::uint64_t answer) {
    const sennit_signal signal{peer, task.handle};
    Subscriptions &subscriptions = signals_of(rank)->subscriptions;
    if (answer == op::kNoAnswer) {
        if (task.action() == op::EventAction::subscribe)
            subscriptions.forget({signal, kind_of_epoch(task.epoch), task.number()});
        if (task.action() == op::EventAction::confirm || task.action() == op::EventAction::cancel)
            subscriptions.fail_message(peer, task.index, task.number());
        return SENNIT_OK;
    }
    switch (task.action()) {
        case op::EventAction::subscribe:
            subscriptions.learn({signal, kind_of_epoch(task.epoch), task.number()},
                                subscription_in(answer));
            return SENNIT_OK;
        case op::EventAction::unsubscribe:
        case op::EventAction::close:
            return SENNIT_OK;
        case op::EventAction::cancel:
            subscriptions.end_message(peer, task.index, task.number());
            return SENNIT_OK;
        case op::EventAction::confirm:
            subscriptions.end_message(kind_of(signal, {task.epoch, task.messages}), task.index,
                                      task.number());
            break;
        case op::EventAction::count:
        case op::EventAction::scatter:
            break;
    }
    return read_answer(rank, signal, {task.epoch, task.messages}, answer, false);
}

}  // namespace

std::size_t most_event_data(const Rank &rank, const RemoteSignal &remote) {
    return op::engine_most_event_data(rank, remote.signal.rank);
}

bool fits_in_task(const Rank &rank, const RemoteSignal &remote, const op::Layout &layout) {
    return op::packed_size(layout, op::engine_packed_room(rank, remote.signal.rank)).tasks == 1;
}

bool goes_packed(Rank &rank, const RemoteSignal &remote, const op::Layout &layout) {
    if (remote.is_none()) return false;
    return fits_in_task(rank, remote, layout) ? op::engine_may_copy(rank, layout.bytes)
                                              : op::goes_packed(rank, remote.signal.rank, layout);
}

sennit_status start_event(Rank &rank, const EventArgs &args, std::uint64_t *answer,
                          const op::Completion &how) {
    const RemoteSignal &remote = *args.remote;
    op::EventTask task{remote.signal.handle, args.messages.count, args.messages.epoch,
                       args.message.index, 0};
    task.set(args.layout != nullptr ? op::EventAction::scatter : args.action, args.message.number);
    op::Work work;
    work.result = answer;
    work.event = &task;
    work.check = read_late_answer;
    // A task without data names the memory of the signal.
    const bool has_data = args.bytes != 0;
    const std::size_t bytes = has_data ? args.bytes : sizeof(std::uint64_t);
    op::Target target;
    bool is_by_message = false;
    sennit_status status =
        op::target_of_moved(rank, has_data ? args.place : remote.gptr,
                            {nullptr, bytes, args.layout}, &target, &is_by_message);
    if (status == SENNIT_OK && !is_by_message)
        status = fail_peer(SENNIT_ERR_INTERNAL, remote.signal.rank, "",
                           "an event goes by messages to memory that is reached otherwise");
    if (status != SENNIT_OK) {
        op::engine_skip(rank, how, remote.signal.rank, status);
        return status;
    }
    target.work = &work;
    // The engine only reads the data.
    void *data = has_data ? const_cast<void *>(args.data) : nullptr;
    return op::engine_start(rank, op::Direction::execute, target, data, bytes, how);
}

sennit_status check_answer(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                           std::uint64_t answer) {
    const sennit_status status = read_answer(rank, remote.signal, messages, answer, true);
    if (status == SENNIT_ERR_SIGNAL_EARLY && peer_gone(rank, remote.signal.rank) != Gone::no)
        return fail_lost(rank, remote.signal.rank);
    return status;
}

namespace {

bool accepts_by_cache(const Rank &rank, const RemoteSignal &remote, std::uint64_t epoch) {
    KnownEpoch known{};
    return signals_of(rank)->known.find(remote.signal, &known) &&
           is_counted(epoch, known.epoch, known.most_ahead);
}

}  // namespace

bool is_known_accepted(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch) {
    if (is_unchecked(remote.signal.handle) || accepts_by_cache(rank, remote, epoch)) return true;
    op::engine_finish_postponed(rank);
    return accepts_by_cache(rank, remote, epoch);
}

bool is_known_accepted_soon(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch) {
    if (is_known_accepted(rank, remote, epoch)) return true;
    struct Wanted {
        Rank &rank;
        const RemoteSignal &remote;
        std::uint64_t epoch;
    };
    const Wanted wanted{rank, remote, epoch};
    const auto is_known = [](const void *context) {
        const auto &it = *static_cast<const Wanted *>(context);
        return accepts_by_cache(it.rank, it.remote, it.epoch);
    };
    const ErrorGuard unrelated;
    (void)op::engine_await_answers(rank, remote.signal.rank, default_deadline(), is_known, &wanted);
    return is_known_accepted(rank, remote, epoch);
}

sennit_status send_event(Rank &rank, const EventArgs &args) {
    std::uint64_t answer = 0;
    const sennit_status status = start_event(rank, args, &answer, op::kBuffered);
    return status != SENNIT_OK ? status : check_answer(rank, *args.remote, args.messages, answer);
}

sennit_status start_posted(Rank &rank, const EventArgs &args) {
    return start_event(rank, args, nullptr, {op::Completion::Mode::implicit});
}

sennit_status start_packed(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                           const PackedPut &put, const op::Completion &how) {
    EventArgs tasks{&remote, {epoch, 0}, put.place, put.local, put.layout->bytes};
    tasks.layout = put.layout;
    return start_event(rank, tasks, nullptr, how);
}

sennit_status post_event(Rank &rank, const EventArgs &args) {
    if (args.messages.epoch != SENNIT_EPOCH_CURRENT &&
        !is_known_accepted(rank, *args.remote, args.messages.epoch))
        return send_event(rank, args);
    return post_accepted(rank, args);
}

sennit_status post_accepted(Rank &rank, const EventArgs &args) {
    const sennit_status status = start_posted(rank, args);
    return status == SENNIT_OK
               ? op::engine_await_sent(rank, args.remote->signal.rank, default_deadline())
               : status;
}

bool post_short(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                op::ShortEvent put) {
    op::EventTask task{remote.signal.handle, messages.count, messages.epoch, 0, 0};
    task.set(op::EventAction::count, 0);
    put.task = &task;
    put.check = read_late_answer;
    return op::engine_post_short(rank, put);
}

sennit_status ask_owner(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch) {
    return send_event(rank, {.remote = &remote, .messages = {epoch, 0}});
}

namespace {

// Counts the messages of the task in their epoch, if it is accepted and has room for them.
std::uint64_t count_in_epoch(Rank &rank, const op::ArrivedEvent &arrived) {
    const op::EventTask &task = arrived.task;
    const sennit_signal signal{rank.world_rank, task.handle};
    const Own *own = find_own(rank, signal);
    if (own == nullptr) return answer_of(EventResult::no_signal, 0);
    const RemoteSignal self = reach_own(rank, *own);
    // SYNC signal-epoch: pairs with the releases in advance() and reset_at_once(), of this rank's
    // threads; their use of the data of earlier epochs comes before this data.
    std::uint64_t epoch = own->record->epoch.load(std::memory_order_acquire);
    const bool is_current = task.epoch == SENNIT_EPOCH_CURRENT;
    const auto counter_of = [&](std::uint64_t which) {
        // SYNC signal-count: pairs with the releases of senders; the value is only compared, and an
        // added message is checked again when it is counted.
        return own->record->slot[slot_of(which)].load(std::memory_order_acquire);
    };
    std::uint64_t counter = counter_of(is_current ? epoch : task.epoch);
    // relaxed: the load of the slot orders it.
    while (is_current && own->record->epoch.load(std::memory_order_relaxed) != epoch) {
        // SYNC signal-epoch: pairs with the releases in advance() and reset_at_once().
        epoch = own->record->epoch.load(std::memory_order_acquire);
        counter = counter_of(epoch);
    }
    const std::uint64_t wanted = is_current ? epoch : task.epoch;
    const bool is_free = is_unchecked(signal.handle);
    const Expected expected{own->events, own->event_bits, own->record->most_ahead};
    if (!is_counted(wanted, epoch, is_free ? 1 : expected.most_ahead)) {
        const bool early = is_early(wanted, epoch);
        // The sender of an unchecked event waits for no answer, so the owner gets the error.
        if (is_free) report_to_owner(self, wanted, early ? Uncounted::early : Uncounted::late);
        return answer_with_epoch(early ? EventResult::early : EventResult::late, *own, epoch);
    }
    const std::uint64_t before = value_of(counter, own->events, wanted);
    const std::uint32_t messages = task.messages == 0 ? 1 : task.messages;
    const std::uint64_t arrived_events =
        events_arrived(before, own->events, own->event_bits) + messages;
    if (messages > own->events || is_surplus(before, messages, own->events, own->event_bits)) {
        // A refused part of a message's data is reported with the message's event.
        const bool is_part = task.messages == 0 && task.action() == op::EventAction::scatter;
        if (!is_part) report_to_owner(self, wanted);
        return surplus_answer(*own, arrived_events);
    }
    const bool is_whole = op::store_arrived(arrived);
    if (task.messages == 0 || !is_whole)
        return answer_with_epoch(EventResult::counted, *own, epoch);
    const ErrorGuard unrelated;  // the thread that runs this may have an error of its own
    return count_accepted(self, expected, {task.epoch, task.messages})
               ? answer_with_epoch(EventResult::counted, *own, epoch)
               : surplus_answer(*own, arrived_events);
}

std::uint64_t answer_now(EventResult result, const Own &own) {
    // SYNC signal-epoch: pairs with the releases in advance() and reset_at_once(), of this rank's
    // threads; their use of the data of earlier epochs comes before the sender's next data.
    return answer_with_epoch(result, own, own.record->epoch.load(std::memory_order_acquire));
}

std::uint64_t end_message(Rank &rank, const op::ArrivedEvent &arrived) {
    const op::EventTask &task = arrived.task;
    const bool is_whole = task.action() == op::EventAction::confirm;
    const CarriedEnd end = end_carried(rank, arrived.from, task, is_whole);
    if (end == CarriedEnd::to_count) return count_in_epoch(rank, arrived);
    const Own *const own = find_own(rank, {rank.world_rank, task.handle});
    // The owner may have destroyed a signal whose events have all arrived.
    if (own == nullptr)
        return answer_of(end == CarriedEnd::counted ? EventResult::counted : EventResult::no_signal,
                         task.epoch == SENNIT_EPOCH_CURRENT ? 0 : task.epoch);
    if (end == CarriedEnd::surplus)
        return surplus_answer(*own, std::uint64_t{own->events} + task.messages);
    return answer_now(end == CarriedEnd::late ? EventResult::late : EventResult::counted, *own);
}

}  // namespace

std::uint64_t execute_event_task(Rank &rank, const op::ArrivedEvent &arrived) {
    if (signals_of(rank) == nullptr) return answer_of(EventResult::no_signal, 0);
    switch (arrived.task.action()) {
        case op::EventAction::count:
        case op::EventAction::scatter:
            return count_in_epoch(rank, arrived);
        case op::EventAction::confirm:
        case op::EventAction::cancel:
            return end_message(rank, arrived);
        case op::EventAction::close:
            return close_carried(rank, arrived.from, arrived.task) ? 1 : 0;
        case op::EventAction::subscribe:
            return give_subscription(rank, arrived.from, arrived.task);
        case op::EventAction::unsubscribe:
            end_subscription(rank, arrived.from, arrived.task);
            return 0;
    }
    return answer_of(EventResult::no_signal, 0);
}

std::uint64_t renew_answer(Rank &rank, std::uint32_t handle, std::uint64_t answer) {
    if (result_in(answer) != EventResult::counted) return answer;
    const Own *const own = find_own(rank, {rank.world_rank, handle});
    if (own == nullptr) return answer;
    return answer_now(EventResult::counted, *own);
}

void learn_answer(Rank &rank, int peer, std::uint32_t handle, std::uint64_t answer) {
    const sennit_signal signal{peer, handle};
    Signals *const all = signals_of(rank);
    KnownEpoch known{};
    if (all == nullptr || result_in(answer) != EventResult::counted ||
        !all->known.find(signal, &known))
        return;
    all->known.learn(signal, known_epoch_in(answer, known.epoch));
}

}  // namespace sennit::signal
