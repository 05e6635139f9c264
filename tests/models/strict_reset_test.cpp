// Resets of a strict signal, which report events of the next epoch. Tries all orders of the steps
// of two threads of an owner and two senders, with the library's own arithmetic. Senders that check
// the epoch first may send, and their messages must not be reported; messages that unchecked
// senders send before a reset are reported once. An event between the read of the slot and the
// store that admits senders is not reported: it cannot be distinguished from later ones. The
// mistakes of How must be found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <tuple>

#include "signal/counters.hpp"

namespace {

using sennit::signal::is_counted;
using sennit::signal::slot_of;
using sennit::signal::value_of;

constexpr unsigned kResets = 2;  // number of epochs that end
constexpr unsigned kOwnersThreads = 2;
constexpr unsigned kSenders = 2;

enum class How : std::uint8_t {
    right,
    looks_once,           // does not read the epoch again
    tells_senders_first,  // announces the next epoch to senders before the owner's threads see it
    forgets               // forgets that an event was reported
};
enum class At : std::uint8_t { begin, has_epoch, has_fired, has_early, tells, advances, publishes };

struct Thread {
    At at = At::begin;
    std::uint8_t epoch = 0;
    std::uint8_t told = 0;  // as the thread read it

    auto key() const { return std::tuple(at, epoch, told); }
};

struct Sender {
    bool has_looked = false;
    std::uint8_t next = 0;  // epoch of its next message

    auto key() const { return std::tuple(has_looked, next); }
};

struct State {
    std::uint8_t epoch = 0;       // the owner's epoch
    std::uint8_t to_senders = 0;  // the epoch in the record, for senders
    std::uint8_t told = 0;        // 1 + the last epoch in which an event was reported
    std::array<std::uint64_t, 2> slots{};
    std::array<bool, kResets + 2> came_early{};
    std::array<std::uint8_t, kResets + 2> times_told{};
    std::array<Thread, kOwnersThreads> threads{};
    std::array<Sender, kSenders> senders{};

    auto key() const {
        return std::tuple(epoch, to_senders, told, slots, came_early, times_told, threads[0].key(),
                          threads[1].key(), senders[0].key(), senders[1].key());
    }
    bool operator<(const State &other) const { return key() < other.key(); }
};

struct StrictSearch {
    const How how;
    const bool is_unchecked;
    std::set<State> seen{};
    std::deque<State> left{};
    std::string fault{};
    bool is_any_told = false;

    void reach(const State &state) {
        if (seen.insert(state).second) left.push_back(state);
    }

    // Each sender sends one message in each epoch, so an epoch has two events.
    void step_sender(State state, std::size_t number) {
        Sender &sender = state.senders[number];
        if (sender.next > kResets) return;
        if (!sender.has_looked) {
            // An unchecked sender may send for the owner's epoch and the next one, by load and
            // store.
            const std::uint64_t ahead = is_unchecked ? 1 : 0;
            if (!is_counted(sender.next, state.to_senders, ahead)) return;
            sender.has_looked = true;
            return reach(state);
        }
        if (sender.next > state.to_senders) state.came_early[sender.next] = true;
        state.slots[slot_of(sender.next)] += sennit::signal::kWholeMessage;
        sender.has_looked = false;
        ++sender.next;
        reach(state);
    }

    std::uint64_t value(const State &state, unsigned epoch) const {
        return value_of(state.slots[slot_of(epoch)], kSenders, epoch);
    }

    // The steps of reset(), in order.
    void step_thread(State state, std::size_t number) {
        Thread &thread = state.threads[number];
        const std::uint8_t next = thread.epoch + 1;
        switch (thread.at) {
            case At::begin:
                if (state.epoch == kResets) return;
                thread = {At::has_epoch, state.epoch, state.told};
                break;
            case At::has_epoch:
                thread.at = At::begin;
                if (value(state, thread.epoch) == 0) thread.at = At::has_fired;
                break;
            case At::has_fired:
                thread.at = value(state, next) != kSenders ? At::has_early : after_looks();
                break;
            case At::has_early: {
                const bool is_told = thread.told == next && how != How::forgets;
                const bool holds = how == How::looks_once || state.epoch == thread.epoch;
                thread.at = holds && !is_told ? At::tells : after_looks();
                break;
            }
            case At::tells:
                thread.at = At::begin;
                if (state.told == thread.told || how == How::forgets) tell(state, next);
                break;
            case At::advances:
                thread.at = At::begin;
                if (state.epoch != thread.epoch) break;  // another thread was faster
                ++state.epoch;
                if (how != How::tells_senders_first) thread.at = At::publishes;
                break;
            case At::publishes:
                state.to_senders = std::max(state.to_senders, next);
                thread.at = how == How::tells_senders_first ? At::advances : At::begin;
                break;
        }
        reach(state);
    }

    At after_looks() const {
        return how == How::tells_senders_first ? At::publishes : At::advances;
    }

    void tell(State &state, std::uint8_t next) {
        state.told = next;
        is_any_told = true;
        if (++state.times_told[next] > 1) fault = "an event is reported twice";
        if (!state.came_early[next]) fault = "an event that came in its epoch is reported";
    }

    void check_end(const State &state) {
        if (state.epoch == kResets && state.senders[0].next > kResets &&
            state.senders[1].next > kResets && value(state, kResets) != 0)
            fault = "an event was lost";
    }

    std::string run() {
        reach(State{});
        while (!left.empty() && fault.empty()) {
            const State state = left.front();
            left.pop_front();
            for (std::size_t number = 0; number < kOwnersThreads; ++number)
                step_thread(state, number);
            for (std::size_t number = 0; number < kSenders; ++number)
                step_sender(state, number);
            check_end(state);
        }
        return fault;
    }
};

TEST(strict_reset, events_let_in_after_the_reset_are_not_reported) {
    StrictSearch search{How::right, false};
    EXPECT_EQ(search.run(), "");
    EXPECT_GT(search.seen.size(), 500u);
    EXPECT_FALSE(search.is_any_told);
}

TEST(strict_reset, an_event_before_a_reset_is_reported_once_and_stays_counted) {
    StrictSearch search{How::right, true};
    EXPECT_EQ(search.run(), "");
    EXPECT_TRUE(search.is_any_told);
}

TEST(strict_reset, every_mistake_is_found) {
    for (const How how : {How::looks_once, How::tells_senders_first}) {
        StrictSearch search{how, false};
        EXPECT_NE(search.run(), "") << static_cast<int>(how);
    }
    StrictSearch forgets{How::forgets, true};
    EXPECT_NE(forgets.run(), "");
}

}  // namespace
