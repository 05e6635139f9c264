// The acknowledgement of events (src/op/event_ack.hpp), by the functions that the library uses:
// everything that two threads of a sender, a receiver and a network between them can do, within
// bounds, is tried. Events are late, overtake each other and lie at their receiver; a rail fails
// under some of them, now under one and later under the next, or is found refused; the reply to a
// retransmission is lost. And rules with a mistake in them, each of which must be found.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "op/event_ack.hpp"

namespace {

using namespace sennit::op;

struct Rules {
    static constexpr bool kRepeatsTheEvent = false;  // on the other rail, instead of its data alone
    static constexpr bool kRepeatsAtOnce = false;  // the data, before the event is known to be lost
    static constexpr bool kEndsAtOnce = false;     // not with the whole message
    static constexpr bool kQueriesByTwo = false;   // at a time
    static constexpr bool kRetransmits = true;
    static void ended(EventAckSender &, std::uint64_t) {}
    static bool needs(const EventAckSender &sender) { return is_outstanding(sender); }
    static EventAck judged(EventAckSender &sender, std::uint64_t word, std::uint64_t closed) {
        return acknowledge(sender, word, closed);
    }
    static bool in(EventAckReceiver &receiver, unsigned rail, unsigned ticket) {
        return receive_event(receiver, rail, ticket);
    }
    static bool received(EventAckReceiver &receiver, const EventRetransmission &sent) {
        return receive_retransmission(receiver, sent);
    }
    static bool wanted(bool is_good) { return is_good; }
};
struct RepeatsTheEvent : Rules {
    static constexpr bool kRepeatsTheEvent = true;
};
struct EndsAtOnce : Rules {
    static constexpr bool kEndsAtOnce = true;
};
struct RepeatsAtOnce : Rules {
    static constexpr bool kRepeatsAtOnce = true;
};
// The word has no bit of an event that was retransmitted.
struct ForgetsTheWord : Rules {
    static bool received(EventAckReceiver &receiver, const EventRetransmission &sent) {
        EventAckReceiver copy = receiver;
        return receive_retransmission(copy, sent);
    }
};
// A retransmission that comes again is counted again.
struct CountsTwice : Rules {
    static bool received(EventAckReceiver &receiver, const EventRetransmission &sent) {
        (void)receive_retransmission(receiver, sent);
        return true;
    }
};
struct QueriesByTwo : Rules {
    static constexpr bool kQueriesByTwo = true;
};
struct NeverRetransmits : Rules {
    static constexpr bool kRetransmits = false;
};
struct ClosesNothing : Rules {
    static bool in(EventAckReceiver &receiver, unsigned, unsigned ticket) {
        return receive_event(receiver, 63, ticket);
    }
};
// What was completed must have come.
struct TrustsCompletion : Rules {
    static bool needs(const EventAckSender &sender) {
        return (sender.unconfirmed | sender.cancelled | sender.retransmit) != 0;
    }
    static EventAck judged(EventAckSender &sender, std::uint64_t word, std::uint64_t closed) {
        const std::uint64_t sure = sender.ended & ~sender.unconfirmed & ~sender.retransmit;
        const std::uint64_t missed = sure & (word ^ sender.expected);
        sender.ended &= ~missed;
        const EventAck ack = acknowledge(sender, word, closed);
        sender.ended |= missed;
        return ack;
    }
};
struct ReusesWhatIsComplete : Rules {
    static void ended(EventAckSender &sender, std::uint64_t sure) {
        const std::uint64_t free = sure & ~sender.cancelled;
        sender.in_use &= ~free;
        sender.ended &= ~free;
    }
};
struct KeepsWhatHasFailed : Rules {
    static bool wanted(bool) { return true; }
};

constexpr unsigned kParts = 4;  // at most, of all messages
constexpr unsigned kCallers = 2;
constexpr unsigned kCopies = 6;

// Bounds of a search: the parts of each caller's messages.
struct Bounds {
    std::array<std::vector<unsigned>, kCallers> messages;
    std::uint64_t tickets;
    unsigned faults;    // rail 0 fails under so many events
    unsigned refusals;  // and so many are refused for certain
    unsigned losses;    // so many replies to retransmissions do not come back
};

enum class At : std::uint8_t { none, flying, landed };
enum class Piece : std::uint8_t {
    none,
    out,
    unacknowledged,
    repeating,
    sure,
    unconfirmed,
    refused
};
enum class Sending : std::uint8_t { no, query, reply, retransmission };

// An event on its way.
struct Copy {
    At at = At::none;
    std::uint8_t rail = 0;
    std::uint8_t part = 0;
    std::uint8_t ticket = 0;
};

struct Caller {
    std::uint8_t next = 0;  // message
    bool is_open = false;
    bool is_over = false;  // but not acknowledged
};

// What the sender says to the receiver about its events.
struct Message {
    Sending at = Sending::no;
    std::uint8_t ticket = 0;
    std::uint8_t unused[6] = {};
    std::uint64_t asked = 0;
    std::uint64_t answer = 0;
};
constexpr unsigned kMessages = 2;  // the second for rules with a mistake

// All of it; compared as bytes, so there are no gaps.
struct State {
    EventAckSender tickets;
    EventAckReceiver intake;
    Message ack_messages[kMessages];
    Caller callers[kCallers];
    Copy copies[kCopies];
    Piece pieces[kParts] = {};
    std::uint8_t rails[kParts] = {};  // of the event, while it is out or was sure
    std::uint8_t ticket_of[kParts] = {};
    std::int8_t counted[kParts] = {};
    std::uint8_t owner[kMostTickets] = {};  // part
    bool has_data[kParts] = {};
    bool is_done[kParts] = {};  // its call has returned
    bool failed[kParts] = {};
    std::uint8_t faults = 0;
    std::uint8_t refusals = 0;
    std::uint8_t losses = 0;
    std::uint8_t unused[3] = {};
};
static_assert(std::has_unique_object_representations_v<State>);

template <class R>
class Search {
  public:
    explicit Search(const Bounds &bounds) : bounds_(bounds) {
        unsigned part = 0;
        for (unsigned caller = 0; caller < kCallers; ++caller)
            for (const unsigned parts : bounds.messages[caller]) {
                first_[caller].push_back(part);
                part += parts;
            }
        all_parts_ = part;
    }

    // Empty, or what is wrong.
    std::string run() {
        State begin;
        visit(begin);
        while (!open_.empty() && wrong_.empty()) {
            const State state = open_.back();
            open_.pop_back();
            const std::size_t before = edges_;
            step(state);
            if (edges_ == before) look_at_end(state);
        }
        return wrong_;
    }
    std::size_t states() const { return seen_.size(); }
    std::size_t retransmissions() const { return retransmissions_; }

  private:
    void visit(const State &state) {
        ++edges_;
        std::string key(reinterpret_cast<const char *>(&state), sizeof state);
        if (!seen_.insert(std::move(key)).second) return;
        for (unsigned part = 0; part < all_parts_; ++part) {
            const int count = state.counted[part];
            if (count > 1) wrong_ = "an event is counted twice";
            if (count > 0 && !state.has_data[part]) wrong_ = "an event comes before its data";
            if (state.failed[part] && state.is_done[part] && count != 0)
                wrong_ = "an event of a message that failed is counted";
        }
        open_.push_back(state);
    }

    void look_at_end(const State &state) {
        for (unsigned part = 0; part < all_parts_; ++part) {
            if (!state.is_done[part]) wrong_ = "a call waits for ever";
            if (state.counted[part] != (state.failed[part] ? 0 : 1)) wrong_ = "an event is lost";
        }
    }

    void step(const State &state) {
        for (unsigned caller = 0; caller < kCallers; ++caller)
            step_caller(state, caller);
        for (unsigned message = 0; message < (R::kQueriesByTwo ? kMessages : 1); ++message)
            step_message(state, message);
        for (unsigned part = 0; part < all_parts_; ++part)
            step_piece(state, part);
        for (unsigned copy = 0; copy < kCopies; ++copy)
            step_copy(state, copy);
    }

    unsigned parts_of(const State &state, unsigned caller) const {
        return bounds_.messages[caller][state.callers[caller].next];
    }

    void step_caller(const State &state, unsigned caller) {
        const Caller &waiting = state.callers[caller];
        if (waiting.next == bounds_.messages[caller].size()) return;
        if (waiting.is_open) return finish(state, caller);
        if (waiting.is_over) {
            if (R::needs(state.tickets)) return;
            State next = state;
            for (unsigned i = 0; i < parts_of(state, caller); ++i)
                next.is_done[first_[caller][waiting.next] + i] = true;
            next.callers[caller].is_over = false;
            ++next.callers[caller].next;
            return visit(next);
        }
        if (!R::needs(state.tickets)) begin(state, caller);
    }

    void begin(const State &state, unsigned caller) {
        State next = state;
        const unsigned parts = parts_of(state, caller);
        const std::uint64_t taken = take_tickets(next.tickets, parts, bounds_.tickets);
        if (taken == 0) return message(state, 0);
        next.callers[caller].is_open = true;
        send(next, first_[caller][state.callers[caller].next], parts, taken);
    }

    // The parts that are left, by each rail.
    void send(const State &state, unsigned part, unsigned parts, std::uint64_t tickets) {
        if (parts == 0) return visit(state);
        const auto ticket = static_cast<unsigned>(std::countr_zero(tickets));
        for (std::uint8_t rail = 0; rail < 2; ++rail) {
            if ((state.tickets.closed >> rail & 1) != 0) continue;
            State next = state;
            next.owner[ticket] = static_cast<std::uint8_t>(part);
            next.ticket_of[part] = static_cast<std::uint8_t>(ticket);
            next.pieces[part] = Piece::out;
            launch(next, part, rail);
            send(next, part + 1, parts - 1, tickets & (tickets - 1));
        }
    }

    void launch(State &state, unsigned part, std::uint8_t rail) {
        state.rails[part] = rail;
        for (Copy &copy : state.copies) {
            if (copy.at != At::none) continue;
            copy = Copy{At::flying, rail, static_cast<std::uint8_t>(part), state.ticket_of[part]};
            return;
        }
        wrong_ = "the search has too few places for events";
    }

    // The rail fails under an event, or refuses it: what flies is gone, what has landed is not.
    void lose(State &state, unsigned part) {
        for (Copy &copy : state.copies)
            if (copy.part == part && copy.at == At::flying && copy.rail == state.rails[part])
                copy = Copy{};
    }
    bool is_flying(const State &state, unsigned part) const {
        for (const Copy &copy : state.copies)
            if (copy.part == part && copy.at == At::flying) return true;
        return false;
    }

    void step_piece(const State &state, unsigned part) {
        if (state.pieces[part] == Piece::out) {
            State next = state;
            next.pieces[part] = Piece::sure;
            next.has_data[part] = true;
            over(next, part);
            visit(next);
            if (state.rails[part] == 0 && state.faults < bounds_.faults) {
                next = state;
                ++next.faults;
                lose(next, part);
                next.pieces[part] = Piece::unacknowledged;
                if (R::kRepeatsAtOnce || R::kEndsAtOnce) {
                    next.pieces[part] = Piece::repeating;
                } else {
                    lose_acknowledgement(next.tickets, next.ticket_of[part], next.rails[part]);
                }
                if (R::kEndsAtOnce) over(next, part);
                if (R::kRepeatsTheEvent) {
                    next.tickets.unacknowledged = 0;
                    next.pieces[part] = Piece::out;
                    launch(next, part, 1);
                }
                visit(next);
            }
            if (state.refusals < bounds_.refusals && is_flying(state, part)) {
                next = state;
                ++next.refusals;
                lose(next, part);
                next.pieces[part] = Piece::refused;
                visit(next);
            }
        } else if (state.pieces[part] == Piece::repeating) {
            if (state.counted[part] != 0) wrong_ = "data is put again after its event was counted";
            State next = state;
            next.has_data[part] = true;
            next.pieces[part] = Piece::unconfirmed;
            visit(next);
        }
    }

    // What event_ack.hpp asks for happens with the whole message, unless the rules are wrong.
    void over(State &state, unsigned part) {
        state.tickets.rail[state.ticket_of[part]] = state.rails[part];
        if (!R::kEndsAtOnce) return;
        const std::uint64_t ticket = ticket_bit(state.ticket_of[part]);
        end_tickets(state.tickets, ticket, state.pieces[part] == Piece::sure ? 0 : ticket, true);
    }

    void finish(const State &state, unsigned caller) {
        const unsigned first = first_[caller][state.callers[caller].next];
        const unsigned parts = parts_of(state, caller);
        std::uint64_t sent = 0;
        std::uint64_t unconfirmed = 0;
        std::uint64_t refused = 0;
        for (unsigned part = first; part < first + parts; ++part) {
            const std::uint64_t ticket = ticket_bit(state.ticket_of[part]);
            if (state.pieces[part] == Piece::out || state.pieces[part] == Piece::unacknowledged ||
                state.pieces[part] == Piece::repeating)
                return;
            (state.pieces[part] == Piece::refused ? refused : sent) |= ticket;
            if (state.pieces[part] == Piece::unconfirmed) unconfirmed |= ticket;
        }
        State next = state;
        for (unsigned part = first; part < first + parts; ++part) {
            next.tickets.rail[state.ticket_of[part]] = state.rails[part];
            next.failed[part] = refused != 0;
            next.pieces[part] = Piece::none;
        }
        if (!R::kEndsAtOnce) {
            give_back_tickets(next.tickets, refused);
            end_tickets(next.tickets, sent, unconfirmed, R::wanted(refused == 0));
        }
        R::ended(next.tickets, sent & ~unconfirmed);
        next.callers[caller].is_open = false;
        next.callers[caller].is_over = true;
        visit(next);
    }

    void step_copy(const State &state, unsigned number) {
        const Copy &copy = state.copies[number];
        if (copy.at == At::none) return;
        State next = state;
        if (copy.at == At::flying) {
            next.copies[number].at = At::landed;
            next.has_data[copy.part] = true;
        } else {
            if (R::in(next.intake, copy.rail, copy.ticket)) ++next.counted[copy.part];
            next.copies[number] = Copy{};
        }
        visit(next);
    }

    // Begins to say what is next, if nothing is being said.
    void message(const State &state, unsigned number) {
        if (state.ack_messages[number].at != Sending::no) return;
        State next = state;
        Message &sent = next.ack_messages[number];
        if (next.tickets.retransmit != 0) {
            sent.at = Sending::retransmission;
            sent.ticket = static_cast<std::uint8_t>(std::countr_zero(next.tickets.retransmit));
        } else {
            sent.at = Sending::query;
            sent.asked = close_rails(next.tickets);
        }
        visit(next);
    }

    void step_message(const State &state, unsigned number) {
        State next = state;
        Message &sent = next.ack_messages[number];
        switch (sent.at) {
            case Sending::no:
                if (state.tickets.unacknowledged != 0 || R::needs(state.tickets))
                    message(state, number);
                return;
            case Sending::query:
                sent.answer = reply_to_query(next.intake, sent.asked);
                sent.at = Sending::reply;
                return visit(next);
            case Sending::reply: {
                const EventAck ack = R::judged(next.tickets, sent.answer, sent.asked);
                sent = Message{};
                decide(next, ack);
                return visit(next);
            }
            case Sending::retransmission:
                return retransmit(state, number);
        }
    }

    void decide(State &state, const EventAck &ack) {
        for (unsigned part = 0; part < all_parts_; ++part) {
            if (state.pieces[part] != Piece::unacknowledged) continue;
            const std::uint64_t ticket = ticket_bit(state.ticket_of[part]);
            if ((ack.arrived & ticket) != 0) state.pieces[part] = Piece::sure;
            if ((ack.lost & ticket) == 0) continue;
            state.pieces[part] = Piece::repeating;
            state.rails[part] = kNoRail;
        }
    }

    // The owner is retransmissions; then the sender learns of it, or does not.
    void retransmit(const State &state, unsigned number) {
        ++retransmissions_;
        State next = state;
        const unsigned ticket = state.ack_messages[number].ticket;
        const EventRetransmission sent = retransmission_of(next.tickets, ticket);
        if (R::received(next.intake, sent) && R::kRetransmits) {
            std::int8_t &counted = next.counted[state.owner[ticket]];
            counted = static_cast<std::int8_t>(counted + (sent.is_surplus ? -1 : 1));
        }
        next.ack_messages[number] = Message{};
        if (state.losses < bounds_.losses) {
            State lost = next;
            ++lost.losses;
            visit(lost);
        }
        free_tickets(next.tickets, ticket_bit(ticket));
        visit(next);
    }

    Bounds bounds_;
    std::array<std::vector<unsigned>, kCallers> first_;
    unsigned all_parts_ = 0;
    std::unordered_set<std::string> seen_;
    std::vector<State> open_;
    std::size_t edges_ = 0;
    std::size_t retransmissions_ = 0;
    std::string wrong_;
};

// One thread that has as few tickets as it can do with, two threads, and messages that fail.
const std::vector<Bounds> kAll = {
    {{{{1, 1, 1, 1}, {}}}, 0b1, 2, 0, 1}, {{{{1, 1, 1}, {}}}, 0b11, 3, 1, 1},
    {{{{2, 2}, {}}}, 0b11, 2, 1, 1},      {{{{1, 1}, {1}}}, 0b11, 2, 1, 0},
    {{{{2}, {1}}}, 0b111, 2, 1, 1},
};

template <class R>
bool is_found() {
    for (const Bounds &bounds : kAll)
        if (!Search<R>(bounds).run().empty()) return true;
    return false;
}

// Broken by a ticket that is free too early, an event that is sent twice or believed to have come,
// data that goes again when the owner may have used its memory otherwise.
TEST(EventAck, every_event_is_counted_once_after_its_data_whatever_rails_fail) {
    std::size_t states = 0;
    for (const Bounds &bounds : kAll) {
        Search<Rules> search(bounds);
        EXPECT_EQ(search.run(), "");
        EXPECT_GT(search.retransmissions(), 0u);
        states += search.states();
        std::printf("%zu states\n", search.states());
    }
    EXPECT_GT(states, 10000u);
}

// A search that passed rules with a mistake would show nothing.
TEST(EventAck, every_planted_mistake_is_found) {
    EXPECT_TRUE(is_found<RepeatsTheEvent>());
    EXPECT_TRUE(is_found<RepeatsAtOnce>());
    EXPECT_TRUE(is_found<CountsTwice>());
    EXPECT_TRUE(is_found<EndsAtOnce>());
    EXPECT_TRUE(is_found<ForgetsTheWord>());
    EXPECT_TRUE(is_found<QueriesByTwo>());
    EXPECT_TRUE(is_found<NeverRetransmits>());
    EXPECT_TRUE(is_found<ClosesNothing>());
    EXPECT_TRUE(is_found<TrustsCompletion>());
    EXPECT_TRUE(is_found<ReusesWhatIsComplete>());
    EXPECT_TRUE(is_found<KeepsWhatHasFailed>());
}

}  // namespace
