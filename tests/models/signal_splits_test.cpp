// Signals with two senders whose messages are in parts: every order in which both look, send, and
// their parts arrive, by the functions that the library uses.
#include <gtest/gtest.h>

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "signal_rules.hpp"

namespace sennit::signal::searched {
namespace {

// Two senders whose messages are in parts, which come in any order, also after the call has
// returned that sent them. A sender looks before a message; the owner judges each part that comes
// by its tag.
template <class R>
class SplitSearch {
  public:
    struct Message {
        unsigned epoch;
        unsigned sender;
        unsigned parts;
    };

    // Each sender sends its own in their order.
    SplitSearch(std::uint32_t events, unsigned epochs, std::vector<Message> messages,
                unsigned tag_bits)
        : events_(events),
          bits_(event_bits_of(events)),
          tag_bits_(tag_bits),
          epochs_(epochs),
          messages_(std::move(messages)) {}

    // Empty, or what is wrong.
    std::string run() {
        visit(State{});
        while (!open_.empty() && wrong_.empty()) {
            const State state = open_.back();
            open_.pop_back();
            step(state);
        }
        return wrong_;
    }
    std::uint64_t states() const { return seen_.size(); }

  private:
    static constexpr unsigned kMost = 6;  // messages
    struct State {
        std::uint8_t receiver = 0;
        std::uint8_t sent = 0;    // bit i: message i
        std::uint8_t firsts = 0;  // that have come
        std::array<std::uint8_t, kMost> further{};
        std::array<std::uint64_t, 2> slots{};
        auto operator<=>(const State &) const = default;
    };

    bool is_whole(const State &state, unsigned epoch) const {
        for (unsigned i = 0; i < messages_.size(); ++i)
            if (messages_[i].epoch == epoch &&
                ((state.firsts >> i & 1) == 0 || state.further[i] != messages_[i].parts - 1))
                return false;
        return true;
    }

    void visit(const State &state) {
        if (!seen_.insert(state).second) return;
        if (state.receiver < epochs_) {
            const std::uint64_t value =
                state.slots[R::slot(state.receiver)] + R::start(events_, state.receiver);
            if ((value == 0) != is_whole(state, state.receiver))
                wrong_ = value == 0 ? "fires before all has come" : "does not fire";
        }
        open_.push_back(state);
    }

    void step(const State &state) {
        bool went_on = false;
        if (state.receiver < epochs_ && is_whole(state, state.receiver)) {
            State next = state;
            ++next.receiver;
            visit(next);
            went_on = true;
        }
        for (unsigned sender = 0; sender < 2; ++sender)
            went_on |= send(state, sender);
        for (unsigned i = 0; i < messages_.size(); ++i)
            if ((state.sent >> i & 1) != 0) went_on |= arrive(state, i);
        if (!went_on && state.receiver != epochs_) wrong_ = "waits for ever";
    }

    // The next message of the sender, if it is let in.
    bool send(const State &state, unsigned sender) {
        for (unsigned i = 0; i < messages_.size(); ++i) {
            if (messages_[i].sender != sender || (state.sent >> i & 1) != 0) continue;
            if (!R::counted(messages_[i].epoch, state.receiver)) return false;
            State next = state;
            next.sent = static_cast<std::uint8_t>(next.sent | 1u << i);
            visit(next);
            return true;
        }
        return false;
    }

    bool arrive(const State &state, unsigned i) {
        const Message &it = messages_[i];
        const bool first = (state.firsts >> i & 1) == 0;
        const bool further = state.further[i] != it.parts - 1;
        const std::uint64_t epoch =
            epoch_of_tag(it.epoch & low_mask(tag_bits_), state.receiver, tag_bits_);
        if (first || further) {
            if (!is_counted(epoch, state.receiver)) wrong_ = "is not counted";
            if (epoch != it.epoch) wrong_ = "is counted for another epoch";
        }
        if (first) {
            State next = state;
            next.firsts = static_cast<std::uint8_t>(next.firsts | 1u << i);
            next.slots[R::slot(it.epoch)] += R::first(it.parts, bits_);
            visit(next);
        }
        if (further) {
            State next = state;
            ++next.further[i];
            next.slots[R::slot(it.epoch)] += R::further(bits_);
            visit(next);
        }
        return first || further;
    }

    std::uint32_t events_;
    unsigned bits_;
    unsigned tag_bits_;
    unsigned epochs_;
    std::vector<Message> messages_;
    std::set<State> seen_;
    std::vector<State> open_;
    std::string wrong_;
};

// All ways to divide the messages of each epoch among two senders and into parts.
template <class R>
Result search_splits(std::uint32_t events, unsigned epochs, unsigned most_parts,
                     unsigned tag_bits) {
    using Search = SplitSearch<R>;
    using Messages = std::vector<typename Search::Message>;
    std::vector<Messages> all;  // of one epoch, as multisets
    const std::function<void(Messages, unsigned)> extend = [&](const Messages &begun,
                                                               unsigned kind) {
        if (begun.size() == events) {
            all.push_back(begun);
            return;
        }
        for (; kind < 2 * most_parts; ++kind) {
            Messages longer = begun;
            longer.push_back({0, kind % 2, kind / 2 + 1});
            extend(longer, kind);
        }
    };
    extend({}, 0);
    Result result;
    const std::function<void(Messages, unsigned)> choose = [&](const Messages &begun,
                                                               unsigned epoch) {
        if (epoch == epochs) {
            Search search(events, epochs, begun, tag_bits);
            const std::string wrong = search.run();
            ++result.runs;
            result.states += search.states();
            if (!wrong.empty() && result.wrong++ == 0) result.first = wrong;
            return;
        }
        for (const Messages &one : all) {
            Messages longer = begun;
            for (auto message : one) {
                message.epoch = epoch;
                longer.push_back(message);
            }
            choose(longer, epoch + 1);
        }
    };
    choose({}, 0);
    return result;
}

// Broken by a sender that is let in too early, or a part that its owner does not take although its
// sender was let in: what has not come keeps the owner in its epoch, so a tag of one bit is enough.
TEST(SignalCounters, parts_of_two_senders_that_have_looked_are_all_counted_for_each_width_of_tags) {
    std::uint64_t states = 0;
    const auto look_at = [&](const Result &result, unsigned bits) {
        EXPECT_EQ(result.wrong, 0u) << result.first << ", " << bits << " bits";
        states += result.states;
    };
    for (const unsigned bits : tag_widths()) {
        look_at(search_splits<Rules>(1, 3, 3, bits), bits);
        look_at(search_splits<Rules>(2, 2, 2, bits), bits);
    }
    look_at(search_splits<Rules>(1, 3, 4, 1), 1);
    look_at(search_splits<Rules>(2, 3, 2, 1), 1);
    EXPECT_GT(states, 100000u);
    RecordProperty("states", std::to_string(states));
    EXPECT_GT(search_splits<TakesTwoAhead>(1, 3, 2, 16).wrong, 0u);
    EXPECT_GT(search_splits<AnnouncesNothing>(1, 2, 2, 16).wrong, 0u);
    EXPECT_GT(search_splits<OneSlot>(2, 2, 1, 16).wrong, 0u);
}

}  // namespace
}  // namespace sennit::signal::searched
