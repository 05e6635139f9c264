// SPDX-License-Identifier: BSD-3-Clause
// What the rails of a path have to do and how fast they are, so that a large operation is divided
// in proportion: a piece goes by the rail that will have it done first. Pure functions, with the
// engine's mutex held.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sennit::op {

struct RailLoad {
    std::uint64_t out_bytes = 0;  // of the pieces that it has
    // Of large pieces, bytes a nanosecond, 0 before the first look: those of the last looks over
    // their time, in which older ones count for less. So a short look, which may have found a queue
    // empty, counts for little.
    double rate = 0;
    double last_bytes = 0;
    double last_ns = 0;
    // The present look: since when, and what was done.
    std::int64_t since_ns = 0;
    std::uint64_t done_bytes = 0;
    std::uint32_t large_out = 0;  // pieces
};

// Smaller ones say more of the way there and back than of the rail.
inline constexpr std::uint64_t kLargePiece = 65536;
// A look lasts as long as the rail is busy, or so long.
inline constexpr std::int64_t kLongestLookNs = 50'000'000;
// So much of a look is left when the next one is over.
inline constexpr double kLeftOfLook = 7.0 / 8;
inline constexpr std::int64_t kLongUnseenNs = 2'000'000'000;

inline void note_submitted(RailLoad &load, std::uint64_t bytes, std::int64_t now_ns) {
    if (bytes < kLargePiece) return;
    if (load.large_out++ != 0) return;
    load.since_ns = now_ns;
    load.done_bytes = 0;
}

inline void note_done(RailLoad &load, std::uint64_t bytes, bool is_good, std::int64_t now_ns) {
    if (bytes < kLargePiece) return;
    --load.large_out;
    load.done_bytes += is_good ? bytes : 0;
    const std::int64_t took = now_ns - load.since_ns;
    if (took < kLongestLookNs && load.large_out != 0) return;
    if (took > 0 && load.done_bytes != 0) {
        const double kept = load.rate == 0 ? 0 : kLeftOfLook;
        load.last_bytes = kept * load.last_bytes + static_cast<double>(load.done_bytes);
        load.last_ns = kept * load.last_ns + static_cast<double>(took);
        load.rate = load.last_bytes / load.last_ns;
    }
    load.since_ns = now_ns;
    load.done_bytes = 0;
}

// Not submitted after all.
inline void unnote_submitted(RailLoad &load, std::uint64_t bytes) {
    if (bytes >= kLargePiece) --load.large_out;
}

// Would `a` have so many more bytes done before `b` has? One that is not known is as fast as the
// other.
inline bool is_sooner(const RailLoad &a, const RailLoad &b, std::uint64_t bytes) {
    const double by_a = static_cast<double>(a.out_bytes + bytes);
    const double by_b = static_cast<double>(b.out_bytes + bytes);
    if (a.rate == 0 || b.rate == 0) return by_a < by_b;
    return by_a * b.rate < by_b * a.rate;
}

// How long the pieces of a large operation are, over the rails whose bits are set. Where they are
// about as fast as each other there is one for each; else so many that each rail gets its part.
inline std::uint64_t share_of(RailLoad *loads, std::uint64_t usable, std::uint64_t bytes) {
    constexpr double kAlike = 1.5;
    constexpr std::uint64_t kPiecesForEach = 8;
    constexpr std::uint64_t kShortest = 131072;
    const auto rails = static_cast<std::uint64_t>(std::max(std::popcount(usable), 1));
    std::int64_t latest_ns = 0;
    for (std::uint64_t left = usable; left != 0; left &= left - 1)
        latest_ns = std::max(latest_ns, loads[std::countr_zero(left)].since_ns);
    double slowest = 0;
    double fastest = 0;
    for (std::uint64_t left = usable; left != 0; left &= left - 1) {
        RailLoad &load = loads[std::countr_zero(left)];
        // One that has had nothing to do while others had may have become faster: it is tried.
        if (load.large_out == 0 && latest_ns - load.since_ns > kLongUnseenNs) load.rate = 0;
        const double rate = load.rate;
        if (rate == 0) continue;
        slowest = slowest == 0 ? rate : std::min(slowest, rate);
        fastest = std::max(fastest, rate);
    }
    const bool is_even = fastest <= kAlike * slowest;
    const std::uint64_t pieces = is_even ? rails : rails * kPiecesForEach;
    const std::uint64_t share = ((bytes + pieces - 1) / pieces + 63) & ~std::uint64_t{63};
    return is_even ? share : std::max(share, kShortest);
}

}  // namespace sennit::op
