// SPDX-License-Identifier: BSD-3-Clause
// The interface of adoption: docs/design/adoption.md. A buffer of the program moves into the rank's
// memory file and back; peers map it there. A buffer that cannot be moved safely stays in place,
// and the reason is returned. A build without adoption (SENNIT_ADOPTION=OFF) has
// memory/adopt_absent.cpp instead of this folder.
//
// memory/ calls these functions with the rank's cold mutex (Rank::cold) held, or while the rank
// starts or ends. The mapped transport calls view_map().
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/refusal.hpp"
#include "rank/rank.hpp"

namespace sennit::memory::adopt {

inline constexpr std::uint32_t kMostExtents = 16;

// The part of a region that is in one run. A run is a range of pages that moved together.
struct Extent {
    std::uint64_t address;  // of the first page
    std::uint64_t bytes;    // whole pages
    std::uint64_t file_offset;
    std::uint64_t slot_bytes;  // from file_offset to the end of the slot
    std::uint32_t run;         // for unregister()
};

struct Adoption {
    Extent extents[kMostExtents];
    std::uint32_t count = 0;
};

struct AdoptionArgs {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  // not 0
    bool consents = false;    // SENNIT_REGISTER_SHARED_PAGES
    // With SENNIT_REGISTER_STACK: the lowest address of the program's own frames; the frames of
    // this call are below it. 0: stack memory must not move.
    std::uint64_t stack_frames = 0;
};

// Moves all pages of the buffer into the rank's memory file. If refused, nothing has changed.
Refused adopt(Rank &rank, const AdoptionArgs &args, Adoption *adoption);
// Ends one registration of adopt(). Pages without another registration become private again.
void unregister(const std::uint32_t *runs, std::uint32_t count);

// Called at the end of a rank. Pages that are still in its memory file stay valid in the process.
void detach(const Rank &rank);

// Marks a region that stays in place, so that its pages are not moved; let_go() ends this.
void hold(std::uint64_t address, std::uint64_t bytes);
void let_go(std::uint64_t address, std::uint64_t bytes);

// From now on a child of fork gets its own copy of adopted memory, with the values at the fork. May
// be called any number of times.
void watch_forks();

// A peer's view of an adopted region. Each record in the region's chain names a part of the owner's
// memory file; the view maps these parts at adjacent addresses. file_unmap() ends it.
struct RegionView {
    std::byte *pointer = nullptr;  // the first byte of the region
    std::uint64_t mapped_bytes = 0;
};
// `first` is a copy of the region's first record in `control`. Errors: NOT_REGISTERED (the region
// has ended meanwhile), NOMEM, UNSUPPORTED (this build has no adoption).
sennit_status view_map(const ControlBlock &control, int file, const SegmentRecord &first,
                       RegionView *view);

}  // namespace sennit::memory::adopt
