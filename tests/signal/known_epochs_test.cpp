// A rank's table of other ranks' epochs (signal/known_epochs.hpp). Broken by an epoch that goes
// back, since answers overtake each other; by a new signal that is mistaken for the previous one
// with its handle; by a signal that is mistaken for another; by a table that stops working when it
// is full.
#include "signal/known_epochs.hpp"

#include <gtest/gtest.h>

namespace sennit::signal {
namespace {

constexpr sennit_signal kSignal{3, 0x01000007};

// The known epoch, or -1.
std::int64_t epoch_of(KnownEpochs &epochs, sennit_signal signal) {
    KnownEpoch known{};
    return epochs.find(signal, &known) ? static_cast<std::int64_t>(known.epoch) : -1;
}

TEST(known_epochs, an_unknown_signal_has_no_epoch) {
    KnownEpochs epochs;
    EXPECT_EQ(epoch_of(epochs, kSignal), -1);
    epochs.forget(kSignal);
    EXPECT_EQ(epoch_of(epochs, kSignal), -1);
    epochs.learn(kSignal, {5});
    EXPECT_EQ(epoch_of(epochs, {kSignal.rank + 1, kSignal.handle}), -1);
    EXPECT_EQ(epoch_of(epochs, {kSignal.rank, kSignal.handle + 1}), -1);
}

TEST(known_epochs, a_late_answer_lowers_no_epoch) {
    KnownEpochs epochs;
    epochs.learn(kSignal, {5});
    epochs.learn(kSignal, {3});
    EXPECT_EQ(epoch_of(epochs, kSignal), 5);
    epochs.learn(kSignal, {6});
    EXPECT_EQ(epoch_of(epochs, kSignal), 6);
}

TEST(known_epochs, a_new_signal_by_an_old_name_begins_anew) {
    KnownEpochs epochs;
    epochs.learn(kSignal, {5});
    epochs.begin(kSignal, {0, 0});
    KnownEpoch known{};
    ASSERT_TRUE(epochs.find(kSignal, &known));
    EXPECT_EQ(known.epoch, 0u);
    EXPECT_EQ(known.most_ahead, 0);
    epochs.learn(kSignal, {1, 0});
    EXPECT_EQ(epoch_of(epochs, kSignal), 1);
}

TEST(known_epochs, a_forgotten_signal_is_unknown_and_may_be_learned_again) {
    KnownEpochs epochs;
    constexpr sennit_signal kOther{3, 0x01000008};
    epochs.learn(kSignal, {5});
    epochs.learn(kOther, {9});
    epochs.forget(kSignal);
    EXPECT_EQ(epoch_of(epochs, kSignal), -1);
    EXPECT_EQ(epoch_of(epochs, kOther), 9);
    epochs.learn(kSignal, {3});
    EXPECT_EQ(epoch_of(epochs, kSignal), 3);
}

// 256 ranks have signals with the same handles. Each signal has a different epoch, so that a
// signal found in place of another is noticed.
TEST(known_epochs, a_full_table_forgets_all_and_goes_on) {
    constexpr std::uint32_t kRoom = 1 << 16;
    KnownEpochs epochs;
    const auto signal_of = [](std::uint32_t i) {
        return sennit_signal{static_cast<std::int32_t>(i % 256), 0x01000000 | i / 256};
    };
    const auto known_of = [&](std::uint32_t from, std::uint32_t end) {
        std::uint32_t known = 0;
        for (std::uint32_t i = from; i < end; ++i) {
            const std::int64_t epoch = epoch_of(epochs, signal_of(i));
            EXPECT_TRUE(epoch == -1 || epoch == std::int64_t{i} + 7) << i;
            if (epoch != -1) ++known;
        }
        return known;
    };
    std::uint32_t next = 0;
    for (; next < kRoom; ++next)
        epochs.learn(signal_of(next), {std::uint64_t{next} + 7});
    ASSERT_EQ(known_of(0, next), kRoom);
    epochs.learn(signal_of(next), {std::uint64_t{next} + 7});
    EXPECT_EQ(known_of(0, kRoom), 0u);
    EXPECT_EQ(known_of(kRoom, kRoom + 1), 1u);
    // Fill the table again.
    for (++next; next < 2 * kRoom; ++next)
        epochs.learn(signal_of(next), {std::uint64_t{next} + 7});
    EXPECT_EQ(known_of(0, 2 * kRoom), kRoom);
}

}  // namespace
}  // namespace sennit::signal
