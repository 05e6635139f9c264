// SPDX-License-Identifier: BSD-3-Clause
// Decides whether memory may move into a memory file, and gives the reason if not
// (docs/design/adoption.md, "Refused memory"). Changes nothing. Used only by memory/adopt/.
#pragma once

#include <cstdint>

#include "memory/adopt/kernel_record.hpp"
#include "memory/refusal.hpp"

namespace sennit::memory::adopt {

// The calls that protect or copy a page use at most this much stack below the current frame.
inline constexpr std::uint64_t kFramesBelow = 256u << 10;

// The registered buffer, in bytes.
struct Buffer {
    std::uint64_t begin;
    std::uint64_t end;

    // Whether the buffer fills the page at that address.
    bool fills(std::uint64_t page) const;
};

struct Question {
    Buffer buffer;
    // Stack memory may move. The caller is a helper thread; the registering thread waits. On its
    // stack, frames of the program are only above `frames_end`, frames of the library below.
    bool takes_stacks = false;
    std::uint64_t frames_end = 0;
    bool stacks_are_cut = false;  // a stack was partly moved before, so it has several mappings
};

// Whole pages that may be moved as one run.
struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool from_file = false;  // pages that were never written have the contents of a file
    bool grows = false;      // realloc may grow it in place
    bool on_stack = false;
};

// Finds the stretch that starts at the page `begin` and ends at or before `end`.
Refused classify(KernelRecord &record, const Question &question, std::uint64_t begin,
                 std::uint64_t end, Stretch *stretch);

// Refuses a range with memory that is locked or excluded from fork; memory that a network card has
// pinned is often excluded. Refuses nothing if the process has no locked or pinned memory. Called
// once per registration.
Refused check_fixed(std::uint64_t begin, std::uint64_t end);

}  // namespace sennit::memory::adopt
