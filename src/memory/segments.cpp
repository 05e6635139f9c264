// SPDX-License-Identifier: BSD-3-Clause
#include "memory/segments.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/invariant.hpp"
#include "memory/adopt/adopt.hpp"
#include "memory/control_map.hpp"
#include "memory/registration.hpp"
#include "rank/process.hpp"

namespace sennit::memory {
namespace {

void write_header(ControlBlock *control, int world_rank, int size) {
    ControlHeader &header = control->header;
    header.magic = kControlMagic;
    header.layout_version = kLayoutVersion;
    header.rank = world_rank;
    header.size = size;
    header.control_bytes = control_view_bytes(static_cast<std::uint64_t>(size));
    // relaxed: no other rank knows of the block before the bootstrap's allgather, which orders it.
    header.users.store(1, std::memory_order_relaxed);
    // relaxed: no other rank knows of the block before the bootstrap's allgather, which orders it.
    header.state.store(static_cast<std::uint32_t>(RankState::starting), std::memory_order_relaxed);
}

std::uint32_t generation_of_epoch(std::uint32_t epoch) {
    return epoch % kGenerations + 1;
}

// The slot that is never used, because a zeroed pointer finds its entry (find_named()).
constexpr std::uint32_t kNoSlot = 0;

// Finds a free slot outside resting_slots: the lowest, so that few pages of the table are touched.
bool find_rested_slot(const LocalSegments &own, std::uint32_t *slot) {
    for (std::uint32_t word = 0; word < kSegmentsPerTeam / 64; ++word) {
        const std::uint64_t never = word == 0 ? std::uint64_t{1} << kNoSlot : 0;
        const std::uint64_t taken = own.used_slots[word] | own.resting_slots[word] | never;
        if (taken == UINT64_MAX) continue;
        *slot = word * 64 + static_cast<std::uint32_t>(std::countr_one(taken));
        return true;
    }
    return false;
}

bool find_free_slot(LocalSegments &own, std::uint32_t *slot) {
    if (find_rested_slot(own, slot)) return true;
    std::memset(own.resting_slots, 0, sizeof own.resting_slots);
    return find_rested_slot(own, slot);
}

void mark_slot(LocalSegments &own, std::uint32_t slot, bool used) {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    if (used) {
        own.used_slots[slot / 64] |= bit;
    } else {
        own.used_slots[slot / 64] &= ~bit;
    }
}

void let_rest(LocalSegments &own, std::uint32_t slot) {
    own.resting_slots[slot / 64] |= std::uint64_t{1} << (slot % 64);
}

// Allocates the pages now, in steps. Several ranks of one control group may allocate at the same
// time, and beyond the group's limit the kernel kills processes instead of refusing. So each rank
// checks the current use again before every step.
sennit_status reserve_in_steps(int file, std::uint64_t offset, std::uint64_t bytes) {
    constexpr std::uint64_t kStep = 2 * kHugePageBytes;
    for (std::uint64_t taken = 0; taken < bytes; taken += kStep) {
        const std::uint64_t missing = bytes - taken;
        sennit_status status = taken == 0 ? SENNIT_OK : memory_check(missing, true);
        if (status != SENNIT_OK) return status;
        status = file_reserve(file, offset + taken, missing < kStep ? missing : kStep);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// Maps a new range of the memory file and describes it in the record. Allocates its pages only for
// SENNIT_ALLOC_RESERVE.
sennit_status place(Rank &rank, const SegmentArgs &args, SegmentRecord *record) {
    LocalSegments &own = *rank.segments;
    const std::uint64_t page =
        (args.flags & SENNIT_ALLOC_HUGE) != 0 ? kHugePageBytes : page_bytes();
    std::uint64_t needed = args.bytes == 0 ? 1 : args.bytes;
    if ((args.flags & SENNIT_ALLOC_ACCUMULATE) != 0)
        needed = update_lock_offset(args.bytes) + sizeof(UpdateLock);
    const std::uint64_t mapped = round_up(needed, page);
    const std::uint64_t alignment = args.alignment > page ? args.alignment : page;
    const std::uint64_t offset =
        round_up(own.file_end, alignment < kHugePageBytes ? alignment : kHugePageBytes);
    const bool reserve = (args.flags & SENNIT_ALLOC_RESERVE) != 0;
    sennit_status status = memory_check(args.bytes, reserve);
    if (status != SENNIT_OK) return status;
    status = file_grow(rank.memory_file, offset + mapped);
    if (status != SENNIT_OK) return status;
    std::byte *address = nullptr;
    status = own.views.map(rank.memory_file, offset, mapped, alignment, &address);
    if (status != SENNIT_OK) return status;
    // Errors are ignored: on a kernel without huge pages, small pages work too.
    if (page == kHugePageBytes) (void)madvise(address, mapped, MADV_HUGEPAGE);
    if (reserve) {
        status = reserve_in_steps(rank.memory_file, offset, mapped);
        if (status != SENNIT_OK) {
            own.views.unmap(address, mapped);
            file_punch(rank.memory_file, offset, mapped);
            return status;
        }
    }
    own.file_end = offset + mapped;
    record->bytes = args.bytes;
    record->file_offset = offset;
    record->mapped_bytes = mapped;
    record->owner_address = reinterpret_cast<std::uintptr_t>(address);
    record->alignment = alignment;
    record->page_bytes = static_cast<std::uint32_t>(page);
    return SENNIT_OK;
}

sennit_status no_slot() {
    return fail(SENNIT_ERR_NOMEM, "the rank has %zu segments, which is the most",
                kSegmentsPerTeam - 1);
}

// Publishes the segment `draft`, whose memory exists, in the slot. If `id` is 0, the id is made
// from the slot. Null: a network refused the segment, and the thread's error has the reason.
SegmentRecord *publish(Rank &rank, std::uint32_t slot, std::uint32_t id, SegmentRecord &draft) {
    SegmentRecord &record = rank.control->records[slot];
    draft.actor = (draft.flags & SENNIT_ALLOC_ACCUMULATE) != 0 ? AtomicsActor::lock_holder
                                                               : AtomicsActor::processor;
    draft.version = 1;
    draft.owner_slot = slot;
    // The epoch outlives the segment: the slot's next segment gets another generation from it.
    draft.epoch = record.epoch + 1;
    if (draft.epoch == 0) draft.epoch = 1;
    if (id == 0) id = make_id(kLocalSlot, slot, generation_of_epoch(draft.epoch));
    const SegmentWatch &watch = rank.segment_watch;
    if (watch.appears != nullptr && watch.appears(watch.context, draft, draft.epoch) != SENNIT_OK)
        return nullptr;
    mark_slot(*rank.segments, slot, true);
    // Stores all fields except `id` and `live` by atomic words, because a peer may still be copying
    // the slot's previous record.
    constexpr std::size_t kFirst = offsetof(SegmentRecord, kind);
    constexpr std::size_t kLast = offsetof(SegmentRecord, live);
    store_words(reinterpret_cast<std::byte *>(&record) + kFirst,
                reinterpret_cast<const std::byte *>(&draft) + kFirst, kLast - kFirst);
    constexpr std::size_t kTail = kLast + sizeof record.live;
    store_words(reinterpret_cast<std::byte *>(&record) + kTail,
                reinterpret_cast<const std::byte *>(&draft) + kTail, sizeof record - kTail);
    // SYNC segment-live: pairs with the acquires in path::read_record() and sim's land_part(); the
    // record and its zeroed memory come before.
    record.live.store(draft.epoch, std::memory_order_release);
    record.id.store(id, std::memory_order_release);
    return &record;
}

// Ends the segment and its memory. `is_reached`: other ranks may use the memory by its address, so
// it stays mapped, and only its pages are freed.
void segment_end(Rank &rank, SegmentRecord &record, bool is_reached) {
    segment_withdraw(rank, record);
    if (record.mechanism == Mechanism::file) {
        if (!is_reached)
            rank.segments->views.unmap(reinterpret_cast<std::byte *>(record.owner_address),
                                       record.mapped_bytes);
        file_punch(rank.memory_file, record.file_offset, record.mapped_bytes);
    } else if (record.kind == SegmentKind::registered) {
        registration_end(rank, record);
    }
}

// The offset of the table in its first page. Without it, the entries of the first segments would
// have the same page offset as the first bytes of each segment; kRankOffset in rank/process.cpp has
// the reason why that is slow.
constexpr std::size_t kTableOffset = 23 * 64;

std::size_t table_bytes(std::uint32_t size) {
    return kTableOffset + sizeof(SegmentEntry) * kSegmentsPerTeam * size;
}

}  // namespace

sennit_status segments_open(Rank &rank, int world_rank, int size) {
    rank.segments = new (std::nothrow) LocalSegments;
    if (rank.segments == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the segment table");
    adopt::watch_forks();
    sennit_status status = file_create(&rank.memory_file);
    if (status != SENNIT_OK) return status;
    const std::uint64_t bytes = control_file_bytes(static_cast<std::uint64_t>(size));
    status = file_grow(rank.memory_file, bytes);
    if (status != SENNIT_OK) return status;
    // The file's zeros are the initial values; a constructor would touch every page.
    status = control_map(rank.memory_file, static_cast<std::uint64_t>(size), &rank.control);
    if (status != SENNIT_OK) return status;
    rank.segments->file_end = bytes;
    write_header(rank.control, world_rank, size);
    process_show_control(rank);
    return SENNIT_OK;
}

void control_use(void *control) {
    // relaxed: process_use_control() has found the block, so its owner still counts as a user.
    static_cast<ControlBlock *>(control)->header.users.fetch_add(1, std::memory_order_relaxed);
}

void control_release(ControlBlock *control) {
    // SYNC control-users: pairs with the acquire below, of the last user; the caller's uses of the
    // block come before.
    if (control->header.users.fetch_sub(1, std::memory_order_release) != 1) return;
    // SYNC control-users: pairs with the releases of the other users; their uses come before the
    // unmapping.
    (void)control->header.users.load(std::memory_order_acquire);
    control_unmap(control, static_cast<std::uint64_t>(control->header.size));
}

void segments_close(Rank &rank, bool all_left) {
    if (rank.control != nullptr) {
        process_hide_control(rank);
        // relaxed: no rank starts to use the block any more. If the count is read too high, memory
        // stays mapped, which does no harm.
        const bool is_reached =
            !all_left && rank.control->header.users.load(std::memory_order_relaxed) != 1;
        for (std::uint32_t slot = 0; slot < kSegmentsPerTeam; ++slot) {
            SegmentRecord &record = rank.control->records[slot];
            if ((rank.segments->used_slots[slot / 64] >> (slot % 64) & 1) != 0 &&
                !continues_region(record))
                segment_end(rank, record, is_reached);
        }
        rank.segments->views.close(is_reached);
        control_release(rank.control);
        rank.control = nullptr;
    }
    adopt::detach(rank);
    if (rank.memory_file >= 0) (void)close(rank.memory_file);
    rank.memory_file = -1;
    if (rank.segments != nullptr) std::free(rank.segments->runs);
    delete rank.segments.get();
    rank.segments = nullptr;
}

sennit_status range_create(Rank &rank, std::uint64_t bytes, std::uint64_t *offset,
                           std::byte **address) {
    LocalSegments &own = *rank.segments;
    sennit_status status = memory_check(bytes, false);
    if (status != SENNIT_OK) return status;
    const std::uint64_t begin = round_up(own.file_end, kLargestSmallPage);
    status = file_grow(rank.memory_file, begin + bytes);
    if (status != SENNIT_OK) return status;
    status = file_map(rank.memory_file, begin, bytes, page_bytes(), address);
    if (status != SENNIT_OK) return status;
    own.file_end = begin + bytes;
    *offset = begin;
    return SENNIT_OK;
}

sennit_status segment_create(Rank &rank, const SegmentArgs &args, SegmentRecord **out) {
    std::uint32_t slot = 0;
    LocalSegments &own = *rank.segments;
    if (!find_free_slot(own, &slot)) return no_slot();
    SegmentRecord draft{};
    const sennit_status status = place(rank, args, &draft);
    if (status != SENNIT_OK) return status;
    struct stat identity {};
    (void)fstat(rank.memory_file, &identity);
    draft.kind = args.kind;
    draft.mechanism = Mechanism::file;
    draft.flags = args.flags;
    draft.mapping_device = identity.st_dev;
    draft.mapping_inode = identity.st_ino;
    *out = publish(rank, slot, args.kind == SegmentKind::local ? 0 : args.id, draft);
    if (*out != nullptr) return SENNIT_OK;
    own.views.unmap(reinterpret_cast<std::byte *>(draft.owner_address), draft.mapped_bytes);
    file_punch(rank.memory_file, draft.file_offset, draft.mapped_bytes);
    return thread_error()->status;
}

sennit_status segment_publish(Rank &rank, SegmentRecord &draft, SegmentRecord **out) {
    std::uint32_t slot = 0;
    if (!find_free_slot(*rank.segments, &slot)) return no_slot();
    *out = publish(rank, slot, 0, draft);
    return *out != nullptr ? SENNIT_OK : thread_error()->status;
}

Overlap segment_at(Rank &rank, const void *memory, std::uint64_t bytes, sennit_gptr *gptr) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    for (std::uint32_t word = 0; word < kSegmentsPerTeam / 64; ++word) {
        for (std::uint64_t left = rank.segments->used_slots[word]; left != 0; left &= left - 1) {
            const auto slot = word * 64 + static_cast<std::uint32_t>(std::countr_zero(left));
            const SegmentRecord &record = rank.control->records[slot];
            if (record.mechanism != Mechanism::file) continue;
            const std::uint64_t at = record.owner_address;
            if (begin >= at + record.bytes || begin + bytes <= at) continue;
            if (begin < at || begin + bytes > at + record.bytes) return Overlap::part;
            // relaxed: only this rank writes the id, under the cold mutex.
            const std::uint32_t id = record.id.load(std::memory_order_relaxed);
            *gptr = sennit_gptr{rank.world_rank, id, begin - at};
            return Overlap::whole;
        }
    }
    return Overlap::none;
}

Overlap attached_at(Rank &rank, const void *memory, std::uint64_t bytes, sennit_gptr *gptr) {
    const auto *begin = static_cast<const std::byte *>(memory);
    const std::uint32_t size = size_of(rank);
    for (std::uint32_t slot = 0; slot < kTeamSlots; ++slot) {
        const std::size_t rows = rank.table_rows[slot];
        for (std::size_t i = 0; i < rows * size; ++i) {
            // relaxed: all changes are made under the cold mutex.
            const SegmentEntry &entry = rank.tables[slot].load(std::memory_order_relaxed)[i];
            // mapped_bytes is 0 for registered memory of a rank of this process.
            if (entry.id() == 0 || entry.base == nullptr || entry.mapped_bytes == 0) continue;
            if (begin >= entry.base + entry.bytes || begin + bytes <= entry.base) continue;
            if (begin < entry.base || begin + bytes > entry.base + entry.bytes)
                return Overlap::part;
            *gptr = sennit_gptr{static_cast<int>(i % size), entry.id(),
                                static_cast<std::uint64_t>(begin - entry.base)};
            return Overlap::whole;
        }
    }
    return Overlap::none;
}

void segment_end(SegmentRecord &record) {
    // relaxed twice: to use a segment while it ends is the program's error, whatever the order.
    // SYNC segment-end: pairs with the acquire fences in read_record() and view.cpp; these stores
    // come before the record of the slot's next segment. So a peer that has copied a mix of the two
    // records finds `id` or `live` changed.
    record.live.store(0, std::memory_order_relaxed);
    record.id.store(0, std::memory_order_relaxed);
    order_stores();
}

void segment_withdraw(Rank &rank, SegmentRecord &record) {
    segment_end(record);
    if (rank.segment_watch.goes != nullptr)
        rank.segment_watch.goes(rank.segment_watch.context, record);
    mark_slot(*rank.segments, record.owner_slot, false);
    if (generation_of_epoch(record.epoch) == kGenerations)
        let_rest(*rank.segments, record.owner_slot);
}

void segment_destroy(Rank &rank, SegmentRecord *record) {
    segment_end(rank, *record, false);
}

sennit_status table_create(Rank &rank, std::uint32_t team_slot, std::uint32_t size) {
    const std::size_t bytes = table_bytes(size);
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return fail_os(SENNIT_ERR_NOMEM, errno, "no address space for the table of segments");
    void *table = static_cast<std::byte *>(memory) + kTableOffset;
    // SYNC entry-table: pairs with the acquires in find_named() and entry_at(), of other threads.
    rank.tables[team_slot].store(static_cast<SegmentEntry *>(table), std::memory_order_release);
    return SENNIT_OK;
}

void forget_entries(Rank &rank) {
    for (AtomicPartPointer<Part::entry> &place : rank.near)
        // relaxed: a thread that still calls Sennit now is the program's error.
        place.store(nullptr, std::memory_order_relaxed);
}

void table_destroy(Rank &rank, std::uint32_t team_slot, std::uint32_t size) {
    // All relaxed: the team's segments have ended; a call that still uses one is the program's
    // error.
    SegmentEntry *table = rank.tables[team_slot].load(std::memory_order_relaxed);
    if (table == nullptr) return;
    (void)munmap(reinterpret_cast<std::byte *>(table) - kTableOffset, table_bytes(size));
    rank.tables[team_slot].store(nullptr, std::memory_order_relaxed);
    rank.table_rows[team_slot] = 0;
}

SegmentEntry *entry_at(Rank &rank, std::uint32_t size, std::uint32_t id, int peer) {
    // SYNC entry-table: pairs with the release in table_create(), perhaps of another thread.
    SegmentEntry *table = rank.tables[team_slot_of(id)].load(std::memory_order_acquire);
    return table == nullptr ? nullptr
                            : &table[static_cast<std::size_t>(index_of(id)) * size +
                                     static_cast<std::uint32_t>(peer)];
}

sennit_status entry_to_fill(Rank &rank, std::uint32_t id, int peer, SegmentEntry **entry) {
    const std::uint32_t slot = team_slot_of(id);
    const std::uint32_t size = size_of(rank);
    SENNIT_INVARIANT(generation_of(id) != 0 && static_cast<std::uint32_t>(peer) < size);
    // relaxed: all changes are made under the cold mutex.
    if (rank.tables[slot].load(std::memory_order_relaxed) == nullptr) {
        const sennit_status status = table_create(rank, slot, size);
        if (status != SENNIT_OK) return status;
    }
    std::uint16_t &rows = rank.table_rows[slot];
    if (index_of(id) >= rows) rows = static_cast<std::uint16_t>(index_of(id) + 1);
    *entry = entry_at(rank, size, id, peer);
    return SENNIT_OK;
}

void fill_entry(SegmentEntry *entry, const SegmentRecord &record, const sennit_gptr &named,
                const EntryFields &fields) {
    entry->path = static_cast<std::uint16_t>(fields.path);
    entry->actor = record.actor;
    entry->attach_errno = fields.attach_errno;
    entry->base = fields.base;
    entry->bytes = record.bytes;
    entry->direct_bytes = fields.base != nullptr && !fields.is_observed ? record.bytes : 0;
    // If the record is out of reach, is_live() compares live_value with itself.
    entry->live = fields.live != nullptr ? fields.live : &entry->live_value;
    entry->handle = fields.handle;
    entry->mapped_bytes = fields.mapped_bytes;
    // relaxed: a private copy of the record, or the rank's own record.
    const std::uint32_t live = record.live.load(std::memory_order_relaxed);
    // SYNC entry-live: pairs with the acquire in is_live(); base and bounds come before.
    entry->live_value.store(live, std::memory_order_release);
    // SYNC entry-attached: pairs with the acquire in is_of(); the other fields come before.
    entry->name.store(name_of(named), std::memory_order_release);
}

void clear_entry(SegmentEntry *entry) {
    // relaxed: the memory is unmapped next, so a concurrent use is the program's error anyway.
    entry->name.store(kClearedName, std::memory_order_relaxed);
    entry->base = nullptr;
}

}  // namespace sennit::memory
