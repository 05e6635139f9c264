// SPDX-License-Identifier: BSD-3-Clause
// Events in the completion data of puts (support levels 1 to 3): the layout of the bits, the
// sender's side and the owner's side. Each message ends with a task (event_task.hpp), which ensures
// that the message is counted once. docs/design/decisions/0005-notified-puts-in-one-message.md has
// the protocol and the losses of each width.
#pragma once

#include <sennit/notify.h>

#include "op/engine.hpp"
#include "signal/event_task.hpp"
#include "signal/signals.hpp"
#include "signal/subscriptions.hpp"

namespace sennit::signal {

// From the lowest bit: message number, part code, tag of the epoch, index of the subscription. A
// tag of 64 bits is the epoch itself, in the high word.
struct CarriedLayout {
    unsigned bits;
    unsigned number_bits;
    unsigned code_bits;  // 0: a message has one part
    unsigned tag_bits;
    unsigned index_bits;

    bool is_none() const { return bits == 0; }
};

inline constexpr CarriedLayout kCarriedLayouts[] = {
    {128, 8, 24, 64, 32}, {64, 8, 16, 16, 24}, {32, 4, 8, 4, 16},
    {16, 3, 0, 3, 10},    {8, 2, 0, 1, 5},     {0, 0, 0, 0, 0},
};
// With 32 bits, the index and the code share this many bits.
inline constexpr unsigned kSharedBits = 24;
inline constexpr unsigned kFewestIndexBits = 8;

// The widest layout for this many bits of completion data. With 32 bits, the index has `index_bits`
// of the shared bits (0: the default), and the part code has the others.
constexpr CarriedLayout layout_of(unsigned event_bits, unsigned index_bits = 0) {
    const CarriedLayout *layout = kCarriedLayouts;
    while (layout->bits > event_bits)
        ++layout;
    CarriedLayout it = *layout;
    if (it.bits == 32 && index_bits >= kFewestIndexBits && index_bits <= kSharedBits) {
        it.index_bits = index_bits;
        it.code_bits = kSharedBits - index_bits;
    }
    return it;
}

// The contents of a part of a message.
struct CarriedEvent {
    std::uint32_t number;  // only the low bits of number and tag that fit
    std::uint64_t code;
    std::uint64_t tag;
    std::uint32_t index;
};

constexpr transport::EventData pack(const CarriedLayout &layout, const CarriedEvent &event) {
    transport::EventData data;
    data.low = event.number & low_mask(layout.number_bits);
    unsigned at = layout.number_bits;
    data.low |= (event.code & low_mask(layout.code_bits)) << at;
    at += layout.code_bits;
    if (layout.tag_bits == 64) {
        data.high = event.tag;
    } else {
        data.low |= (event.tag & low_mask(layout.tag_bits)) << at;
        at += layout.tag_bits;
    }
    data.low |= std::uint64_t{event.index} << at;
    return data;
}

constexpr CarriedEvent unpack(const CarriedLayout &layout, const transport::EventData &data) {
    CarriedEvent event{};
    std::uint64_t left = data.low;
    const auto field = [&left](unsigned bits) {
        const std::uint64_t value = left & low_mask(bits);
        left >>= bits;
        return value;
    };
    event.number = static_cast<std::uint32_t>(field(layout.number_bits));
    event.code = field(layout.code_bits);
    event.tag = layout.tag_bits == 64 ? data.high : field(layout.tag_bits);
    event.index = static_cast<std::uint32_t>(field(layout.index_bits));
    return event;
}

// The largest number of parts of a message.
constexpr unsigned most_parts(const CarriedLayout &layout) {
    return layout.code_bits == 0 ? 1 : static_cast<unsigned>(further_code(layout.code_bits));
}

// The value that the event adds to a signal with N = `event_bits`; its message counts as `events`.
constexpr std::uint64_t addend_of(const CarriedLayout &layout, const CarriedEvent &event,
                                  unsigned event_bits, std::uint32_t events) {
    if (layout.code_bits == 0) return kWholeMessage * events;
    const std::uint64_t addend = addend_of(event.code, layout.code_bits, event_bits);
    const bool is_further = event.code == further_code(layout.code_bits);
    return is_further ? addend : addend + kWholeMessage * (events - 1);
}

constexpr EpochKind kind_of_epoch(std::uint64_t epoch) {
    return epoch == SENNIT_EPOCH_CURRENT ? EpochKind::current : EpochKind::named;
}

// The subscription for messages to the signal that count as this many events.
constexpr SubscriptionKey kind_of(sennit_signal signal, const Messages &messages) {
    return {signal, kind_of_epoch(messages.epoch), messages.count};
}

// Takes a number for a message, if completion data can carry its events; else message->index is 0.
// If there is no subscription, asks the owner for one without a wait.
void begin_carried(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                   NumberedMessage *message);
// Undoes begin_carried() for a message that is not sent.
void undo_begin_carried(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                        const NumberedMessage &message);
// How completion data carries the events of the message.
op::EventForm form_of(const NumberedMessage &message, std::uint64_t epoch);
// Starts the task that ends a message, and holds it until the message's data has moved. If
// completion data can carry the events and divide(form) returns true, *form says how, and the task
// confirms them. Else form->index is 0, and the task counts the message. Errors: as hold_event().
template <class Divide>
sennit_status hold_message(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                           op::Held *event, op::EventForm *form, Divide divide) {
    NumberedMessage message;
    begin_carried(rank, remote, messages, &message);
    *form = form_of(message, messages.epoch);
    if (message.index != 0 && !divide(form)) {
        undo_begin_carried(rank, remote, messages, message);
        form->index = 0;
        message = {};
    }
    const sennit_status status = hold_event(rank, remote, messages, message, event);
    if (status != SENNIT_OK) undo_begin_carried(rank, remote, messages, message);
    return status;
}
// For a caller that does not send to the signal for now: gives the index back.
void leave_subscription(Rank &rank, sennit_signal signal);

// Accepts events for the rank's signals. Called before any peer knows the first of them.
void expect_events(Rank &rank);

// The owner's side of the tasks for messages with completion data.
//
// The answer to a sender that subscribes, in the form of word_of().
std::uint64_t give_subscription(Rank &rank, int sender, const op::EventTask &task);
void end_subscription(Rank &rank, int sender, const op::EventTask &task);
// Whether all events of the message have arrived. From now on none is accepted.
bool close_carried(Rank &rank, int sender, const op::EventTask &task);
// Ends the message, which is complete (`is_whole`) or has failed.
enum class CarriedEnd : std::uint8_t {
    counted,
    late,     // a part was counted, and its epoch is over
    surplus,  // its epoch has no room for it; reported to the owner
    to_count  // nothing was counted; the caller counts
};
CarriedEnd end_carried(Rank &rank, int sender, const op::EventTask &task, bool is_whole);

}  // namespace sennit::signal
