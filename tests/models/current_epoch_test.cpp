// Messages that count in their owner's present epoch (SENNIT_EPOCH_CURRENT, decision 0005), from
// senders that reach the slots by load and store. Tries all orders of the steps of an owner and
// two senders, with the library's own arithmetic. Must find the mistake of a sender that adds
// first and looks afterwards, and of one that does not read the epoch again.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <tuple>

#include "signal/counters.hpp"

namespace {

using sennit::signal::slot_of;
using sennit::signal::value_of;

constexpr int kSenders = 2;
constexpr unsigned kMostEpochs = 9;  // enough for values of few bits to wrap around

enum class How : std::uint8_t {
    compares,    // loads epoch, slot and epoch again; exchanges the slot if it is unchanged
    looks_once,  // the same without the second load of the epoch
    adds_first   // loads the epoch, adds, and undoes that if the epoch was complete before
};
enum class At : std::uint8_t { begin, has_epoch, has_slot, has_room, too_many };

struct Sender {
    At at = At::begin;
    std::uint8_t left = 0;  // messages to send
    std::uint8_t refused = 0;
    std::uint8_t epoch = 0;
    std::uint64_t slot = 0;

    auto key() const { return std::tuple(at, left, refused, epoch, slot); }
};

struct State {
    std::uint8_t epoch = 0;  // the owner's epoch
    std::array<std::uint64_t, 2> slots{};
    std::array<std::uint8_t, kMostEpochs + 1> landed{};  // messages by their senders' epoch
    std::array<Sender, kSenders> senders{};

    auto key() const {
        return std::tuple(epoch, slots, landed, senders[0].key(), senders[1].key());
    }
    bool operator<(const State &other) const { return key() < other.key(); }
};

struct Search {
    const How how;
    const unsigned events;    // events in an epoch
    const unsigned messages;  // messages of each sender
    std::set<State> seen;
    std::deque<State> left;
    std::string fault;

    void reach(const State &state) {
        if (seen.insert(state).second) left.push_back(state);
    }

    std::uint64_t value(const State &state, unsigned epoch) const {
        return value_of(state.slots[slot_of(epoch)], events, epoch);
    }

    bool has_room(const Sender &sender) const {
        return !sennit::signal::is_surplus(value_of(sender.slot, events, sender.epoch), 1, events,
                                           sennit::signal::event_bits_of(events));
    }

    void land(State state, int number, unsigned epoch) {
        Sender &sender = state.senders[static_cast<std::size_t>(number)];
        if (epoch != state.epoch) fault = "a message lands in an epoch that the owner is not in";
        ++state.landed[epoch];
        --sender.left;
        sender.at = At::begin;
        reach(state);
    }

    // The signal has fired: the message is one too many if the owner is still in that epoch.
    void refuse_or_retry(State state, int number) {
        Sender &sender = state.senders[static_cast<std::size_t>(number)];
        sender.at = At::begin;
        if (sender.epoch == state.epoch) {
            --sender.left;
            ++sender.refused;
        }
        reach(state);
    }

    void step_sender(State state, int number) {
        Sender &sender = state.senders[static_cast<std::size_t>(number)];
        std::uint64_t &slot = state.slots[slot_of(sender.epoch)];
        switch (sender.at) {
            case At::begin:
                if (sender.left == 0) return;
                sender.epoch = state.epoch;
                sender.at = At::has_epoch;
                break;
            case At::has_epoch:
                sender.slot = slot;
                sender.at = At::has_slot;
                if (how != How::adds_first) break;
                --slot;
                if (has_room(sender)) return land(state, number, sender.epoch);
                break;
            case At::has_slot:
                if (how == How::adds_first) {
                    ++slot;
                    sender.at = At::too_many;
                    break;
                }
                sender.at = has_room(sender) ? At::has_room : At::too_many;
                if (how == How::compares && sender.epoch != state.epoch) sender.at = At::begin;
                break;
            case At::has_room:
                if (slot != sender.slot) {
                    sender.at = At::begin;
                    break;
                }
                --slot;
                return land(state, number, sender.epoch);
            case At::too_many:
                return refuse_or_retry(state, number);
        }
        reach(state);
    }

    void step_owner(State state) {
        if (state.epoch == kMostEpochs || value(state, state.epoch) != 0) return;
        if (state.landed[state.epoch] != events) fault = "a signal fires without its messages";
        ++state.epoch;
        reach(state);
    }

    void check_end(const State &state) {
        for (const Sender &sender : state.senders)
            if (sender.left != 0) return;
        unsigned landed = 0;
        unsigned refused = 0;
        for (const std::uint8_t of_epoch : state.landed)
            landed += of_epoch;
        for (const Sender &sender : state.senders)
            refused += sender.refused;
        if (landed + refused != kSenders * messages)
            fault = "a message is neither counted nor refused";
        if (value(state, state.epoch) != events - state.landed[state.epoch])
            fault = "a slot differs from the landed messages";
    }

    std::string run() {
        State first;
        for (Sender &sender : first.senders)
            sender.left = static_cast<std::uint8_t>(messages);
        reach(first);
        while (!left.empty() && fault.empty()) {
            const State state = left.front();
            left.pop_front();
            step_owner(state);
            for (int number = 0; number < kSenders; ++number)
                step_sender(state, number);
            check_end(state);
        }
        return fault;
    }
};

TEST(current_epoch, a_message_is_counted_once_in_a_current_epoch_of_its_owner) {
    for (const unsigned events : {1u, 2u, 3u})
        for (const unsigned messages : {1u, 2u, 5u}) {
            Search search{How::compares, events, messages, {}, {}, {}};
            EXPECT_EQ(search.run(), "") << events << " events, " << messages << " messages";
            EXPECT_GT(search.seen.size(), 10u * messages);
        }
}

TEST(current_epoch, a_sender_that_adds_before_it_looks_is_found) {
    Search search{How::adds_first, 1, 3, {}, {}, {}};
    EXPECT_NE(search.run(), "");
}

TEST(current_epoch, a_sender_that_does_not_look_again_is_found) {
    Search search{How::looks_once, 1, 8, {}, {}, {}};
    EXPECT_NE(search.run(), "");
}

}  // namespace
