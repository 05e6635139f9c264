// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of a signal: what its two counters mean in an epoch, what a message adds, and
// which messages belong. Pure functions; docs/design/signals.md has the reasons, and
// tests/models/signal_counters_test.cpp enumerates the orders of arrival with these functions.
//
// The value of an epoch, modulo 2^64, from the low bits: N bits of events that are still to come,
// one bit that is set when more came than were expected, and above it the parts of split messages
// that are still to come. It is zero exactly when all has come. A slot is never written by its
// owner: it starts at zero, messages add to it, and what an epoch starts with is added when the
// value is looked at.
#pragma once

#include <bit>
#include <cstdint>

namespace sennit::signal {

// N for up to `max_events` events, 1 to 32.
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

// Which of the two slots counts the messages of an epoch.
constexpr unsigned slot_of(std::uint64_t epoch) {
    return static_cast<unsigned>(epoch & 1);
}

// What all epochs of the slot have expected, up to and with this one.
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

// Events that are still to come; only where nothing has overflown.
constexpr std::uint32_t events_left(std::uint64_t value, unsigned event_bits) {
    return static_cast<std::uint32_t>(value & (overflow_bit(event_bits) - 1));
}

// Events that have come, also where they are more than were expected: the value counts down, and is
// as many below zero as came too many.
constexpr std::uint64_t events_come(std::uint64_t value, std::uint32_t events,
                                    unsigned event_bits) {
    const std::uint64_t low = value & event_mask(event_bits);
    return low <= events ? events - low : events + (event_mask(event_bits) + 1 - low);
}

constexpr std::uint64_t low_mask(unsigned bits) {
    return bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
}

// Messages are counted in the receiver's epoch and in the one after; a strict signal, whose
// `most_ahead` is 0, lets in those of its epoch alone. Whoever sends compares whole numbers where
// it can read the receiver's.
constexpr bool is_counted(std::uint64_t epoch, std::uint64_t receivers,
                          std::uint64_t most_ahead = 1) {
    return epoch - receivers <= most_ahead;
}

// What a network carries is a tag, the low bits of the epoch. A receiver takes it for the nearest
// epoch that has these bits, and for the later one of two.
constexpr std::uint64_t epoch_of_tag(std::uint64_t tag, std::uint64_t receivers,
                                     unsigned tag_bits) {
    const std::uint64_t mask = low_mask(tag_bits);
    const std::uint64_t ahead = (tag - receivers) & mask;
    const bool is_later = ahead <= mask / 2 + 1;
    return receivers + (is_later ? ahead : ahead | ~mask);
}

// Of those that are not counted: later than the receiver, or before it?
constexpr bool is_early(std::uint64_t epoch, std::uint64_t receivers) {
    return static_cast<std::int64_t>(epoch - receivers) > 0;
}

// What became of an event that was not counted, for its owner.
enum class Uncounted : std::uint8_t { surplus, early, late };
inline constexpr unsigned kUncountedBits = 2;
// In one word, which is not 0. Epochs beyond 2^62 - 2, which only a mistake names, are told as
// that.
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

// What a message adds that comes whole: one event less.
inline constexpr std::uint64_t kWholeMessage = UINT64_MAX;

// The value of the epoch as it was before so many whole messages were added at once, at most as
// many as are expected: did some come on top of those? Bits of parts that are under way do not
// matter.
constexpr bool is_surplus(std::uint64_t before, std::uint32_t messages, std::uint32_t events,
                          unsigned event_bits) {
    return (before & event_mask(event_bits)) - messages > events - messages;
}

// A message in parts: the first brings the event, and announces the others; each of them takes one
// announcement back. In any order the value is zero only when all parts of all messages have come.
constexpr std::uint64_t first_part(std::uint64_t parts, unsigned event_bits) {
    return kWholeMessage + ((parts - 1) << (event_bits + 1));
}
constexpr std::uint64_t further_part(unsigned event_bits) {
    return ~((std::uint64_t{1} << (event_bits + 1)) - 1);
}

// Parts travel as a code of `code_bits` bits, from which the receiver makes the addend by its own
// N: 0 to max - 1 the first of code + 1 parts, max a further one.
constexpr std::uint64_t further_code(unsigned code_bits) {
    return (std::uint64_t{1} << code_bits) - 1;
}
constexpr std::uint64_t addend_of(std::uint64_t code, unsigned code_bits, unsigned event_bits) {
    return code == further_code(code_bits) ? further_part(event_bits)
                                           : first_part(code + 1, event_bits);
}

}  // namespace sennit::signal
