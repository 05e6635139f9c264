// SPDX-License-Identifier: BSD-3-Clause
// Packs the runs of a put into tasks; the owner's processor stores each run. A payload has one word
// per run, then the bytes of all runs, one after another (docs/design/layouts.md, Task). RunPacker
// is the sender's side, the last two functions are the owner's.
#pragma once

#include <span>

#include "op/layout.hpp"

namespace sennit::op {

// The word of a run: its offset from the lowest byte of the layout (48 bits), and its length above.
using RunWord = std::uint64_t;
inline constexpr unsigned kRunOffsetBits = 48;
inline constexpr std::uint64_t kMostRunBytes = 0xFFF8;  // longer runs are cut between words

constexpr RunWord run_word(std::uint64_t offset, std::uint64_t bytes) {
    return bytes << kRunOffsetBits | offset;
}
constexpr std::uint64_t run_offset(RunWord word) {
    return word & ((std::uint64_t{1} << kRunOffsetBits) - 1);
}
constexpr std::uint64_t run_bytes(RunWord word) {
    return word >> kRunOffsetBits;
}

inline std::uint64_t hull_bytes(const Hull &hull) {
    return static_cast<std::uint64_t>(hull.end - hull.begin);
}

// The number of payloads of `room` bytes for the runs of a layout. 0: the runs do not fit.
struct PackedSize {
    std::uint64_t tasks = 0;
    std::size_t longest = 0;  // at least the bytes of the longest payload
};
PackedSize packed_size(const Layout &layout, std::size_t room);

// The size of all runs with their words.
inline std::uint64_t bytes_with_words(const Layout &layout) {
    return layout.bytes + run_count(layout) * sizeof(RunWord);
}

// Whether packed runs are faster than a write for each run. docs/design/strided.md has the
// measurements.
bool pays_to_pack(const Layout &layout, std::size_t room);

// Fills payloads one after another.
class RunPacker {
  public:
    // `layout` and `local` must stay valid.
    RunPacker(const Layout &layout, std::size_t room, const std::byte *local)
        : layout_(layout), room_(room), local_(local) {}

    // Fills the next payload at `to`, and sets the number of its runs. Returns its bytes, 0 after
    // the last.
    std::size_t fill(std::byte *to, std::uint32_t *runs);

  private:
    const Layout &layout_;
    std::size_t room_;
    const std::byte *local_;
    std::uint64_t at_ = 0;
    Cursor cursor_;
};

// Whether a payload is valid: its runs are within `memory_bytes` bytes, and together as long as its
// data.
bool runs_are_sound(std::span<const std::byte> payload, std::uint32_t runs,
                    std::uint64_t memory_bytes);
// Stores the runs of a valid payload.
void spread_runs(std::byte *memory, const std::byte *payload, std::uint32_t runs);

}  // namespace sennit::op
