// SPDX-License-Identifier: BSD-3-Clause
// Messages whose events come in completion data: the bookkeeping between one sender and the owner
// of a signal. Pure functions. docs/design/decisions/0005-notified-puts-in-one-message.md has the
// protocol and why it suffices; tests/models/message_numbers_test.cpp searches what can happen with
// these functions.
//
// Each message has a number, and a place by that number. Its events add to the signal as they come,
// in any order, and some may never come. Then its sender says in a task, which is carried out once,
// what the whole message is to have added: the owner adds what is missing, and takes no more events
// of it.
#pragma once

#include <cstdint>

namespace sennit::signal {

inline constexpr unsigned kMostPlaces = 8;

// How many messages of a sender may be without that task at a time, where completion data has so
// many bits of the number. A place has four numbers in turn, so an event that comes later than the
// task of its message is known for what it is until the place has been used three times more.
constexpr unsigned places_of(unsigned number_bits) {
    const unsigned quarter = number_bits >= 5 ? kMostPlaces : (1u << number_bits) / 4;
    return quarter == 0 ? 1 : quarter;
}

// ---- The owner's half.

struct ArrivingMessage {
    std::uint64_t sum = 0;    // what its events have added
    std::uint64_t epoch = 0;  // in which, once one has
    std::uint32_t number = 0;
    bool is_closed = false;   // its events are not taken any more
    bool is_refused = false;  // the epoch had no room for it; so it stays, whatever comes
};

// The message that an event is for, by the low bits of its number; null: it takes none.
constexpr ArrivingMessage *find_open(ArrivingMessage (&messages)[kMostPlaces], std::uint64_t low,
                                     unsigned number_bits) {
    ArrivingMessage &message = messages[low % places_of(number_bits)];
    const std::uint64_t mask = (std::uint64_t{1} << number_bits) - 1;
    const bool takes_more = !message.is_closed && !message.is_refused;
    return takes_more && ((message.number ^ low) & mask) == 0 ? &message : nullptr;
}

// Has the part come that brings the events of its message? Others only say that they are there.
constexpr bool has_events(const ArrivingMessage &message, std::uint64_t event_mask) {
    return (message.sum & event_mask) != 0;
}

constexpr void take_part(ArrivingMessage &message, std::uint64_t epoch, std::uint64_t addend) {
    message.sum += addend;
    message.epoch = epoch;
}

// One too many in that epoch. What its parts have added is to be taken back.
constexpr std::uint64_t refuse_message(ArrivingMessage &message, std::uint64_t epoch) {
    const std::uint64_t sum = message.sum;
    message = ArrivingMessage{0, epoch, message.number, message.is_closed, true};
    return sum;
}

// Its sender is in doubt about a piece. True: all events have come, so all data is there, and the
// program may have been told. Else it is not told before the sender's task has come.
constexpr bool close_message(ArrivingMessage &message, std::uint64_t whole) {
    message.is_closed = true;
    return message.sum == whole;
}

// The task: what is to be added, for a message that adds `whole`, or 0 if it has failed. The place
// is free for the next one.
constexpr std::uint64_t end_message(ArrivingMessage &message, std::uint64_t whole,
                                    unsigned number_bits) {
    const std::uint64_t missing = whole - message.sum;
    message = ArrivingMessage{0, 0, message.number + places_of(number_bits)};
    return missing;
}

// The places of a subscription that begins with the use numbered so. A later one of the same index
// has other numbers than what may still come for an earlier one.
constexpr void begin_places(ArrivingMessage (&messages)[kMostPlaces], std::uint32_t use,
                            unsigned number_bits) {
    const unsigned places = places_of(number_bits);
    for (unsigned place = 0; place < places; ++place)
        messages[place] = ArrivingMessage{0, 0, use * places + place};
}
// The use that comes after all that were.
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
    std::uint8_t busy = 0;                 // places whose message has not ended
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

// No task and no event of it has gone, and none will.
constexpr void unbegin_message(SentMessages &sent, unsigned number_bits, std::uint32_t number) {
    const unsigned places = places_of(number_bits);
    sent.busy = static_cast<std::uint8_t>(sent.busy & ~(1u << number % places));
    sent.next[number % places] = number;
}

// Its owner has carried out the task.
constexpr void forget_message(SentMessages &sent, unsigned number_bits, std::uint32_t number) {
    sent.busy = static_cast<std::uint8_t>(sent.busy & ~(1u << number % places_of(number_bits)));
}

}  // namespace sennit::signal
