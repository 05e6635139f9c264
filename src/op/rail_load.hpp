// SPDX-License-Identifier: BSD-3-Clause
// The load and measured speed of a path's rails, from which the op engine computes the rail that
// will finish a piece of a large operation first. Called with the engine's mutex held.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>

namespace sennit::op {

struct RailLoad {
    std::uint64_t out_bytes = 0;  // bytes of the rail's open pieces
    // Bytes of large pieces per nanosecond; 0: not measured. The rate is the sum of the bytes of
    // the last measurements, divided by the sum of their times. Older measurements have less
    // weight; short ones too, since the queue may have been empty in them.
    double rate = 0;
    double last_bytes = 0;
    double last_ns = 0;
    // The current measurement: its start, and the completed bytes.
    std::int64_t since_ns = 0;
    std::uint64_t done_bytes = 0;
    std::uint32_t large_out = 0;  // number of open large pieces
};

// Smaller pieces would measure the round trip instead of the rail.
inline constexpr std::uint64_t kLargePiece = 65536;
// A measurement lasts while the rail is busy, but at most this long.
inline constexpr std::int64_t kLongestMeasurementNs = 50'000'000;
// Each measurement multiplies the weight of the earlier ones by this.
inline constexpr double kWeightOfEarlier = 7.0 / 8;
// An idle rail is measured again after this time.
inline constexpr std::int64_t kMeasureAgainNs = 2'000'000'000;

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
    if (took < kLongestMeasurementNs && load.large_out != 0) return;
    if (took > 0 && load.done_bytes != 0) {
        const double kept = load.rate == 0 ? 0 : kWeightOfEarlier;
        load.last_bytes = kept * load.last_bytes + static_cast<double>(load.done_bytes);
        load.last_ns = kept * load.last_ns + static_cast<double>(took);
        load.rate = load.last_bytes / load.last_ns;
    }
    load.since_ns = now_ns;
    load.done_bytes = 0;
}

// Undoes note_submitted() for a piece that the transport did not accept.
inline void undo_submitted(RailLoad &load, std::uint64_t bytes) {
    if (bytes >= kLargePiece) --load.large_out;
}

// The rail for small pieces. It differs by peer, which spreads the load; a peer's small operations
// all use one rail, so they do not wait for the slowest rail. Both ranks of a pair have the same
// rail: a rank that waits for its own and the other's messages polls one rail.
inline unsigned home_rail(std::uint64_t usable, int rank, int peer) {
    const int pair = std::min(rank, peer) + std::max(rank, peer) / 2;
    for (int before = pair % std::popcount(usable); before > 0; --before)
        usable &= usable - 1;
    return static_cast<unsigned>(std::countr_zero(usable));
}

// The rail in `left` with the fewest open bytes; of equal ones, the first one after the rail that
// was used last. `left` is not empty.
inline unsigned emptiest_rail(const RailLoad *loads, unsigned last_rail, std::uint64_t left) {
    const std::uint64_t behind = left & ~((std::uint64_t{2} << last_rail) - 1);
    auto best = static_cast<unsigned>(std::countr_zero(behind != 0 ? behind : left));
    for (std::uint64_t part : {behind, left & ~behind})
        for (; part != 0; part &= part - 1) {
            const auto rail = static_cast<unsigned>(std::countr_zero(part));
            if (loads[rail].out_bytes < loads[best].out_bytes) best = rail;
        }
    return best;
}

// Whether `a` would finish this many more bytes before `b`. A rail of unknown speed counts as
// equally fast.
inline bool is_sooner(const RailLoad &a, const RailLoad &b, std::uint64_t bytes) {
    const double by_a = static_cast<double>(a.out_bytes + bytes);
    const double by_b = static_cast<double>(b.out_bytes + bytes);
    if (a.rate == 0 || b.rate == 0) return by_a < by_b;
    return by_a * b.rate < by_b * a.rate;
}

// The length of the pieces of a large operation on the rails in `usable`, up to `most`. Rails of
// similar speed get equal parts; otherwise there are enough pieces to give each rail its share.
inline std::uint64_t share_of(RailLoad *loads, std::uint64_t usable, std::uint64_t bytes,
                              std::uint64_t most) {
    constexpr double kAlike = 1.5;
    constexpr std::uint64_t kPiecesForEach = 8;
    constexpr std::uint64_t kShortest = 131072;
    constexpr std::uint64_t kLongest = 524288;  // else bulk puts have too few open pieces to divide
    const auto rails = static_cast<std::uint64_t>(std::max(std::popcount(usable), 1));
    std::int64_t latest_ns = 0;
    for (std::uint64_t left = usable; left != 0; left &= left - 1)
        latest_ns = std::max(latest_ns, loads[std::countr_zero(left)].since_ns);
    double slowest = 0;
    double fastest = 0;
    for (std::uint64_t left = usable; left != 0; left &= left - 1) {
        RailLoad &load = loads[std::countr_zero(left)];
        // A rail that was idle while others were busy may have another speed now.
        if (load.large_out == 0 && latest_ns - load.since_ns > kMeasureAgainNs) load.rate = 0;
        const double rate = load.rate;
        if (rate == 0) continue;
        slowest = slowest == 0 ? rate : std::min(slowest, rate);
        fastest = std::max(fastest, rate);
    }
    const bool is_even = fastest <= kAlike * slowest;
    const auto part = [](std::uint64_t of, std::uint64_t count) {
        return (of + count - 1) / count;
    };
    const std::uint64_t for_each = is_even ? part(part(bytes, rails), most) : kPiecesForEach;
    const std::uint64_t share = (part(bytes, rails * for_each) + 63) & ~std::uint64_t{63};
    return std::min(most, is_even ? share : std::clamp(share, kShortest, kLongest));
}

}  // namespace sennit::op
