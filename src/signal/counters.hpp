// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of a signal: the meaning of its two counters in an epoch, what a message adds, and
// which messages belong to an epoch. Pure functions; docs/design/signals.md has the reasons, and
// tests/models/signal_counters_test.cpp enumerates the orders of arrival with these functions.
//
// The value of an epoch, modulo 2^64, from the low bits: N bits with the number of missing events,
// one bit that is set if more events than expected came, and above it the number of missing parts
// of split messages. It is zero exactly when everything has arrived. The owner never writes a slot:
// a slot starts at zero, messages add to it, and value_of() adds the initial value of the epoch.
#pragma once

#include <bit>
#include <cstdint>

namespace sennit::signal {

// N for up to `max_events` events: 1 to 32.
constexpr unsigned event_bits_of(std::uint32_t max_events) {
    return static_cast<unsigned>(std::bit_width(max_events));
}

// The bits of events and of overflow.
constexpr std::uint64_t event_mask(unsigned event_bits) {
    return (std::uint64_t{2} << event_bits) - 1;
}
constexpr std::uint64_t overflow_bit(unsigned event_bits) {
    return std::uint64_t{1} << event_bits;
}

// The slot that counts the messages of an epoch.
constexpr unsigned slot_of(std::uint64_t epoch) {
    return static_cast<unsigned>(epoch & 1);
}

// The sum of expected events of all epochs of the slot up to this one.
constexpr std::uint64_t armed(std::uint32_t events, std::uint64_t epoch) {
    return events * (epoch / 2 + 1);
}

// The value of the epoch when the slot holds `counter`.
constexpr std::uint64_t value_of(std::uint64_t counter, std::uint32_t events, std::uint64_t epoch) {
    return counter + armed(events, epoch);
}

constexpr bool is_overflown(std::uint64_t value, unsigned event_bits) {
    return (value & overflow_bit(event_bits)) != 0;
}

// The number of missing events; valid only without overflow.
constexpr std::uint32_t events_left(std::uint64_t value, unsigned event_bits) {
    return static_cast<std::uint32_t>(value & (overflow_bit(event_bits) - 1));
}

// The number of events so far, also if more than expected: the value counts down, and is below zero
// by the number of surplus events.
constexpr std::uint64_t events_arrived(std::uint64_t value, std::uint32_t events,
                                       unsigned event_bits) {
    const std::uint64_t low = value & event_mask(event_bits);
    return low <= events ? events - low : events + (event_mask(event_bits) + 1 - low);
}

constexpr std::uint64_t low_mask(unsigned bits) {
    return bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
}

// Messages are counted in the receiver's epoch and in the next one; a strict signal (`most_ahead`
// 0) accepts only its own epoch. A sender that can read the receiver's epoch compares whole epochs,
// not tags.
constexpr bool is_counted(std::uint64_t epoch, std::uint64_t receivers,
                          std::uint64_t most_ahead = 1) {
    return epoch - receivers <= most_ahead;
}

// The tag of a message is the low bits of its epoch. The receiver takes it for the nearest epoch
// with these bits, the later one if two are equally near.
constexpr std::uint64_t epoch_of_tag(std::uint64_t tag, std::uint64_t receivers,
                                     unsigned tag_bits) {
    const std::uint64_t mask = low_mask(tag_bits);
    const std::uint64_t ahead = (tag - receivers) & mask;
    const bool is_later = ahead <= mask / 2 + 1;
    return receivers + (is_later ? ahead : ahead | ~mask);
}

// For an epoch that is not counted. True: later than the receiver's; false: earlier.
constexpr bool is_early(std::uint64_t epoch, std::uint64_t receivers) {
    return static_cast<std::int64_t>(epoch - receivers) > 0;
}

// Why an event was not counted.
enum class Uncounted : std::uint8_t { surplus, early, late };
inline constexpr unsigned kUncountedBits = 2;
// Packs the reason and the event's epoch into a word that is not 0. Epochs above 2^62 - 2, which
// only an error can produce, become 2^62 - 2.
constexpr std::uint64_t refused_word(Uncounted what, std::uint64_t epoch) {
    const std::uint64_t most = (UINT64_MAX >> kUncountedBits) - 1;
    return ((epoch < most ? epoch : most) + 1) << kUncountedBits | static_cast<std::uint64_t>(what);
}
constexpr Uncounted refused_in(std::uint64_t word) {
    return static_cast<Uncounted>(word & ((1u << kUncountedBits) - 1));
}
constexpr std::uint64_t refused_epoch(std::uint64_t word) {
    return (word >> kUncountedBits) - 1;
}
static_assert(refused_epoch(refused_word(Uncounted::late, 7)) == 7 &&
              refused_in(refused_word(Uncounted::late, 7)) == Uncounted::late &&
              refused_word(Uncounted::surplus, 0) != 0 &&
              refused_in(refused_word(Uncounted::early, UINT64_MAX)) == Uncounted::early);

// The value that a whole message adds: one event less.
inline constexpr std::uint64_t kWholeMessage = UINT64_MAX;

// Whether some of `messages` whole messages, added at once, were surplus. `messages` is at most
// `events`; `before` is the value of the epoch before the add. Bits of pending parts do not matter.
constexpr bool is_surplus(std::uint64_t before, std::uint32_t messages, std::uint32_t events,
                          unsigned event_bits) {
    return (before & event_mask(event_bits)) - messages > events - messages;
}

// A message in parts: the first part brings the event and announces the other parts; each other
// part removes one announcement. In any order the value is zero only when all parts of all messages
// have arrived.
constexpr std::uint64_t first_part(std::uint64_t parts, unsigned event_bits) {
    return kWholeMessage + ((parts - 1) << (event_bits + 1));
}
constexpr std::uint64_t further_part(unsigned event_bits) {
    return ~((std::uint64_t{1} << (event_bits + 1)) - 1);
}

// A part is sent as a code of `code_bits` bits, from which the receiver computes the addend with
// its own N. The largest code is a further part; any other code is the first of code + 1 parts.
constexpr std::uint64_t further_code(unsigned code_bits) {
    return (std::uint64_t{1} << code_bits) - 1;
}
constexpr std::uint64_t addend_of(std::uint64_t code, unsigned code_bits, unsigned event_bits) {
    return code == further_code(code_bits) ? further_part(event_bits)
                                           : first_part(code + 1, event_bits);
}

}  // namespace sennit::signal
