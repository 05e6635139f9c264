// Adoption of a buffer, and its return: docs/design/adoption.md. Called by memory/segments.cpp with
// the rank's cold mutex held. What can not be moved safely is left as it is, with the reason.
#pragma once

#include <cstdint>

#include "memory/adopt/refusal.hpp"
#include "rank/rank.hpp"

namespace sennit::memory::adopt {

inline constexpr std::uint32_t kMostExtents = 16;

// The part of a region that lies in one run.
struct Extent {
    std::uint64_t address;  // of the first page
    std::uint64_t bytes;    // whole pages
    std::uint64_t file_offset;
    std::uint64_t slot_bytes;  // from file_offset to the end of the room
    std::uint32_t run;         // for give_up()
};

struct Adoption {
    Extent extents[kMostExtents];
    std::uint32_t count = 0;
};

struct Wish {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  // not 0
    bool consents = false;    // SENNIT_REGISTER_SHARED_PAGES
    // SENNIT_REGISTER_STACK: where the frames of the program begin, above those of this call. 0:
    // nothing of a stack moves.
    std::uint64_t stack_frames = 0;
};

// All pages of the buffer lie in the rank's memory file afterwards. If refused, nothing changed.
Refused adopt(Rank &rank, const Wish &wish, Adoption *adoption);
// One registration that adopt() took has ended. Pages that no other counts on become private again.
void give_up(const std::uint32_t *runs, std::uint32_t count);

// The rank ends: what it still has in its memory file stays valid for the process.
void leave(const Rank &rank);

// A region that stays where it is, and its end: its pages are not moved meanwhile.
void hold(std::uint64_t address, std::uint64_t bytes);
void let_go(std::uint64_t address, std::uint64_t bytes);

}  // namespace sennit::memory::adopt
