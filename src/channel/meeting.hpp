// SPDX-License-Identifier: BSD-3-Clause
// How two ranks agree that the next channel between them is open: one word, changed by compare and
// swap alone, so that each step is one instant for both and either may die or give up between any
// two steps. Pure functions on the word's value; who calls them when is open.cpp's affair.
//
// The word holds the number of the channel that the two will open next, which of them have an offer
// on their desk for it and which have found the other's offer good, and how the number before
// ended. The number is raised by the step that decides: both ready, or one of two offers taken back
// or refused. While a rank has an offer for number n the word holds n or n + 1, never more, because
// n + 1 ends only with an offer of both. So nobody misses how his number ended.
#pragma once

#include <sennit/error.h>

#include <cstdint>

namespace sennit::channel {

// What one rank of the pair says; the higher rank's bits are one further.
inline constexpr std::uint64_t kOfferedBit = 1u << 0;
inline constexpr std::uint64_t kReadyBit = 1u << 2;
inline constexpr unsigned kEndShift = 4;  // sennit_status of the number before, 5 bits
inline constexpr unsigned kNumberShift = 9;
static_assert(SENNIT_STATUS_END <= 1 << (kNumberShift - kEndShift));

// One rank's view of the word.
struct Side {
    unsigned shift;  // 0: the lower rank of the pair, 1: the higher

    std::uint64_t own(std::uint64_t bit) const { return bit << shift; }
    std::uint64_t other(std::uint64_t bit) const { return bit << (1 - shift); }
};

constexpr std::uint64_t number_in(std::uint64_t word) {
    return word >> kNumberShift;
}
// How the number before the word's ended: OK, TIMEOUT (taken back), or why it was refused.
constexpr sennit_status end_in(std::uint64_t word) {
    return static_cast<sennit_status>(word >> kEndShift & 0x1F);
}
// The word after its number has ended in this way.
constexpr std::uint64_t ended(std::uint64_t word, sennit_status how) {
    return (number_in(word) + 1) << kNumberShift | static_cast<std::uint64_t>(how) << kEndShift;
}
inline bool both_offered(std::uint64_t word) {
    return (word & (kOfferedBit | kOfferedBit << 1)) == (kOfferedBit | kOfferedBit << 1);
}
// The word after this rank has found the other's offer good.
inline std::uint64_t made_ready(std::uint64_t word, Side side) {
    return (word & side.other(kReadyBit)) != 0 ? ended(word, SENNIT_OK)
                                               : word | side.own(kReadyBit);
}
// The word after this rank has taken its offer back. Alone on the desk it leaves no trace.
inline std::uint64_t taken_back(std::uint64_t word, Side side) {
    return both_offered(word) ? ended(word, SENNIT_ERR_TIMEOUT) : word & ~side.own(kOfferedBit);
}

}  // namespace sennit::channel
