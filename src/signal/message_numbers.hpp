// SPDX-License-Identifier: BSD-3-Clause
// Messages with events in completion data: the bookkeeping between one sender and the owner of a
// signal. Pure functions. docs/design/decisions/0005-notified-puts-in-one-message.md has the
// protocol and its argument; tests/models/message_numbers_test.cpp searches all cases with these
// functions.
//
// Each message has a number, which determines its place. Its events add to the signal when they
// arrive, in any order, and some may be lost. At the end the sender sends a task, which is executed
// once: the owner adds what the events have not added, and accepts no more events of the message.
#pragma once

#include <cstdint>

namespace sennit::signal {

inline constexpr unsigned kMostPlaces = 8;

// The number of places if completion data has this many bits of the message number. A sender can
// have that many open messages. The messages of a place use at least four numbers in rotation. So
// an event that arrives after the task of its message is recognized until the place has been used
// three more times.
constexpr unsigned places_of(unsigned number_bits) {
    const unsigned quarter = number_bits >= 5 ? kMostPlaces : (1u << number_bits) / 4;
    return quarter == 0 ? 1 : quarter;
}

// ---- The owner's half.

struct ArrivingMessage {
    std::uint64_t sum = 0;    // sum of the addends of its events
    std::uint64_t epoch = 0;  // the epoch of these events
    std::uint32_t number = 0;
    bool is_closed = false;   // accepts no more events
    bool is_refused = false;  // the epoch had no room for it
};

// The message of an event, by the low bits of its number; null: no message accepts it.
constexpr ArrivingMessage *find_open(ArrivingMessage (&messages)[kMostPlaces], std::uint64_t low,
                                     unsigned number_bits) {
    ArrivingMessage &message = messages[low % places_of(number_bits)];
    const std::uint64_t mask = (std::uint64_t{1} << number_bits) - 1;
    const bool takes_more = !message.is_closed && !message.is_refused;
    return takes_more && ((message.number ^ low) & mask) == 0 ? &message : nullptr;
}

// Whether the part that brings the message's events has arrived. The other parts only count
// themselves.
constexpr bool has_events(const ArrivingMessage &message, std::uint64_t event_mask) {
    return (message.sum & event_mask) != 0;
}

constexpr void note_part(ArrivingMessage &message, std::uint64_t epoch, std::uint64_t addend) {
    message.sum += addend;
    message.epoch = epoch;
}

// Refuses a surplus message of that epoch. Returns the sum that its parts have added; the caller
// undoes it.
constexpr std::uint64_t refuse_message(ArrivingMessage &message, std::uint64_t epoch) {
    const std::uint64_t sum = message.sum;
    message = ArrivingMessage{0, epoch, message.number, message.is_closed, true};
    return sum;
}

// Called if the sender does not know whether a piece arrived. True: all events have arrived, and so
// has all data. Else the signal cannot fire before the sender's task.
constexpr bool close_message(ArrivingMessage &message, std::uint64_t whole) {
    message.is_closed = true;
    return message.sum == whole;
}

// Executes the task: returns the missing part of `whole`, and frees the place for the next message.
// `whole`: what the message adds; 0 if it has failed.
constexpr std::uint64_t end_message(ArrivingMessage &message, std::uint64_t whole,
                                    unsigned number_bits) {
    const std::uint64_t missing = whole - message.sum;
    message = ArrivingMessage{0, 0, message.number + places_of(number_bits)};
    return missing;
}

// Initializes the places of a subscription. `use` counts the uses of the index, so that late events
// of an earlier use have other message numbers.
constexpr void begin_places(ArrivingMessage (&messages)[kMostPlaces], std::uint32_t use,
                            unsigned number_bits) {
    const unsigned places = places_of(number_bits);
    for (unsigned place = 0; place < places; ++place)
        messages[place] = ArrivingMessage{0, 0, use * places + place};
}
// The `use` of the next subscription with this index.
constexpr std::uint32_t next_use(const ArrivingMessage (&messages)[kMostPlaces],
                                 unsigned number_bits) {
    const unsigned places = places_of(number_bits);
    std::uint32_t most = 0;
    for (unsigned place = 0; place < places; ++place)
        if (messages[place].number / places > most) most = messages[place].number / places;
    return most + 1;
}

// ---- The sender's half.

struct SentMessages {
    std::uint32_t next[kMostPlaces] = {};  // number of the next message of the place
    std::uint8_t busy = 0;                 // bits of places whose message has not ended
};

constexpr void begin_places(SentMessages &sent, std::uint32_t use, unsigned number_bits) {
    const unsigned places = places_of(number_bits);
    for (unsigned place = 0; place < places; ++place)
        sent.next[place] = use * places + place;
    sent.busy = 0;
}

// False: no place is free.
constexpr bool begin_message(SentMessages &sent, unsigned number_bits, std::uint32_t *number) {
    const unsigned places = places_of(number_bits);
    for (unsigned place = 0; place < places; ++place) {
        if ((sent.busy >> place & 1) != 0) continue;
        sent.busy = static_cast<std::uint8_t>(sent.busy | 1u << place);
        *number = sent.next[place];
        sent.next[place] += places;
        return true;
    }
    return false;
}

// Undoes begin_message(): no task and no event was or will be sent.
constexpr void undo_begin_message(SentMessages &sent, unsigned number_bits, std::uint32_t number) {
    const unsigned places = places_of(number_bits);
    sent.busy = static_cast<std::uint8_t>(sent.busy & ~(1u << number % places));
    sent.next[number % places] = number;
}

// The owner has executed the task.
constexpr void forget_message(SentMessages &sent, unsigned number_bits, std::uint32_t number) {
    sent.busy = static_cast<std::uint8_t>(sent.busy & ~(1u << number % places_of(number_bits)));
}

}  // namespace sennit::signal
