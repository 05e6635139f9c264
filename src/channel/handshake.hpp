// SPDX-License-Identifier: BSD-3-Clause
// The handshake by which two ranks agree that the next channel between them is open. They share one
// word that changes only by compare and swap. So each step is atomic, and either rank may die or
// give up between two steps. Here are pure functions on the word's value; open.cpp calls them.
//
// The word holds the number of the next channel of the pair, which of the two ranks have made an
// offer for it, which have accepted the other's offer, and how the previous number ended. The step
// that decides (both are ready, or one of two offers is withdrawn or refused) increments the
// number. While a rank has an offer for number n, the word holds n or n + 1, never more: number
// n + 1 ends only after both ranks have made an offer for it. So no rank misses how its number
// ended.
#pragma once

#include <sennit/error.h>

#include <cstdint>

namespace sennit::channel {

// The bits of the lower rank of the pair; those of the higher rank are shifted by one.
inline constexpr std::uint64_t kOfferedBit = 1u << 0;
inline constexpr std::uint64_t kReadyBit = 1u << 2;
inline constexpr unsigned kEndShift = 4;  // result of the previous number: sennit_status, 5 bits
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
// How the previous number ended: OK, TIMEOUT (an offer was withdrawn), or the reason of a refusal.
constexpr sennit_status end_in(std::uint64_t word) {
    return static_cast<sennit_status>(word >> kEndShift & 0x1F);
}
// The word after its number has ended with the result `how`.
constexpr std::uint64_t ended(std::uint64_t word, sennit_status how) {
    return (number_in(word) + 1) << kNumberShift | static_cast<std::uint64_t>(how) << kEndShift;
}
inline bool both_offered(std::uint64_t word) {
    return (word & (kOfferedBit | kOfferedBit << 1)) == (kOfferedBit | kOfferedBit << 1);
}
// The word after this rank has accepted the other's offer.
inline std::uint64_t made_ready(std::uint64_t word, Side side) {
    return (word & side.other(kReadyBit)) != 0 ? ended(word, SENNIT_OK)
                                               : word | side.own(kReadyBit);
}
// The word after this rank has withdrawn its offer. If the other rank has made none, the number
// does not end.
inline std::uint64_t withdrawn(std::uint64_t word, Side side) {
    return both_offered(word) ? ended(word, SENNIT_ERR_TIMEOUT) : word & ~side.own(kOfferedBit);
}

}  // namespace sennit::channel
