// Signals with two senders whose messages are split into parts: every program, and every order in
// which the senders look and send and the parts arrive, with the library's own functions.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "signal_rules.hpp"

namespace sennit::signal::searched {
namespace {

constexpr unsigned kEpochs = 3;
constexpr unsigned kSenders = 2;
constexpr unsigned kMostParts = 4;

// Each sender sends its messages in the order of their epochs and looks at the epoch before each.
// The parts of a message arrive in any order, also after the call that sent them; the owner judges
// each part by its tag, for every width of tags. The sender of a message and its number of parts
// are chosen when it is sent, so one search covers all programs with this number of messages per
// epoch.
template <class R>
class SplitSearch {
  public:
    SplitSearch(std::uint8_t events, unsigned most_parts)
        : events_(events), most_parts_(most_parts), bits_(event_bits_of(events)) {}

    // Returns "" or the fault.
    std::string run() {
        State begin{};
        for (Epoch &epoch : begin.epochs)
            epoch.unsent = events_;
        visit(begin);
        while (!open_.empty() && wrong_.empty()) {
            const State state = open_.back();
            open_.pop_back();
            step(state);
        }
        return wrong_;
    }
    std::uint64_t states() const { return seen_.size(); }

  private:
    // The messages of an epoch. Further parts are all alike.
    struct Epoch {
        std::uint8_t unsent;
        std::uint8_t firsts[kMostParts];  // first parts under way, by number of parts - 1
        std::uint8_t further;             // further parts under way
    };
    struct State {
        std::uint64_t slots[2];
        Epoch epochs[kEpochs];
        std::uint8_t last[kSenders];  // epoch of the last message
        std::uint8_t receiver;
        std::uint8_t unused[3];  // must be 0: states are compared byte by byte
        bool operator==(const State &other) const { return bytes() == other.bytes(); }
        std::string_view bytes() const {
            return {reinterpret_cast<const char *>(this), sizeof *this};
        }
    };
    static_assert(sizeof(State) == 40);
    struct Hash {
        std::size_t operator()(const State &state) const {
            return std::hash<std::string_view>{}(state.bytes());
        }
    };

    static bool is_under_way(const Epoch &epoch) {
        for (const std::uint8_t firsts : epoch.firsts)
            if (firsts != 0) return true;
        return epoch.further != 0;
    }
    static bool is_whole(const Epoch &epoch) { return epoch.unsent == 0 && !is_under_way(epoch); }

    void visit(const State &state) {
        if (!seen_.insert(state).second) return;
        if (state.receiver < kEpochs) {
            const std::uint64_t value =
                state.slots[R::slot(state.receiver)] + R::start(events_, state.receiver);
            if ((value == 0) != is_whole(state.epochs[state.receiver]))
                wrong_ = value == 0 ? "fires before all parts have come" : "does not fire";
            else if (is_overflown(value, bits_))
                wrong_ = "overflows without a message too many";
        }
        open_.push_back(state);
    }

    void step(const State &state) {
        if (state.receiver < kEpochs && is_whole(state.epochs[state.receiver])) {
            State next = state;
            ++next.receiver;
            R::reset(next.slots, R::slot(next.receiver));
            visit(next);
        }
        bool is_stuck = state.receiver < kEpochs && !is_whole(state.epochs[state.receiver]);
        for (unsigned epoch = 0; epoch < kEpochs; ++epoch) {
            if (is_under_way(state.epochs[epoch])) is_stuck = false;
            arrive(state, epoch);
            if (state.epochs[epoch].unsent == 0 || !R::counted(epoch, state.receiver)) continue;
            // Sends for another epoch do not count: there may be none.
            if (epoch == state.receiver) is_stuck = false;
            for (unsigned sender = 0; sender < kSenders; ++sender)
                send(state, epoch, sender);
        }
        if (is_stuck) wrong_ = "waits for ever";
    }

    void send(const State &state, unsigned epoch, unsigned sender) {
        if (epoch < state.last[sender]) return;
        for (unsigned parts = 1; parts <= most_parts_; ++parts) {
            State next = state;
            next.last[sender] = static_cast<std::uint8_t>(epoch);
            Epoch &counts = next.epochs[epoch];
            --counts.unsent;
            ++counts.firsts[parts - 1];
            counts.further = static_cast<std::uint8_t>(counts.further + parts - 1);
            // Otherwise both senders have skipped a message: no program does that.
            if (can_send_all(next)) visit(next);
        }
    }

    static bool can_send_all(const State &state) {
        for (unsigned epoch = 0; epoch < kEpochs; ++epoch)
            if (state.epochs[epoch].unsent != 0 && state.last[0] > epoch && state.last[1] > epoch)
                return false;
        return true;
    }

    void arrive(const State &state, unsigned epoch) {
        const Epoch &counts = state.epochs[epoch];
        if (!is_under_way(counts)) return;
        for (const unsigned bits : widths_) {
            const std::uint64_t judged = epoch_of_tag(epoch & low_mask(bits), state.receiver, bits);
            if (!is_counted(judged, state.receiver)) wrong_ = "is not counted";
            if (judged != epoch) wrong_ = "is counted for another epoch";
        }
        for (unsigned parts = 1; parts <= most_parts_; ++parts) {
            if (counts.firsts[parts - 1] == 0) continue;
            State next = state;
            --next.epochs[epoch].firsts[parts - 1];
            next.slots[R::slot(epoch)] += R::first(parts, bits_);
            visit(next);
        }
        if (counts.further == 0) return;
        State next = state;
        --next.epochs[epoch].further;
        next.slots[R::slot(epoch)] += R::further(bits_);
        visit(next);
    }

    std::uint8_t events_;
    unsigned most_parts_;
    unsigned bits_;
    std::vector<unsigned> widths_ = tag_widths();
    std::unordered_set<State, Hash> seen_;
    std::vector<State> open_;
    std::string wrong_;
};

// Broken by a sender that may send too early, or by a part that its owner refuses although the
// sender was allowed to send: missing parts keep the owner in its epoch, so a tag of one bit is
// enough.
TEST(SignalCounters, all_parts_of_two_senders_are_counted_for_each_width_of_tags) {
    std::uint64_t states = 0;
    for (std::uint8_t events = 1; events <= 3; ++events) {
        SplitSearch<Rules> search(events, kMostParts);
        EXPECT_EQ(search.run(), "") << unsigned{events} << " events";
        states += search.states();
    }
    EXPECT_GT(states, 500000u);
    RecordProperty("states", std::to_string(states));
}

// A search that accepted rules with a mistake would show nothing.
TEST(SignalCounters, every_planted_mistake_is_found_among_parts_of_two_senders) {
    EXPECT_NE(SplitSearch<OneSlot>(2, 2).run(), "");
    EXPECT_NE(SplitSearch<TagOfOneBit>(2, 2).run(), "");
    EXPECT_NE(SplitSearch<TakesTwoAhead>(1, 2).run(), "");
    EXPECT_NE(SplitSearch<AnnouncesNothing>(1, 2).run(), "");
    EXPECT_NE(SplitSearch<PartsBesideTheOverflow>(3, 3).run(), "");
    EXPECT_NE(SplitSearch<ResetByStore>(2, 2).run(), "");
}

}  // namespace
}  // namespace sennit::signal::searched
