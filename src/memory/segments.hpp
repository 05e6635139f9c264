// SPDX-License-Identifier: BSD-3-Clause
// The segments of a rank, and the entries by which it reaches segments of other ranks. Owns the
// rank's memory file and the record table in its control block. Called with the rank's cold mutex
// held, except during start-up.
#pragma once

#include <cstdint>

#include "memory/entry.hpp"
#include "memory/file.hpp"
#include "memory/windows.hpp"
#include "rank/part.hpp"

namespace sennit::memory {
struct LocalSegments;
}
template <>
struct sennit::PartType<sennit::Part::segments> {
    using Type = sennit::memory::LocalSegments;
};

namespace sennit::memory {

// The owner's private state. A slot is an index into the record table.
struct LocalSegments {
    std::uint64_t file_end = 0;  // end of the part that is or was in use
    FileWindows views;           // of the segments in the memory file
    std::uint64_t used_slots[kSegmentsPerTeam / 64] = {};
    // Free slots that have used all their generations. They are used again only when no other slot
    // is free, so that ids repeat as late as possible.
    std::uint64_t resting_slots[kSegmentsPerTeam / 64] = {};
    std::uint32_t *runs = nullptr;  // of adopted memory, by slot; registration.cpp
};

// Creates the memory file and the control block of the rank. Errors: NOMEM, OS.
sennit_status segments_open(Rank &rank, int world_rank, int size);
// Unmaps everything that the rank owns and closes the file. The control block stays mapped while
// ranks of the same process use it. The memory of segments stays mapped unless `all_left`: a rank
// that did not take part in this one's last barrier may still use it by address.
void segments_close(Rank &rank, bool all_left);

// Called when another rank of the owner's process starts to use the owner's mapping, and when it or
// the owner stops.
void control_use(void *control);
void control_release(ControlBlock *control);

// Makes a range of the memory file for the library's own use, zeroed and mapped here; not a
// segment. `bytes` is a multiple of kLargestSmallPage. The caller unmaps it. Errors: NOMEM, OS.
sennit_status range_create(Rank &rank, std::uint64_t bytes, std::uint64_t *offset,
                           std::byte **address);

struct SegmentArgs {
    SegmentKind kind = SegmentKind::local;
    std::uint32_t id = 0;  // for kind team; a local one gets its id from its slot
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 64;  // power of two
    std::uint32_t flags = 0;       // SENNIT_ALLOC_*
};

// Makes a live segment in the rank's memory file; *record is in the control block. Errors: NOMEM,
// OS.
sennit_status segment_create(Rank &rank, const SegmentArgs &args, SegmentRecord **record);
// For registration.cpp: publishes the segment `draft` of one rank in a new slot. Errors: NOMEM (no
// free slot), and the error of a network that refuses the segment.
sennit_status segment_publish(Rank &rank, SegmentRecord &draft, SegmentRecord **record);
// Clears the segment's live words and frees the slot; does not touch its memory.
void segment_withdraw(Rank &rank, SegmentRecord &record);
// Whether the range is in a segment of this rank's memory file. `whole`: *gptr points to it.
enum class Overlap : std::uint8_t { none, part, whole };
Overlap segment_at(Rank &rank, const void *memory, std::uint64_t bytes, sennit_gptr *gptr);
// The same for segments of other ranks that this rank reaches by a pointer.
Overlap attached_at(Rank &rank, const void *memory, std::uint64_t bytes, sennit_gptr *gptr);

// Clears the segment's live words, so that no further use starts; memory and slot stay until
// segment_destroy().
void segment_end(SegmentRecord &record);
// Ends the segment: clears the id first, then frees the mapping and the pages, if they are
// Sennit's.
void segment_destroy(Rank &rank, SegmentRecord *record);

// Makes the table of entries of a team slot, for all segments and ranks; pages are used as needed.
// Errors: NOMEM.
sennit_status table_create(Rank &rank, std::uint32_t team_slot, std::uint32_t size);
// Empties the cache of entries. Called before the tables are destroyed: otherwise a later put would
// read unmapped memory.
void forget_entries(Rank &rank);
void table_destroy(Rank &rank, std::uint32_t team_slot, std::uint32_t size);

// Null: the team slot has no table.
SegmentEntry *entry_at(Rank &rank, std::uint32_t size, std::uint32_t id, int peer);
// The place of an entry to fill; makes the table. Needs the cold mutex. Errors: NOMEM.
sennit_status entry_to_fill(Rank &rank, std::uint32_t id, int peer, SegmentEntry **entry);

// The fields that fill_entry() stores.
struct EntryFields {
    sennit_path path;
    std::byte *base;
    std::uint64_t handle;
    const std::atomic<std::uint32_t> *live;  // null: the owner's record is out of reach
    bool is_observed = false;                // calls use the cold path, which records them
    std::uint64_t mapped_bytes = 0;          // address space of the attachment; 0: none
    std::uint8_t attach_errno = 0;           // as in SegmentEntry
};
void fill_entry(SegmentEntry *entry, const SegmentRecord &record, const sennit_gptr &named,
                const EntryFields &fields);
void clear_entry(SegmentEntry *entry);

}  // namespace sennit::memory
