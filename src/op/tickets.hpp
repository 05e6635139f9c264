// Which events have come: the two halves of the bookkeeping between one sender and one receiver of
// puts with completion data. Pure functions; docs/design/signals.md has the reasons, and
// tests/models/tickets_test.cpp searches what can happen with these functions. Used by
// op/engine_events.cpp with the engine's mutex held.
//
// Every event carries a ticket, a number below 64, and is sent once. The receiver keeps a word with
// a bit for each ticket, which turns over when an event with that ticket comes. If a rail fails
// before its sender knows that the event has come, nobody knows; so the receiver is told to take no
// more from that sender by that rail, and answers with its word: what has not come then never will.
// Its data is put again, and it is counted by an operation, which turns the bit over as well; so an
// operation that comes twice is found out.
//
//   free --take--> taken --end--> ended --judge--> free        its event has come
//                  |  ^           |
//                  |  |           +----judge---> owed --paid--> free
//                  |  +--judge--+
//                  +--doubt--> doubtful            its rail has failed; does its data go again?
//                  |
//                  +--give back--> free            never sent, or refused
//
// Invariants: between take and free, one event at most has the ticket; `expected` has the bit of a
// taken ticket as the receiver's word will have it when the event is counted, of an owed one as it
// will have it when that is paid, and of a free one as the word has it; the data of an event goes
// again only when it is known never to come; a ticket ends when its whole message is over, so when
// an ended one is judged the data is where it belongs, or the message has failed.
#pragma once

#include <bit>
#include <cstdint>

namespace sennit::op {

inline constexpr unsigned kMostTickets = 64;
// In the place of a rail: the event was never sent, or is known never to come.
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
    std::uint64_t doubtful = 0;  // of those taken: the rail failed, nobody knows yet
    std::uint64_t ended = 0;     // of those taken
    std::uint64_t unsure = 0;    // of those ended: the rail failed, or was not there
    std::uint64_t unwanted = 0;  // of those ended: the message failed, the event must not count
    std::uint64_t owed = 0;      // of those ended: judged, not paid; unwanted ones are taken back
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

// The rail has failed under the event. What is put again waits until this is judged.
constexpr void doubt(Tickets &it, unsigned ticket, std::uint8_t rail) {
    it.doubtful |= ticket_bit(ticket);
    it.rail[ticket] = rail;
}

// The message is over. `unsure`: the rail failed under the event, and it has not come.
constexpr void end(Tickets &it, std::uint64_t tickets, std::uint64_t unsure, bool is_wanted) {
    it.doubtful &= ~tickets;
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
    return (it.unsure | it.unwanted | it.owed) != 0 ||
           (it.closed != 0 && on_closed(it, it.ended, it.closed) != 0);
}

// Closes the rails of what is doubtful or unsure. What is returned goes to the receiver, which
// answers with its word; none that goes by these rails from here on would be taken.
constexpr std::uint64_t close_rails(Tickets &it) {
    for (std::uint64_t left = it.doubtful | (it.unsure & ~it.owed); left != 0; left &= left - 1) {
        const std::uint8_t rail = it.rail[std::countr_zero(left)];
        if (rail != kNoRail) it.closed |= ticket_bit(rail);
    }
    return it.closed;
}

struct Verdict {
    std::uint64_t come = 0;  // were doubtful: nothing is put again
    std::uint64_t lost = 0;  // were doubtful: the data goes again
};

// What the receiver's word says, after it has closed the rails `closed`. What is owed from here on
// is to be counted by other means, or to be taken back, and then paid().
constexpr Verdict judge(Tickets &it, std::uint64_t word, std::uint64_t closed) {
    const std::uint64_t has_come = ~(word ^ it.expected);
    Verdict verdict;
    verdict.come = it.doubtful & has_come;
    verdict.lost = on_closed(it, it.doubtful & ~has_come, closed);
    it.doubtful &= ~(verdict.come | verdict.lost);
    for (std::uint64_t left = verdict.lost; left != 0; left &= left - 1)
        it.rail[std::countr_zero(left)] = kNoRail;

    const std::uint64_t open = it.ended & ~it.owed;
    const std::uint64_t come = open & has_come;
    const std::uint64_t never = on_closed(it, open & ~come, closed);
    const std::uint64_t unwanted = it.unwanted & (come | never);
    it.expected ^= unwanted;
    it.owed |= (never & ~unwanted) | (come & unwanted);
    const std::uint64_t free = (come | never) & ~it.owed;
    it.taken &= ~free;
    it.ended &= ~free;
    it.unsure &= ~free;
    it.unwanted &= ~free;
    return verdict;
}

// Something that is owed, as the receiver is told of it: see settle_one().
struct Debt {
    unsigned ticket;
    bool bit;         // of its word, when this is paid
    bool is_surplus;  // to be taken back
};
constexpr Debt debt_of(const Tickets &it, unsigned ticket) {
    const std::uint64_t bit = ticket_bit(ticket);
    return Debt{ticket, (it.expected & bit) != 0, (it.unwanted & bit) != 0};
}

// The receiver has said that it is.
constexpr void paid(Tickets &it, std::uint64_t tickets) {
    it.taken &= ~tickets;
    it.ended &= ~tickets;
    it.unsure &= ~tickets;
    it.unwanted &= ~tickets;
    it.owed &= ~tickets;
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

// A debt is to be paid. False: that was done before.
constexpr bool settle_one(Intake &it, const Debt &debt) {
    const std::uint64_t bit = ticket_bit(debt.ticket);
    if (((it.word & bit) != 0) == debt.bit) return false;
    it.word ^= bit;
    return true;
}

}  // namespace sennit::op
