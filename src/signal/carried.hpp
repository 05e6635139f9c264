// SPDX-License-Identifier: BSD-3-Clause
// Events that ride in the completion data of puts: support levels 1 to 3. What is in the bits, and
// both ends: the sender's form and the owner's count. docs/design/signals.md has the widths and
// what is lost with each, decisions/0005-notified-puts-in-one-message.md the protocol: each message
// ends by a task (event_task.hpp), which sees to it that it is counted once.
#pragma once

#include <sennit/notify.h>

#include "op/engine.hpp"
#include "signal/event_task.hpp"
#include "signal/signals.hpp"
#include "signal/subscriptions.hpp"

namespace sennit::signal {

// From the lowest bit: the number of the message, the part code, the tag of the epoch, and the
// index of the subscription. A tag of 64 bits is the epoch itself, in the high word.
struct CarriedLayout {
    unsigned bits;
    unsigned number_bits;
    unsigned code_bits;  // 0: a message is in one part
    unsigned tag_bits;
    unsigned index_bits;

    bool is_none() const { return bits == 0; }
};

inline constexpr CarriedLayout kCarriedLayouts[] = {
    {128, 8, 24, 64, 32}, {64, 8, 16, 16, 24}, {32, 4, 8, 4, 16},
    {16, 3, 0, 3, 10},    {8, 2, 0, 1, 5},     {0, 0, 0, 0, 0},
};
// Of 32 bits, the index and the code share so many.
inline constexpr unsigned kSharedBits = 24;
inline constexpr unsigned kFewestIndexBits = 8;

// The widest that fits into completion data of so many bits. Where that is 32, `index_bits` of them
// are the index, unless it is 0: the part code has what is left.
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

// What a part of a message says.
struct CarriedEvent {
    std::uint32_t number;  // as many of its low bits as there are; so is the tag
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

// What the event adds to a signal of N bits of events; its message counts for `events`.
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

// Messages to the signal that count for so many events.
constexpr SubscriptionKey kind_of(sennit_signal signal, const Messages &messages) {
    return {signal, kind_of_epoch(messages.epoch), messages.count};
}

// A number for a message, if completion data can bring its events; else message->index is 0. Asks
// the owner for a subscription if there is none, and does not wait for it.
void begin_carried(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                   NumberedMessage *message);
// It is not sent after all.
void unbegin_carried(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                     const NumberedMessage &message);
// Of such a message.
op::EventForm form_of(const NumberedMessage &message, std::uint64_t epoch);
// Holds the event that ends a message, whose own events go with its data as *form says if
// completion data can bring them: divide(form) says whether they fit. Else form->index is 0, and
// the held event counts the message. Errors: as hold_event().
template <class Divide>
sennit_status hold_message(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                           op::Held *event, op::EventForm *form, Divide divide) {
    NumberedMessage message;
    begin_carried(rank, remote, messages, &message);
    *form = form_of(message, messages.epoch);
    if (message.index != 0 && !divide(form)) {
        unbegin_carried(rank, remote, messages, message);
        form->index = 0;
        message = {};
    }
    const sennit_status status = hold_event(rank, remote, messages, message, event);
    if (status != SENNIT_OK) unbegin_carried(rank, remote, messages, message);
    return status;
}
// The caller will not send to the signal for now, so its index is given back.
void leave_subscription(Rank &rank, sennit_signal signal);

// Takes what comes for the rank's signals. Before the first of them is known to any peer.
void expect_events(Rank &rank);

// The owner's half of the tasks that are about messages with completion data.
//
// The answer to a sender that subscribes, as word_of().
std::uint64_t give_subscription(Rank &rank, int sender, const op::EventTask &task);
void take_subscription_back(Rank &rank, int sender, const op::EventTask &task);
// Have all events of the message come? From now on none of them is taken.
bool close_carried(Rank &rank, int sender, const op::EventTask &task);
// The message is over: it is whole, or has failed. What becomes of its event.
enum class CarriedEnd : std::uint8_t {
    counted,
    late,     // a part of it was, and its epoch is over
    surplus,  // its epoch has had no room for it, of which the owner was told
    to_count  // nothing has been counted, and the caller does
};
CarriedEnd end_carried(Rank &rank, int sender, const op::EventTask &task, bool is_whole);

}  // namespace sennit::signal
