// SPDX-License-Identifier: BSD-3-Clause
// Which memory may be moved into a memory file, and why not: docs/design/adoption.md has the list.
// Looks and changes nothing. Used by memory/adopt/ only.
#pragma once

#include <cstdint>

#include "memory/adopt/kernel_record.hpp"
#include "memory/refusal.hpp"

namespace sennit::memory::adopt {

// How far below the present frame calls may reach that are made while a page is held or copied.
inline constexpr std::uint64_t kFramesBelow = 256u << 10;

// What the program registers, to the byte.
struct Buffer {
    std::uint64_t begin;
    std::uint64_t end;

    // Does the buffer fill the page at that address?
    bool fills(std::uint64_t page) const;
};

// What is asked about a buffer, besides where it lies.
struct Question {
    Buffer buffer;
    // Memory on a stack may be moved: the caller runs another thread than the one it asks for,
    // which waits meanwhile and has no frame of the program below `frames_end`.
    bool takes_stacks = false;
    std::uint64_t frames_end = 0;
    bool stacks_are_cut = false;  // some stack was moved in part before: its mapping is several
};

// Whole pages that may be moved as one run.
struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool from_file = false;  // pages that were never used hold the bytes of a file
    bool grows = false;      // realloc may lengthen it where it is
    bool on_stack = false;
};

// The stretch that begins at the page `begin` and ends at `end` at the latest.
Refused classify(KernelRecord &record, const Question &question, std::uint64_t begin,
                 std::uint64_t end, Stretch *stretch);

// May some of the range be locked or pinned? Asked once for a registration.
Refused check_fixed(std::uint64_t begin, std::uint64_t end);

}  // namespace sennit::memory::adopt
