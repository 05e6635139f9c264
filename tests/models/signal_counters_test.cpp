// The counters of a signal, by the functions that the library uses (src/signal/counters.hpp): every
// order in which parts of messages can arrive, within bounds; random ones beyond them against a
// count of what is missing; and rules with a mistake in them, each of which must be found.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "signal/counters.hpp"

namespace {

using namespace sennit::signal;

// The rules as they are, and those with one mistake each.
struct Rules {
    static unsigned slot(std::uint64_t epoch) { return slot_of(epoch); }
    static bool counted(std::uint64_t epoch, std::uint64_t receivers) {
        return is_counted(epoch, receivers);
    }
    static std::uint64_t first(std::uint64_t parts, unsigned bits) {
        return first_part(parts, bits);
    }
    static std::uint64_t further(unsigned bits) { return further_part(bits); }
    static std::uint64_t start(std::uint32_t events, std::uint64_t epoch) {
        return armed(events, epoch);
    }
    // What a reset does to the slot of the epoch that begins.
    static void reset(std::uint64_t *, unsigned) {}
};
struct OneSlot : Rules {
    static unsigned slot(std::uint64_t) { return 0; }
    static std::uint64_t start(std::uint32_t events, std::uint64_t epoch) {
        return events * (epoch + 1);
    }
};
struct TagOfOneBit : Rules {
    static bool counted(std::uint64_t epoch, std::uint64_t receivers) {
        return is_tag_counted(epoch, receivers, 1);
    }
};
struct TakesTwoAhead : Rules {
    static bool counted(std::uint64_t epoch, std::uint64_t receivers) {
        return epoch - receivers <= 2;
    }
};
struct AnnouncesNothing : Rules {
    static std::uint64_t first(std::uint64_t, unsigned) { return kWholeMessage; }
};
struct PartsBesideTheOverflow : Rules {
    static std::uint64_t first(std::uint64_t parts, unsigned bits) {
        return first_part(parts, bits - 1);
    }
    static std::uint64_t further(unsigned bits) { return further_part(bits - 1); }
};
struct ResetByStore : Rules {
    static std::uint64_t start(std::uint32_t events, std::uint64_t) { return events; }
    static void reset(std::uint64_t *slots, unsigned slot) { slots[slot] = 0; }
};

constexpr unsigned kEpochs = 3;

// One epoch of a run: into how many parts each of its messages is split.
using Splits = std::vector<unsigned>;

// All multisets of `events` splits up to `most`.
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

// What has arrived of an epoch: further parts are all alike, so their number is enough.
struct Arrived {
    unsigned firsts = 0;  // bit i: the first part of message i
    unsigned further = 0;
};

// Searches all orders of arrival of one choice of splits. Parts of all messages are on their way
// from the start, from as many senders as one likes; those that the rules do not count yet wait,
// and a receiver resets whenever it may.
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
            const Arrived &it = state.arrived[epoch];
            key = key * sizes_[epoch] + it.firsts * (further_[epoch] + 1) + it.further;
        }
        if (seen_[key]) return;
        seen_[key] = true;
        ++states_;
        if (state.receiver < kEpochs) {
            const std::uint64_t value =
                state.slots[R::slot(state.receiver)] + R::start(events_, state.receiver);
            if ((value == 0) != is_whole(state, state.receiver))
                wrong_ = value == 0 ? "fires before all has come" : "does not fire";
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
                // What is not counted is reported, as what it is.
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

struct Result {
    std::uint64_t runs = 0;
    std::uint64_t wrong = 0;
    std::uint64_t states = 0;
    std::string first;
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

// Broken by counters that meet in one slot, parts that are told apart by less, or a start of an
// epoch that forgets what came early.
TEST(SignalCounters, fire_when_all_has_come_in_every_order_and_never_before) {
    const Result result = search_all<Rules>(3, 4);
    EXPECT_EQ(result.runs, 64u + 1000u + 8000u);
    EXPECT_EQ(result.wrong, 0u) << result.first;
    EXPECT_GT(result.states, 1000000u);
    RecordProperty("states", std::to_string(result.states));
}

// A search that passed rules with a mistake would show nothing.
TEST(SignalCounters, every_planted_mistake_is_found) {
    EXPECT_GT(search_all<OneSlot>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<TagOfOneBit>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<TakesTwoAhead>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<AnnouncesNothing>(2, 2).wrong, 0u);
    EXPECT_GT(search_all<PartsBesideTheOverflow>(3, 3).wrong, 0u);
    EXPECT_GT(search_all<ResetByStore>(2, 2).wrong, 0u);
}

// Senders that look at the epoch and add later, two of them, one message too many among them. Each
// step is one instant; between any two of a sender the others and the receiver may go on.
class SenderSearch {
  public:
    // Of each sender the epochs of its messages, in its order.
    SenderSearch(std::uint32_t events, const std::array<std::vector<unsigned>, 2> &messages)
        : events_(events), bits_(event_bits_of(events)), messages_(messages) {}

    void run() { step(State{}); }
    std::uint64_t ends() const { return ends_; }
    // Messages that were refused, in each run to its end: the fewest and the most.
    unsigned fewest_refused = UINT32_MAX;
    unsigned most_refused = 0;
    bool fired_early = false;

  private:
    enum class At : std::uint8_t { look, add, take_back, over };
    struct Sender {
        unsigned next = 0;  // message
        At at = At::look;
    };
    struct State {
        std::uint64_t receiver = 0;
        std::array<std::uint64_t, 2> slots{};
        std::array<Sender, 2> senders{};
        std::array<unsigned, 4> counted{};  // by epoch
        unsigned refused = 0;
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
            if (state.receiver < 2) {
                State next = state;
                ++next.receiver;
                step(next);
                went_on = true;
            }
        }
        for (unsigned i = 0; i < 2; ++i)
            went_on |= send(state, i);
        if (went_on) return;
        ++ends_;
        fewest_refused = std::min(fewest_refused, state.refused);
        most_refused = std::max(most_refused, state.refused);
    }

    bool send(const State &state, unsigned i) {
        const Sender &sender = state.senders[i];
        if (sender.next == messages_[i].size()) return false;
        const unsigned epoch = messages_[i][sender.next];
        State next = state;
        Sender &it = next.senders[i];
        switch (sender.at) {
            case At::look:
                if (is_counted(epoch, state.receiver)) {
                    it.at = At::add;
                } else if (is_early(epoch, state.receiver)) {
                    return false;  // told so, and comes again
                } else {
                    ++next.refused;
                    it = Sender{sender.next + 1, At::look};
                }
                break;
            case At::add: {
                const std::uint64_t before = value_of(state.slots[slot_of(epoch)], events_, epoch);
                next.slots[slot_of(epoch)] += kWholeMessage;
                const bool surplus = is_surplus(before, 1, events_, bits_);
                if (!surplus) ++next.counted[epoch];
                it = surplus ? Sender{sender.next, At::take_back}
                             : Sender{sender.next + 1, At::look};
                break;
            }
            default:
                next.slots[slot_of(epoch)] -= kWholeMessage;
                ++next.refused;
                it = Sender{sender.next + 1, At::look};
        }
        step(next);
        return true;
    }

    std::uint32_t events_;
    unsigned bits_;
    std::array<std::vector<unsigned>, 2> messages_;
    std::uint64_t ends_ = 0;
};

// Broken by a count whose sender does not look at what it found there.
TEST(SignalCounters, a_look_that_is_old_does_no_harm_and_one_message_too_many_is_told_its_sender) {
    const std::vector<std::array<std::vector<unsigned>, 2>> legal = {
        {{{0, 1}, {0, 1}}}, {{{0, 0, 1}, {1}}}, {{{0, 0, 1, 1}, {}}}, {{{0, 1, 1}, {0}}}};
    for (const auto &messages : legal) {
        SenderSearch search(2, messages);
        search.run();
        EXPECT_GT(search.ends(), 0u);
        EXPECT_EQ(search.most_refused, 0u);
        EXPECT_FALSE(search.fired_early);
    }
    const std::vector<std::array<std::vector<unsigned>, 2>> too_many = {
        {{{0, 0}, {0}}}, {{{0, 0, 0}, {1, 1}}}, {{{0, 0}, {0, 1, 1}}}, {{{0, 1, 1}, {0, 1}}}};
    for (const auto &messages : too_many) {
        SenderSearch search(2, messages);
        search.run();
        EXPECT_GT(search.ends(), 0u);
        EXPECT_EQ(search.fewest_refused, 1u);
        EXPECT_EQ(search.most_refused, 1u);
        EXPECT_FALSE(search.fired_early);
    }
}

// What is missing, counted plainly.
struct Oracle {
    std::int64_t events;
    std::int64_t parts = 0;
    bool is_whole() const { return events == 0 && parts == 0; }
};

// Broken by addends that reach into the bits of their neighbours for some N or K.
TEST(SignalCounters, agree_with_a_plain_count_for_random_numbers_of_events_and_parts) {
    std::mt19937_64 random(4711);
    for (int run = 0; run < 20000; ++run) {
        const unsigned code_bits = (run & 1) != 0 ? 16 : 8;
        const auto max_events =
            static_cast<std::uint32_t>(1 + (random() & ((std::uint64_t{1} << random() % 30) - 1)));
        const unsigned bits = event_bits_of(max_events);
        const auto events = static_cast<std::uint32_t>(1 + random() % std::min(max_events, 6u));
        const std::uint64_t epoch = random() % 1000;
        const std::uint64_t most =
            std::min<std::uint64_t>(further_code(code_bits), std::uint64_t{1} << (60 - bits));
        std::vector<std::uint64_t> codes;
        for (std::uint32_t i = 0; i < events; ++i) {
            const std::uint64_t parts = 1 + random() % std::min<std::uint64_t>(most, 40);
            codes.push_back(parts - 1);
            codes.insert(codes.end(), parts - 1, further_code(code_bits));
        }
        std::shuffle(codes.begin(), codes.end(), random);
        std::uint64_t counter = 0 - events * (epoch / 2);
        Oracle oracle{events};
        for (const std::uint64_t code : codes) {
            ASSERT_FALSE(oracle.is_whole());
            ASSERT_NE(value_of(counter, events, epoch), 0u);
            counter += addend_of(code, code_bits, bits);
            if (code == further_code(code_bits)) {
                --oracle.parts;
            } else {
                --oracle.events;
                oracle.parts += static_cast<std::int64_t>(code);
            }
            const std::uint64_t value = value_of(counter, events, epoch);
            ASSERT_EQ(value == 0, oracle.is_whole());
            ASSERT_EQ(events_left(value, bits), oracle.events);
            ASSERT_FALSE(is_overflown(value, bits));
        }
        ASSERT_TRUE(oracle.is_whole());
        counter += kWholeMessage;
        ASSERT_TRUE(is_overflown(value_of(counter, events, epoch), bits));
    }
}

// Broken by a tag that is compared by its size, or across its end.
TEST(SignalCounters, tags_tell_as_much_as_whole_numbers_within_their_width) {
    for (const unsigned bits : {2u, 8u, 16u}) {
        const std::uint64_t width = std::uint64_t{1} << bits;
        for (std::uint64_t receivers = 0; receivers < 3 * width && receivers < 100000; ++receivers)
            for (std::uint64_t ahead = 0; ahead < (bits == 16 ? 5 : width); ++ahead)
                ASSERT_EQ(is_tag_counted((receivers + ahead) % width, receivers, bits),
                          is_counted(receivers + ahead, receivers));
    }
}

}  // namespace
