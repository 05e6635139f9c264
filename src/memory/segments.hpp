// SPDX-License-Identifier: BSD-3-Clause
// The segments of a rank, and the entries by which it reaches segments of other ranks. Owns the
// rank's memory file and the record table in its control block. All changes are made with the
// rank's cold mutex (Rank::cold) held, or while the rank starts or ends.
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
    std::uint32_t *runs = nullptr;  // runs_of() in registration.cpp
};

// Creates the memory file and the control block of the rank. Errors: NOMEM, OS.
sennit_status segments_open(Rank &rank, int world_rank, int size);
// Unmaps everything that the rank owns and closes the file. The control block stays mapped while
// other ranks of the process use it. In that case the memory of segments stays mapped too, unless
// `all_left`: a rank that did not take part in the last barrier may still use it by its address.
void segments_close(Rank &rank, bool all_left);

// control_use(): another rank of the owner's process starts to use the owner's mapping of the
// block. control_release(): such a rank or the owner stops; the last one unmaps the block.
void control_use(void *control);
void control_release(ControlBlock *control);

// Makes a range of the memory file for the library's own use, zeroed and mapped here; not a
// segment. `bytes` is a multiple of kLargestSmallPage. The caller unmaps it. Errors: NOMEM, OS.
sennit_status range_create(Rank &rank, std::uint64_t bytes, std::uint64_t *offset,
                           std::byte **address);

struct SegmentArgs {
    SegmentKind kind = SegmentKind::local;
    std::uint32_t id = 0;  // only for kind team; other segments get their ids from their slots
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 64;  // power of two
    std::uint32_t flags = 0;       // SENNIT_ALLOC_*
};

// Makes a segment in the rank's memory file; *record is in the control block. Errors: NOMEM, OS,
// and the error of a network that refuses the segment.
sennit_status segment_create(Rank &rank, const SegmentArgs &args, SegmentRecord **record);
// For registration.cpp: publishes the segment `draft` of one rank in a new slot. Errors: NOMEM (no
// free slot), and the error of a network that refuses the segment.
sennit_status segment_publish(Rank &rank, SegmentRecord &draft, SegmentRecord **record);
// Clears `id` and `live` of the record and frees its slot. Does not touch the segment's memory.
void segment_withdraw(Rank &rank, SegmentRecord &record);
// Whether the range is in a segment that was allocated in this rank's memory file. `whole`: all of
// it is in one segment, and *gptr is its global pointer.
enum class Overlap : std::uint8_t { none, part, whole };
Overlap segment_at(Rank &rank, const void *memory, std::uint64_t bytes, sennit_gptr *gptr);
// The same for segments that this rank has attached and mapped.
Overlap attached_at(Rank &rank, const void *memory, std::uint64_t bytes, sennit_gptr *gptr);

// Clears `id` and `live` of the record, so that no further use starts. Memory and slot stay until
// segment_destroy().
void segment_end(SegmentRecord &record);
// Ends the segment, then frees its memory, or ends the registration of the program's memory.
void segment_destroy(Rank &rank, SegmentRecord *record);

// Makes the table of entries of a team slot, for all segments and ranks; pages are used as needed.
// Errors: NOMEM.
sennit_status table_create(Rank &rank, std::uint32_t team_slot, std::uint32_t size);
// Empties the cache of entries. Called before the tables are destroyed: otherwise a later put would
// read unmapped memory.
void forget_entries(Rank &rank);
void table_destroy(Rank &rank, std::uint32_t team_slot, std::uint32_t size);

// The entry for the peer's part of the segment. Null: the team slot has no table.
SegmentEntry *entry_at(Rank &rank, std::uint32_t size, std::uint32_t id, int peer);
// The same for an entry that the caller will fill; makes the table if it is missing. Needs the cold
// mutex. Errors: NOMEM.
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
