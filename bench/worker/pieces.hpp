// The data of the benchmark of plans: pieces that are contiguous at the origin, with gaps at the
// target, so that no two can be merged.
#pragma once

#include <cstddef>

namespace sennit::bench {

struct Pieces {
    static constexpr std::size_t kCount = 64;
    static constexpr std::size_t kGapBytes = 64;
    static constexpr int kOrigin = 0;  // ranks
    static constexpr int kTarget = 1;

    const std::byte *from;
    std::size_t bytes;  // of each

    std::size_t stride() const { return bytes + kGapBytes; }
    std::size_t target_bytes() const { return kCount * stride(); }
    const std::byte *source(std::size_t i) const { return from + i * bytes; }
    std::size_t offset(std::size_t i) const { return i * stride(); }
};

}  // namespace sennit::bench
