// The acknowledgement protocol of events: the two halves of the bookkeeping between one sender and
// one receiver of puts with completion data. Pure functions. docs/design/signals.md has the
// protocol, the states of a ticket and the invariants; tests/models/event_ack_test.cpp searches
// what can happen with these functions. Used by op/engine_events.cpp with the engine's mutex held.
//
// Every event carries a ticket, a number below 64. The receiver keeps a word with a bit for each
// ticket; an event flips the bit, and so does its retransmission, which is recognised by it.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace sennit::op {

inline constexpr unsigned kMostTickets = 64;
// In the place of a rail: the event was never sent, or is known never to arrive.
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

struct EventAckSender {
    std::uint64_t in_use = 0;
    std::uint64_t unacknowledged = 0;  // of those in use: the rail failed under the event
    std::uint64_t ended = 0;           // of those in use: the message is over
    std::uint64_t unconfirmed = 0;     // of those ended: the rail failed, or was not there
    std::uint64_t cancelled = 0;   // of those ended: the message failed, the event must not count
    std::uint64_t retransmit = 0;  // of those ended: to be counted, or taken back if cancelled
    std::uint64_t expected = 0;
    std::uint64_t closed = 0;  // rails by which no event goes there any more
    std::uint8_t rail[kMostTickets] = {};
};

// So many tickets, or none at all if there are fewer.
constexpr std::uint64_t take_tickets(EventAckSender &sender, unsigned count, std::uint64_t all) {
    std::uint64_t free = all & ~sender.in_use;
    if (static_cast<unsigned>(std::popcount(free)) < count) return 0;
    std::uint64_t chosen = 0;
    for (; count > 0; --count) {
        const std::uint64_t lowest = free & (0 - free);
        chosen |= lowest;
        free ^= lowest;
    }
    sender.in_use |= chosen;
    sender.expected ^= chosen;
    return chosen;
}

// Their events were never sent, or were refused for certain.
constexpr void give_back_tickets(EventAckSender &sender, std::uint64_t tickets) {
    sender.in_use &= ~tickets;
    sender.expected ^= tickets;
}

// The receiver has confirmed what became of them.
constexpr void free_tickets(EventAckSender &sender, std::uint64_t tickets) {
    for (std::uint64_t *set : {&sender.in_use, &sender.ended, &sender.unconfirmed,
                               &sender.cancelled, &sender.retransmit})
        *set &= ~tickets;
}

// The rail failed under the event. Its data waits until the receiver has replied.
constexpr void lose_acknowledgement(EventAckSender &sender, unsigned ticket, std::uint8_t rail) {
    sender.unacknowledged |= ticket_bit(ticket);
    sender.rail[ticket] = rail;
}

// The message is over. `unconfirmed`: the rail failed under the event, which has not arrived.
constexpr void end_tickets(EventAckSender &sender, std::uint64_t tickets, std::uint64_t unconfirmed,
                           bool is_wanted) {
    sender.unacknowledged &= ~tickets;
    sender.ended |= tickets;
    sender.unconfirmed |= tickets & unconfirmed;
    if (!is_wanted) sender.cancelled |= tickets;
}

// Those that went by a rail which is closed now, among `tickets`.
constexpr std::uint64_t on_closed_rails(const EventAckSender &sender, std::uint64_t tickets,
                                        std::uint64_t closed) {
    std::uint64_t found = 0;
    for (std::uint64_t left = tickets; left != 0; left &= left - 1) {
        const auto ticket = static_cast<unsigned>(std::countr_zero(left));
        const std::uint8_t rail = sender.rail[ticket];
        if (rail == kNoRail || (closed >> rail & 1) != 0) found |= ticket_bit(ticket);
    }
    return found;
}

// Are acknowledgements or retransmissions outstanding for messages that are over?
constexpr bool is_outstanding(const EventAckSender &sender) {
    return (sender.unconfirmed | sender.cancelled | sender.retransmit) != 0 ||
           (sender.closed != 0 && on_closed_rails(sender, sender.ended, sender.closed) != 0);
}

// Closes the rails of what is unacknowledged or unconfirmed. The result goes to the receiver in the
// query; from then on it takes no event by these rails.
constexpr std::uint64_t close_rails(EventAckSender &sender) {
    const std::uint64_t unconfirmed = sender.unconfirmed & ~sender.retransmit;
    for (std::uint64_t left = sender.unacknowledged | unconfirmed; left != 0; left &= left - 1) {
        const std::uint8_t rail = sender.rail[std::countr_zero(left)];
        if (rail != kNoRail) sender.closed |= ticket_bit(rail);
    }
    return sender.closed;
}

// Of the unacknowledged ones.
struct EventAck {
    std::uint64_t arrived = 0;  // nothing is put again
    std::uint64_t lost = 0;     // the data goes again
};

// The receiver replied with `word`, after it had closed the rails `closed`. What is in `retransmit`
// from here on is to be sent as an operation, and then free_tickets().
constexpr EventAck acknowledge(EventAckSender &sender, std::uint64_t word, std::uint64_t closed) {
    const std::uint64_t has_arrived = ~(word ^ sender.expected);
    EventAck ack;
    ack.arrived = sender.unacknowledged & has_arrived;
    ack.lost = on_closed_rails(sender, sender.unacknowledged & ~has_arrived, closed);
    sender.unacknowledged &= ~(ack.arrived | ack.lost);
    for (std::uint64_t left = ack.lost; left != 0; left &= left - 1)
        sender.rail[std::countr_zero(left)] = kNoRail;

    const std::uint64_t open = sender.ended & ~sender.retransmit;
    const std::uint64_t arrived = open & has_arrived;
    const std::uint64_t never = on_closed_rails(sender, open & ~arrived, closed);
    const std::uint64_t cancelled = sender.cancelled & (arrived | never);
    sender.expected ^= cancelled;
    sender.retransmit |= (never & ~cancelled) | (arrived & cancelled);
    free_tickets(sender, (arrived | never) & ~sender.retransmit);
    return ack;
}

// An event that goes as an operation, as the receiver gets it: see receive_retransmission().
struct EventRetransmission {
    unsigned ticket;
    bool bit;         // of the receiver's word, when this is done
    bool is_surplus;  // to be taken back
};
constexpr EventRetransmission retransmission_of(const EventAckSender &sender, unsigned ticket) {
    const std::uint64_t bit = ticket_bit(ticket);
    return EventRetransmission{ticket, (sender.expected & bit) != 0, (sender.cancelled & bit) != 0};
}

// What the receiver keeps for one sender.
struct EventAckReceiver {
    std::uint64_t word = 0;    // a bit for each ticket
    std::uint64_t closed = 0;  // rails
};

// An event arrived. False: it is not taken.
constexpr bool receive_event(EventAckReceiver &receiver, unsigned rail, unsigned ticket) {
    if ((receiver.closed >> rail & 1) != 0) return false;
    receiver.word ^= ticket_bit(ticket);
    return true;
}

// The reply to a query.
constexpr std::uint64_t reply_to_query(EventAckReceiver &receiver, std::uint64_t closed) {
    receiver.closed |= closed;
    return receiver.word;
}

// False: that was done before.
constexpr bool receive_retransmission(EventAckReceiver &receiver, const EventRetransmission &sent) {
    const std::uint64_t bit = ticket_bit(sent.ticket);
    if (((receiver.word & bit) != 0) == sent.bit) return false;
    receiver.word ^= bit;
    return true;
}

}  // namespace sennit::op
