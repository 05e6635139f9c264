// Which events have come: the two halves of the bookkeeping between one sender and one receiver of
// puts with completion data. Pure functions; docs/design/signals.md has the reasons, and
// tests/models/tickets_test.cpp searches what can happen with these functions. Used by
// op/engine_events.cpp with the engine's mutex held.
//
// Every event carries a ticket, a number below 64, and is sent once. The receiver keeps a word with
// a bit for each ticket, which turns over when an event with that ticket comes. If a rail fails
// before its sender knows that the event has come, nobody knows; so the receiver is told to take no
// more from that sender by that rail, and answers with its word: what has not come then never will,
// and is counted by other means.
//
//   free --take--> taken --end--> ended --judge--> free        its event has come, or is known not
//   to
//                    |              |
//                    |              +----judge---> owed --paid--> free
//                    +--give back--> free                      never sent, or refused
//
// Invariants: between take and free, one event at most has the ticket; `expected` has the bit of a
// taken ticket as the receiver's word will have it when the event has come, and that of a free one
// as the word has it; a ticket ends when its whole message is over, so when it is judged the data
// is where it belongs, or the message has failed.
#pragma once

#include <bit>
#include <cstdint>

namespace sennit::op {

inline constexpr unsigned kMostTickets = 64;
// In the place of a rail: the event was never sent.
inline constexpr std::uint8_t kNoRail = 255;

constexpr std::uint64_t ticket_bit(unsigned ticket) {
    return std::uint64_t{1} << ticket;
}
// How many of the bits of completion data, the lowest, are the ticket.
constexpr unsigned ticket_bits_of(unsigned event_bits) {
    return event_bits >= 16 ? 6 : 3;
}
// All tickets of a word with so many bits for them.
constexpr std::uint64_t all_tickets(unsigned ticket_bits) {
    return ticket_bits >= 6 ? UINT64_MAX : ticket_bit(1u << ticket_bits) - 1;
}

// The sender's half.
struct Tickets {
    std::uint64_t taken = 0;
    std::uint64_t ended = 0;     // of those taken
    std::uint64_t unsure = 0;    // of those ended: the rail failed, or was not there
    std::uint64_t unwanted = 0;  // of those ended: the message failed, the event must not count
    std::uint64_t owed = 0;      // of those ended: judged, not paid
    std::uint64_t expected = 0;
    std::uint64_t closed = 0;  // rails by which no event goes there any more
    std::uint8_t rail[kMostTickets] = {};
};

// So many tickets, or none at all if there are fewer.
constexpr std::uint64_t take(Tickets &it, unsigned count, std::uint64_t all) {
    std::uint64_t free = all & ~it.taken;
    if (static_cast<unsigned>(std::popcount(free)) < count) return 0;
    std::uint64_t chosen = 0;
    for (; count > 0; --count) {
        const std::uint64_t lowest = free & (0 - free);
        chosen |= lowest;
        free ^= lowest;
    }
    it.taken |= chosen;
    it.expected ^= chosen;
    return chosen;
}

// Their events were never sent, or were refused for certain.
constexpr void give_back(Tickets &it, std::uint64_t tickets) {
    it.taken &= ~tickets;
    it.expected ^= tickets;
}

// The message is over. `unsure`: the rail failed under the event.
constexpr void end(Tickets &it, std::uint64_t tickets, std::uint64_t unsure, bool is_wanted) {
    it.ended |= tickets;
    it.unsure |= tickets & unsure;
    if (!is_wanted) it.unwanted |= tickets;
}

// Those that went by a rail which is closed now, among `tickets`.
constexpr std::uint64_t on_closed(const Tickets &it, std::uint64_t tickets, std::uint64_t closed) {
    std::uint64_t found = 0;
    for (std::uint64_t left = tickets; left != 0; left &= left - 1) {
        const auto ticket = static_cast<unsigned>(std::countr_zero(left));
        const std::uint8_t rail = it.rail[ticket];
        if (rail == kNoRail || (closed >> rail & 1) != 0) found |= ticket_bit(ticket);
    }
    return found;
}

// Must something be settled before the messages that are over can be relied upon?
constexpr bool needs_settling(const Tickets &it) {
    return (it.unsure | it.unwanted | it.owed) != 0 || on_closed(it, it.ended, it.closed) != 0;
}

// Closes the rails of what is unsure. What is returned goes to the receiver, which answers with its
// word; none that goes by these rails from here on would be taken.
constexpr std::uint64_t close_rails(Tickets &it) {
    for (std::uint64_t left = it.unsure & ~it.owed; left != 0; left &= left - 1) {
        const std::uint8_t rail = it.rail[std::countr_zero(left)];
        if (rail != kNoRail) it.closed |= ticket_bit(rail);
    }
    return it.closed;
}

struct Verdict {
    std::uint64_t missing = 0;  // to be counted by other means, then paid()
    std::uint64_t surplus = 0;  // to be taken back, then paid()
};

// What the receiver's word says, after it has closed the rails `closed`. One settles at a time.
constexpr Verdict judge(Tickets &it, std::uint64_t word, std::uint64_t closed) {
    const std::uint64_t open = it.ended & ~it.owed;
    const std::uint64_t come = open & ~(word ^ it.expected);
    const std::uint64_t never = on_closed(it, open & ~come, closed);
    Verdict verdict;
    verdict.missing = never & ~it.unwanted;
    verdict.surplus = come & it.unwanted;
    it.expected ^= never;
    it.owed |= verdict.missing | verdict.surplus;
    const std::uint64_t free = (come | never) & ~it.owed;
    it.taken &= ~free;
    it.ended &= ~free;
    it.unsure &= ~free;
    it.unwanted &= ~free;
    return verdict;
}

constexpr void paid(Tickets &it, std::uint64_t tickets) {
    it.taken &= ~tickets;
    it.ended &= ~tickets;
    it.unsure &= ~tickets;
    it.unwanted &= ~tickets;
    it.owed &= ~tickets;
}

// It could not be paid and nothing was done: judged again, with the same end.
constexpr void unpaid(Tickets &it, std::uint64_t tickets) {
    const std::uint64_t missing = tickets & ~it.unwanted;
    it.owed &= ~tickets;
    it.expected ^= missing;
    for (std::uint64_t left = missing; left != 0; left &= left - 1)
        it.rail[std::countr_zero(left)] = kNoRail;
    it.unsure |= missing;
}

// The receiver's half, of one sender.
struct Intake {
    std::uint64_t word = 0;    // a bit for each ticket
    std::uint64_t closed = 0;  // rails
};

// An event has come. False: it is not taken.
constexpr bool take_in(Intake &it, unsigned rail, unsigned ticket) {
    if ((it.closed >> rail & 1) != 0) return false;
    it.word ^= ticket_bit(ticket);
    return true;
}

constexpr std::uint64_t close_and_tell(Intake &it, std::uint64_t closed) {
    it.closed |= closed;
    return it.word;
}

}  // namespace sennit::op
