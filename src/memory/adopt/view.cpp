// SPDX-License-Identifier: BSD-3-Clause
// A peer's view of an adopted region. The owner may rewrite the records of the chain at any time,
// so they are copied first, and the region is checked again after the mapping.
#include "memory/adopt/adopt.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "base/fail.hpp"
#include "memory/file.hpp"
#include "memory/space.hpp"

namespace sennit::memory::adopt {
namespace {

struct Chain {
    std::uint64_t offsets[kMostExtents];
    std::uint64_t bytes[kMostExtents];
    std::uint32_t count = 0;
    std::uint64_t total = 0;
};

// Whether the region that the copy `first` describes still lives.
bool is_live(const ControlBlock &control, const SegmentRecord &first) {
    const SegmentRecord &record = control.records[first.owner_slot];
    // SYNC segment-end: pairs with the release fence in segment_end(); copies and mappings come
    // before the check.
    std::atomic_thread_fence(std::memory_order_acquire);
    // All relaxed: the fence above orders the record's words, and the copy is private.
    return record.id.load(std::memory_order_relaxed) == first.id.load(std::memory_order_relaxed) &&
           record.live.load(std::memory_order_relaxed) ==
               first.live.load(std::memory_order_relaxed);
}

// False: the records contradict each other, for example because the owner rewrites them.
bool read_chain(const ControlBlock &control, const SegmentRecord &first, Chain *chain) {
    SegmentRecord record{};
    load_words(&record, &first, sizeof record);
    for (;;) {
        const std::uint64_t page = page_bytes();
        if (record.mechanism != Mechanism::adopted || record.mapped_bytes == 0 ||
            record.mapped_bytes % page != 0 || record.file_offset % page != 0 ||
            record.view_offset != chain->total || chain->count == kMostExtents)
            return false;
        chain->offsets[chain->count] = record.file_offset;
        chain->bytes[chain->count++] = record.mapped_bytes;
        chain->total += record.mapped_bytes;
        if (record.next_extent == 0) return record.head_bytes < page;
        if (record.next_extent > kSegmentsPerTeam) return false;
        load_words(&record, &control.records[record.next_extent - 1], sizeof record);
    }
}

sennit_status ended() {
    return fail(SENNIT_ERR_NOT_REGISTERED, "the region ended while this rank attached it");
}

}  // namespace

sennit_status view_map(const ControlBlock &control, int file, const SegmentRecord &first,
                       RegionView *view) {
    Chain chain;
    if (!read_chain(control, first, &chain) || !is_live(control, first)) return ended();
    std::byte *const pages = space_take(chain.total, first.file_offset);
    if (pages == nullptr)
        return fail_os(SENNIT_ERR_NOMEM, errno, "no address space for %llu bytes",
                       static_cast<unsigned long long>(chain.total));
    std::uint64_t at = 0;
    for (std::uint32_t i = 0; i < chain.count; ++i) {
        if (!space_map(pages + at, file, chain.offsets[i], chain.bytes[i])) {
            const int reason = errno;
            (void)munmap(pages, chain.total);
            return fail_os(SENNIT_ERR_NOMEM, reason, "mapping %llu bytes",
                           static_cast<unsigned long long>(chain.bytes[i]));
        }
        at += chain.bytes[i];
    }
    if (!is_live(control, first)) {
        (void)munmap(pages, chain.total);
        return ended();
    }
    *view = RegionView{pages + first.head_bytes, chain.total};
    return SENNIT_OK;
}

}  // namespace sennit::memory::adopt
