// SPDX-License-Identifier: BSD-3-Clause
// Runs of a put that tasks bring: the owner's processor puts each where it belongs. A payload has
// one word for each run, and behind all words the bytes of the runs, one after the other.
// docs/design/layouts.md, Task. Both ends are here: RunPacker of the sender, the rest of the owner.
#pragma once

#include <span>

#include "op/layout.hpp"

namespace sennit::op {

// In front of the bytes of each run: where it begins, from the lowest byte that the layout touches,
// and above 48 bits of that how long it is.
using RunWord = std::uint64_t;
inline constexpr unsigned kRunOffsetBits = 48;
inline constexpr std::uint64_t kMostRunBytes = 0xFFF8;  // a longer one is cut between words

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

// What the runs of a layout take in payloads with room for `room` bytes each. No tasks: they do not
// fit into any.
struct PackedSize {
    std::uint64_t tasks = 0;
    std::size_t longest = 0;  // bytes of the longest payload, or more
};
PackedSize packed_size(const Layout &layout, std::size_t room);

// What all runs take with their words.
inline std::uint64_t bytes_with_words(const Layout &layout) {
    return layout.bytes + run_count(layout) * sizeof(RunWord);
}

// Is it faster to have the owner spread the runs than to write each of them? docs/design/strided.md
// has what was measured.
bool pays_to_pack(const Layout &layout, std::size_t room);

// Fills payloads one after the other.
class RunPacker {
  public:
    // Both stay there.
    RunPacker(const Layout &layout, std::size_t room, const std::byte *local)
        : layout_(layout), room_(room), local_(local) {}

    // The next one, at `to`: its bytes, 0 behind the last.
    std::size_t fill(std::byte *to, std::uint32_t *runs);

  private:
    const Layout &layout_;
    std::size_t room_;
    const std::byte *local_;
    std::uint64_t at_ = 0;
    Cursor cursor_;
};

// Does a payload say what can be done? Its runs lie in `memory_bytes` bytes, and its bytes are
// those of all runs.
bool runs_are_sound(std::span<const std::byte> payload, std::uint32_t runs,
                    std::uint64_t memory_bytes);
// Of one that is sound.
void spread_runs(std::byte *memory, const std::byte *payload, std::uint32_t runs);

}  // namespace sennit::op
