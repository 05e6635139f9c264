// The counters of a signal, with the library's own functions (src/signal/counters.hpp): every
// order in which parts of messages can arrive, within bounds; random orders beyond them, compared
// with a count of the missing parts; and rules with a mistake, each of which must be found.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "signal_rules.hpp"

namespace sennit::signal::searched {
namespace {

constexpr unsigned kEpochs = 3;

// One epoch of a run: the number of parts of each message.
using Splits = std::vector<unsigned>;

// All multisets of `events` splits with up to `most` parts.
std::vector<Splits> all_splits(unsigned events, unsigned most) {
    std::vector<Splits> all;
    const std::function<void(Splits)> extend = [&](Splits begun) {
        if (begun.size() == events) {
            all.push_back(begun);
            return;
        }
        for (unsigned parts = begun.empty() ? 1 : begun.back(); parts <= most; ++parts) {
            Splits longer = begun;
            longer.push_back(parts);
            extend(longer);
        }
    };
    extend({});
    return all;
}

// The arrivals of an epoch. Further parts are all alike, so their number is enough.
struct Arrived {
    unsigned firsts = 0;  // bit i: the first part of message i
    unsigned further = 0;
};

// Searches all orders of arrival for one choice of splits. Parts of all messages are on their way
// from the start, from any number of senders; parts that the rules do not count yet wait, and the
// receiver resets whenever it may.
template <class R>
class Search {
  public:
    Search(const std::array<Splits, kEpochs> &splits, unsigned event_bits)
        : splits_(splits),
          events_(static_cast<std::uint32_t>(splits[0].size())),
          bits_(event_bits) {
        for (const Splits &epoch : splits_) {
            unsigned further = 0;
            for (const unsigned parts : epoch)
                further += parts - 1;
            further_.push_back(further);
            sizes_.push_back((1u << epoch.size()) * (further + 1));
        }
        seen_.resize(std::size_t{sizes_[0]} * sizes_[1] * sizes_[2] * (kEpochs + 1));
    }

    // Returns "" or the fault.
    std::string run() {
        visit(State{});
        while (!open_.empty() && wrong_.empty()) {
            const State state = open_.back();
            open_.pop_back();
            step(state);
        }
        return wrong_;
    }
    std::uint64_t states() const { return states_; }

  private:
    struct State {
        unsigned receiver = 0;
        std::array<Arrived, kEpochs> arrived{};
        std::array<std::uint64_t, 2> slots{};
    };

    bool is_whole(const State &state, unsigned epoch) const {
        return state.arrived[epoch].firsts == (1u << events_) - 1 &&
               state.arrived[epoch].further == further_[epoch];
    }

    void visit(const State &state) {
        std::size_t key = state.receiver;
        for (unsigned epoch = 0; epoch < kEpochs; ++epoch) {
            const Arrived &arrived = state.arrived[epoch];
            key = key * sizes_[epoch] + arrived.firsts * (further_[epoch] + 1) + arrived.further;
        }
        if (seen_[key]) return;
        seen_[key] = true;
        ++states_;
        if (state.receiver < kEpochs) {
            const std::uint64_t value =
                state.slots[R::slot(state.receiver)] + R::start(events_, state.receiver);
            if ((value == 0) != is_whole(state, state.receiver))
                wrong_ = value == 0 ? "fires before all parts have come" : "does not fire";
            else if (is_overflown(value, bits_))
                wrong_ = "overflows without a message too many";
        }
        open_.push_back(state);
    }

    void step(const State &state) {
        if (state.receiver == kEpochs) return;
        if (is_whole(state, state.receiver)) {
            State next = state;
            ++next.receiver;
            R::reset(next.slots.data(), R::slot(next.receiver));
            visit(next);
        }
        for (unsigned epoch = 0; epoch < kEpochs; ++epoch) {
            if (!R::counted(epoch, state.receiver)) {
                // An event that is not counted must be reported correctly, as early or late.
                if (is_early(epoch, state.receiver) != (epoch > state.receiver))
                    wrong_ = "is reported wrongly";
                continue;
            }
            arrive(state, epoch);
        }
    }

    void arrive(const State &state, unsigned epoch) {
        const unsigned slot = R::slot(epoch);
        for (unsigned i = 0; i < events_; ++i) {
            if ((state.arrived[epoch].firsts >> i & 1) != 0) continue;
            State next = state;
            next.arrived[epoch].firsts |= 1u << i;
            next.slots[slot] += R::first(splits_[epoch][i], bits_);
            visit(next);
        }
        if (state.arrived[epoch].further == further_[epoch]) return;
        State next = state;
        ++next.arrived[epoch].further;
        next.slots[slot] += R::further(bits_);
        visit(next);
    }

    std::array<Splits, kEpochs> splits_;
    std::uint32_t events_;
    unsigned bits_;
    std::vector<unsigned> further_;
    std::vector<unsigned> sizes_;
    std::vector<bool> seen_;
    std::vector<State> open_;
    std::string wrong_;
    std::uint64_t states_ = 0;
};

template <class R>
Result search_all(unsigned most_events, unsigned most_parts) {
    Result result;
    for (unsigned events = 1; events <= most_events; ++events) {
        const std::vector<Splits> all = all_splits(events, most_parts);
        for (const Splits &a : all)
            for (const Splits &b : all)
                for (const Splits &c : all) {
                    Search<R> search({a, b, c}, event_bits_of(events));
                    const std::string wrong = search.run();
                    ++result.runs;
                    result.states += search.states();
                    if (!wrong.empty() && result.wrong++ == 0) result.first = wrong;
                }
    }
    return result;
}

// Broken by two counters in one slot, by tags that are too narrow, or by the start of an epoch
// that forgets early events.
TEST(SignalCounters, signals_fire_exactly_when_all_events_have_come_in_any_order) {
    const Result result = search_all<Rules>(3, 4);
    EXPECT_EQ(result.runs, 64u + 1000u + 8000u);
    EXPECT_EQ(result.wrong, 0u) << result.first;
    EXPECT_GT(result.states, 1000000u);
    RecordProperty("states", std::to_string(result.states));
}

// A search that accepted rules with a mistake would show nothing.
TEST(SignalCounters, every_planted_mistake_is_found) {
    EXPECT_GT(search_all<OneSlot>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<TagOfOneBit>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<TakesTwoAhead>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<AnnouncesNothing>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<PartsBesideTheOverflow>(3, 3).wrong, 0u);
    EXPECT_GT(search_all<ResetByStore>(2, 2).wrong, 0u);
}

// Two senders, which look at the epoch and add later; one message is too many. Each step is one
// instant; between any two steps of a sender the other sender and the receiver may take steps.
// Before a reset the receiver checks whether a message was refused, unless kMistake omits that.
enum class Mistake : std::uint8_t { none, tells_nobody, forgets_by_reset };
template <Mistake kMistake>
class SenderSearch {
  public:
    // The epochs of each sender's messages, in the order of sending.
    SenderSearch(std::uint32_t events, const std::array<std::vector<unsigned>, 2> &messages)
        : events_(events), bits_(event_bits_of(events)), messages_(messages) {}

    void run() { step(State{}); }
    std::uint64_t ends() const { return ends_; }
    // The fewest and the most refused messages over all complete runs.
    unsigned fewest_refused = UINT32_MAX;
    unsigned most_refused = 0;
    bool fired_early = false;
    // A message was taken back and the receiver never learns of it, or the receiver is told of a
    // message that was not taken back.
    bool is_untold = false;
    bool is_told_wrongly = false;

  private:
    enum class At : std::uint8_t { look, add, take_back, tell };
    struct Sender {
        unsigned next = 0;  // index of its next message
        At at = At::look;
    };
    struct State {
        std::uint64_t receiver = 0;
        std::array<std::uint64_t, 2> slots{};
        std::array<Sender, 2> senders{};
        std::array<unsigned, 4> counted{};  // by epoch
        unsigned refused = 0;
        unsigned taken_back = 0;
        std::uint64_t refused_word = 0;
        unsigned told = 0;
    };

    std::uint64_t value(const State &state) const {
        return value_of(state.slots[slot_of(state.receiver)], events_, state.receiver);
    }

    void step(const State &state) {
        bool went_on = false;
        const bool taking_back =
            state.senders[0].at == At::take_back || state.senders[1].at == At::take_back;
        if (value(state) == 0 && !taking_back) {
            if (state.counted[state.receiver] != events_) fired_early = true;
            State next = state;
            if (state.refused_word != 0 && kMistake != Mistake::forgets_by_reset) {
                next.refused_word = 0;
                ++next.told;
                step(next);
                went_on = true;
            } else if (state.receiver < 2) {
                ++next.receiver;
                next.refused_word = 0;
                step(next);
                went_on = true;
            }
        }
        for (unsigned i = 0; i < 2; ++i)
            went_on |= send(state, i);
        if (went_on) return;
        ++ends_;
        // The next reset, or a wait that finds nothing, reports the rest.
        const unsigned told = state.told + (state.refused_word != 0 ? 1 : 0);
        is_untold |= told < state.taken_back;
        is_told_wrongly |= told > state.taken_back;
        fewest_refused = std::min(fewest_refused, state.refused);
        most_refused = std::max(most_refused, state.refused);
    }

    bool send(const State &state, unsigned i) {
        const Sender &sender = state.senders[i];
        if (sender.next == messages_[i].size()) return false;
        const unsigned epoch = messages_[i][sender.next];
        State next = state;
        Sender &changed = next.senders[i];
        switch (sender.at) {
            case At::look:
                if (is_counted(epoch, state.receiver)) {
                    changed.at = At::add;
                } else if (is_early(epoch, state.receiver)) {
                    return false;  // the sender gets SIGNAL_EARLY and tries again
                } else {
                    ++next.refused;
                    changed = Sender{sender.next + 1, At::look};
                }
                break;
            case At::add: {
                const std::uint64_t before = value_of(state.slots[slot_of(epoch)], events_, epoch);
                next.slots[slot_of(epoch)] += kWholeMessage;
                const bool surplus = is_surplus(before, 1, events_, bits_);
                if (!surplus) ++next.counted[epoch];
                changed = surplus ? Sender{sender.next, At::take_back}
                                  : Sender{sender.next + 1, At::look};
                break;
            }
            case At::take_back:
                next.slots[slot_of(epoch)] -= kWholeMessage;
                ++next.refused;
                ++next.taken_back;
                changed.at = At::tell;
                break;
            case At::tell:
                if (kMistake != Mistake::tells_nobody) next.refused_word = epoch + 1;
                changed = Sender{sender.next + 1, At::look};
        }
        step(next);
        return true;
    }

    std::uint32_t events_;
    unsigned bits_;
    std::array<std::vector<unsigned>, 2> messages_;
    std::uint64_t ends_ = 0;
};

using Messages = std::array<std::vector<unsigned>, 2>;
const std::vector<Messages> kTooMany = {
    {{{0, 0}, {0}}}, {{{0, 0, 0}, {1, 1}}}, {{{0, 0}, {0, 1, 1}}}, {{{0, 1, 1}, {0, 1}}}};

// Broken by a sender that does not check the count that it found, or that does not tell the owner.
TEST(SignalCounters, an_old_look_does_no_harm_and_a_surplus_message_is_reported_to_both) {
    const std::vector<Messages> legal = {
        {{{0, 1}, {0, 1}}}, {{{0, 0, 1}, {1}}}, {{{0, 0, 1, 1}, {}}}, {{{0, 1, 1}, {0}}}};
    for (const Messages &messages : legal) {
        SenderSearch<Mistake::none> search(2, messages);
        search.run();
        EXPECT_GT(search.ends(), 0u);
        EXPECT_EQ(search.most_refused, 0u);
        EXPECT_FALSE(search.fired_early);
        EXPECT_FALSE(search.is_told_wrongly);
    }
    for (const Messages &messages : kTooMany) {
        SenderSearch<Mistake::none> search(2, messages);
        search.run();
        EXPECT_GT(search.ends(), 0u);
        EXPECT_EQ(search.fewest_refused, 1u);
        EXPECT_EQ(search.most_refused, 1u);
        EXPECT_FALSE(search.fired_early);
        EXPECT_FALSE(search.is_untold);
        EXPECT_FALSE(search.is_told_wrongly);
    }
}

template <Mistake kMistake>
bool leaves_owner_untold() {
    return std::any_of(kTooMany.begin(), kTooMany.end(), [](const Messages &messages) {
        SenderSearch<kMistake> search(2, messages);
        search.run();
        return search.is_untold;
    });
}

// A search that accepted an untold owner would show nothing.
TEST(SignalCounters, a_refusal_that_does_not_reach_the_owner_is_found) {
    EXPECT_TRUE(leaves_owner_untold<Mistake::tells_nobody>());
    EXPECT_TRUE(leaves_owner_untold<Mistake::forgets_by_reset>());
}

// A plain count of the missing events and parts.
struct Oracle {
    std::int64_t events;
    std::int64_t parts = 0;
    bool is_whole() const { return events == 0 && parts == 0; }
};

// The event as the receiver gets it from the network: cut to the bits of the layout.
CarriedEvent carried(const CarriedLayout &layout, const CarriedEvent &event) {
    transport::EventData data = pack(layout, event);
    data.low &= low_mask(layout.bits);
    if (layout.bits <= 64) data.high = 0;
    return unpack(layout, data);
}

// Broken by addends that overflow into neighbouring bits for some N or K, or by fields of the
// completion data that do. For each width of the data, messages have as many parts as it can
// encode, or few. Further parts come many at a time, without checks between them.
TEST(SignalCounters, counters_agree_with_a_plain_count_of_random_events_and_parts) {
    constexpr int kLayouts = std::size(kCarriedLayouts) - 1;
    std::mt19937_64 random(4711);
    for (int run = 0; run < 20000; ++run) {
        const CarriedLayout &layout = kCarriedLayouts[run % kLayouts];
        const auto max_events =
            static_cast<std::uint32_t>(1 + (random() & ((std::uint64_t{1} << random() % 32) - 1)));
        const unsigned bits = event_bits_of(max_events);
        const auto events = static_cast<std::uint32_t>(1 + random() % std::min(max_events, 6u));
        const std::uint64_t epoch = random() % 1000;
        const std::uint64_t receivers = epoch - (epoch == 0 ? 0 : random() % 2);
        CarriedEvent event{static_cast<std::uint32_t>(random() & 255), 0, epoch,
                           static_cast<std::uint32_t>(random() & low_mask(layout.index_bits))};
        // The addend of an event with this code.
        const auto added = [&](std::uint64_t code) {
            event.code = code;
            const CarriedEvent come = carried(layout, event);
            EXPECT_EQ(come.index, event.index);
            EXPECT_EQ(come.number, event.number & low_mask(layout.number_bits));
            EXPECT_EQ(epoch_of_tag(come.tag, receivers, layout.tag_bits), epoch);
            return addend_of(layout, come, bits, 1);
        };
        // The most further parts of each message: together all messages must stay below the bound.
        const std::uint64_t room = ((std::uint64_t{1} << (63 - bits)) - 1) / events;
        const std::uint64_t most = std::min<std::uint64_t>(most_parts(layout), room + 1);
        std::uint64_t counter = 0 - events * (epoch / 2);
        Oracle oracle{events};
        std::vector<std::uint64_t> firsts;
        std::uint64_t further = 0;  // further parts still to come
        for (std::uint32_t i = 0; i < events; ++i) {
            const std::uint64_t few = std::min<std::uint64_t>(most, 4);
            const std::uint64_t parts =
                run / kLayouts % 2 == 0 ? most - random() % few : 1 + random() % few;
            firsts.push_back(parts - 1);
            further += parts - 1;
        }
        while (!firsts.empty() || further != 0) {
            ASSERT_FALSE(oracle.is_whole());
            ASSERT_NE(value_of(counter, events, epoch), 0u);
            if (further == 0 || (!firsts.empty() && random() % 2 == 0)) {
                counter += added(firsts.back());
                --oracle.events;
                oracle.parts += static_cast<std::int64_t>(firsts.back());
                firsts.pop_back();
            } else {
                const std::uint64_t come = random() % 3 == 0
                                               ? further
                                               : 1 + random() % std::min<std::uint64_t>(further, 9);
                counter += come * added(further_code(layout.code_bits));
                oracle.parts -= static_cast<std::int64_t>(come);
                further -= come;
            }
            const std::uint64_t value = value_of(counter, events, epoch);
            ASSERT_EQ(value == 0, oracle.is_whole()) << layout.bits << " bits, N " << bits;
            ASSERT_EQ(events_left(value, bits), oracle.events);
            ASSERT_EQ(events_arrived(value, events, bits), events - oracle.events);
            ASSERT_FALSE(is_overflown(value, bits));
        }
        ASSERT_TRUE(oracle.is_whole());
        for (std::uint64_t extra = 1; extra <= std::min(max_events, 3u); ++extra) {
            counter += added(0);
            ASSERT_TRUE(is_overflown(value_of(counter, events, epoch), bits));
            ASSERT_EQ(events_arrived(value_of(counter, events, epoch), events, bits),
                      events + extra);
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << layout.bits << " bits";
    }
}

// The bound of the proof in docs/design/signals.md: with this many further parts together a signal
// fires although they are missing; with one less it does not, in any order.
TEST(SignalCounters, the_bound_of_all_parts_together_is_as_documented) {
    for (unsigned bits = 1; bits <= 32; ++bits) {
        const std::uint64_t bound = std::uint64_t{1} << (63 - bits);
        const std::uint32_t events = 1;
        EXPECT_EQ(value_of(first_part(bound + 1, bits), events, 0), 0u) << "N " << bits;
        EXPECT_NE(value_of(first_part(bound, bits), events, 0), 0u) << "N " << bits;
        EXPECT_NE(value_of((bound - 1) * further_part(bits), events, 0), 0u) << "N " << bits;
        EXPECT_EQ(value_of(first_part(bound, bits) + (bound - 1) * further_part(bits), events, 0),
                  0u);
    }
}

// Broken by comparing tags by size, or across the wrap-around: within half of its range a tag
// tells the owner how far ahead or behind an event is, for any epoch of the owner.
TEST(SignalCounters, tags_are_as_good_as_whole_numbers_within_their_width) {
    for (const unsigned bits : tag_widths()) {
        const std::uint64_t half = low_mask(bits) / 2 + 1;
        const std::uint64_t far = std::min<std::uint64_t>(half, 300);
        for (const std::uint64_t middle : {std::uint64_t{0}, half, 2 * half, 1000 * half}) {
            for (std::uint64_t receivers = middle - 3; receivers != middle + 4; ++receivers) {
                const auto seen = [&](std::uint64_t epoch) {
                    return epoch_of_tag(epoch & low_mask(bits), receivers, bits);
                };
                for (std::uint64_t ahead = 0; ahead <= far; ++ahead) {
                    ASSERT_EQ(seen(receivers + ahead), receivers + ahead) << bits << " bits";
                    if (ahead < half) {
                        ASSERT_EQ(seen(receivers - ahead), receivers - ahead);
                    }
                }
                ASSERT_EQ(seen(receivers + half), receivers + half);
                // Beyond that a tag is taken for another epoch: the price of the narrow layouts.
                if (bits < 64) {
                    ASSERT_NE(seen(receivers + half + 1), receivers + half + 1);
                }
            }
        }
    }
}

}  // namespace
}  // namespace sennit::signal::searched
