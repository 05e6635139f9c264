// SPDX-License-Identifier: BSD-3-Clause
#include "memory/adopt/classify.hpp"

#include <link.h>

#include <algorithm>
#include <cstddef>

#include "base/raw.hpp"
#include "memory/file.hpp"

namespace sennit::memory::adopt {
namespace {

// glibc aligns the heaps of its arenas to this size. The first heap starts with the arena's state.
constexpr std::uint64_t kArenaBytes = std::uint64_t{64} << 20;

// The frames of this thread above the current one, up to the library's caller, use at most this
// much stack.
constexpr std::uint64_t kFramesAbove = 16u << 10;

struct AddressRange {
    std::uint64_t begin;
    std::uint64_t end;
};

// Whether the range is in a writable part of a loaded program or library.
int holds_range(dl_phdr_info *object, std::size_t, void *context) {
    const auto &range = *static_cast<const AddressRange *>(context);
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto &part = object->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
        const std::uint64_t page = page_bytes();
        const std::uint64_t begin = (object->dlpi_addr + part.p_vaddr) / page * page;
        const std::uint64_t end = round_up(object->dlpi_addr + part.p_vaddr + part.p_memsz, page);
        if (range.begin >= begin && range.end <= end) return 1;
    }
    return 0;
}

bool is_program_data(std::uint64_t begin, std::uint64_t end) {
    AddressRange range{begin, end};
    return dl_iterate_phdr(holds_range, &range) != 0;
}

// The place of static thread-local storage relative to the thread's control block, which is the C
// library's data of the thread. It is the same in all threads, so this thread's is used.
struct Storage {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    // Static storage is at most this far from the control block: the loader's reserve plus the
    // storage of all objects.
    std::int64_t most = 8192;
    std::int64_t control_block = 0;
};

int add_storage(dl_phdr_info *object, std::size_t bytes, void *context) {
    auto &sum = *static_cast<Storage *>(context);
    if (bytes < offsetof(dl_phdr_info, dlpi_tls_data) + sizeof object->dlpi_tls_data) return 1;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto &part = object->dlpi_phdr[i];
        if (part.p_type != PT_TLS) continue;
        sum.most += static_cast<std::int64_t>(part.p_memsz + part.p_align);
        if (object->dlpi_tls_data == nullptr) continue;
        const auto place =
            static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(object->dlpi_tls_data));
        const std::int64_t from_block = place - sum.control_block;
        // Libraries loaded later have their storage elsewhere.
        if (from_block < -sum.most || from_block > sum.most) continue;
        sum.begin = std::min(sum.begin, from_block);
        sum.end = std::max(sum.end, from_block + static_cast<std::int64_t>(part.p_memsz));
    }
    return 0;
}

// The part of a thread's memory that is in a range.
enum class ThreadPart : std::uint8_t { none, stack, storage };

struct ThreadSearch {
    const Mapping *mapping;
    AddressRange range;
    Storage storage;
    ThreadPart found = ThreadPart::none;
};

// any_control_block() gives the address of a field of the control block. At least this many bytes
// of the control block follow from there.
constexpr std::uint64_t kRestOfControlBlock = 1500;

// Whether the range has a part of the thread with this control block. The stack of a thread other
// than the first is below the control block in the same mapping, which may have other memory above.
bool find_part_of_thread(void *context, std::uint64_t control_block, bool is_first) {
    auto &search = *static_cast<ThreadSearch *>(context);
    if (control_block < search.mapping->begin || control_block >= search.mapping->end) return false;
    const std::uint64_t page = page_bytes();
    const auto overlaps = [&](std::uint64_t begin, std::uint64_t end) {
        return search.range.begin < round_up(end, page) && search.range.end > begin / page * page;
    };
    const std::uint64_t begin = control_block - static_cast<std::uint64_t>(-search.storage.begin);
    std::uint64_t end = std::max(control_block + kRestOfControlBlock,
                                 control_block + static_cast<std::uint64_t>(search.storage.end));
    if (!is_first && !kControlBlockEndsStack) end = search.mapping->end;
    if (overlaps(begin, end)) {
        search.found = ThreadPart::storage;
    } else if (!is_first && overlaps(search.mapping->begin, begin)) {
        search.found = ThreadPart::stack;
    }
    return search.found != ThreadPart::none;
}

ThreadPart part_of_thread(const Mapping &mapping, std::uint64_t begin, std::uint64_t end) {
    ThreadSearch search{&mapping, {begin, end}, {}};
    search.storage.control_block = static_cast<std::int64_t>(own_control_block());
    (void)dl_iterate_phdr(add_storage, &search.storage);
    (void)any_control_block(find_part_of_thread, &search);
    return search.found;
}

// Whether the calling thread has frames in the range. The kernel does not mark every stack.
bool has_own_frames(std::uint64_t begin, std::uint64_t end) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return begin < here + kFramesAbove && end > here - kFramesBelow;
}

// Whether a heap of glibc starts at the page. Its first word points to the state of its arena,
// which is right after the start of this heap or another one.
bool begins_arena(std::uint64_t page) {
    if (page % kArenaBytes != 0) return false;
    std::uint64_t arena = 0;
    raw_copy(&arena, reinterpret_cast<const void *>(page), sizeof arena);
    return arena >= kArenaBytes && arena % kArenaBytes < page_bytes() && arena % sizeof arena == 0;
}

// Whether the first or the last page of the range starts an arena and has other data than the
// buffer.
bool has_arena_start(const Buffer &buffer, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t last = end - page_bytes();
    return (!buffer.fills(begin) && begins_arena(begin)) ||
           (!buffer.fills(last) && begins_arena(last));
}

Refusal check_mapping(const Mapping &mapping) {
    if (mapping.name == Mapping::Name::special) return Refusal::special;
    if (mapping.shared) return Refusal::shared;
    if (!mapping.readable || !mapping.writable) return Refusal::read_only;
    if (mapping.executable) return Refusal::executable;
    if (mapping.page_bytes != page_bytes()) return Refusal::large_pages;
    return Refusal::none;
}

// A partly moved stack has several mappings, and the kernel names at most one of them. Joins the
// mapping with the adjacent ones above it, until one is named or the stack ends.
Mapping with_all_above(KernelRecord &record, const Mapping &mapping) {
    Mapping joined = mapping;
    Mapping next;
    while (joined.name != Mapping::Name::stack && record.find(joined.end, &next) &&
           next.begin == joined.end && next.readable && next.writable) {
        joined.end = next.end;
        if (next.name == Mapping::Name::stack) joined.name = next.name;
    }
    return joined;
}

// Whether the page is the lowest of a stack. The kernel grows a stack there, and a thread's guard
// page is below it.
bool ends_stack(KernelRecord &record, const Mapping &mapping, std::uint64_t page) {
    Mapping below;
    return page == mapping.begin &&
           (!record.find(page - 1, &below) || below.begin >= page || !below.readable);
}

// Decides on a stretch of a stack. The caller has refused stretches with frames of the registering
// thread. Refuses a page with other data than the buffer, and the lowest page of the stack.
Refused check_stack(KernelRecord &record, const Question &question, const Mapping &mapping,
                    Refusal without_consent, Stretch *stretch) {
    if (!question.takes_stacks) return {without_consent, 0};
    stretch->on_stack = true;
    if (!question.buffer.fills(stretch->begin) ||
        !question.buffer.fills(stretch->end - page_bytes()))
        return {Refusal::stack_edges, 0};
    if (ends_stack(record, mapping, stretch->begin)) return {Refusal::stack_frames, 0};
    return {};
}

bool has_frames(const Question &question, std::uint64_t begin, std::uint64_t end) {
    if (!question.takes_stacks) return has_own_frames(begin, end);
    return begin < question.frames_end && end > question.frames_end - kFramesBelow;
}

// Classifies the part of the range in the mapping at its start.
Refused classify_mapping(KernelRecord &record, const Question &question, std::uint64_t begin,
                         std::uint64_t end, Stretch *stretch) {
    Mapping mapping;
    if (!record.find(begin, &mapping)) return {Refusal::no_record, 0};
    if (mapping.begin > begin) return {Refusal::not_mapped, 0};
    const Refusal refusal = check_mapping(mapping);
    if (refusal != Refusal::none) return {refusal, 0};
    // A private mapping of a memory file, left when pages were returned, counts as anonymous.
    const bool from_file = mapping.inode != 0 && mapping.name != Mapping::Name::memory_file;
    *stretch = Stretch{begin, std::min(end, mapping.end), from_file, false, false};
    if (has_frames(question, stretch->begin, stretch->end))
        return {question.takes_stacks ? Refusal::stack_frames : Refusal::stack, 0};
    const bool is_data = is_program_data(stretch->begin, stretch->end);
    if (from_file) return {is_data ? Refusal::none : Refusal::file, 0};
    const Mapping whole = question.stacks_are_cut ? with_all_above(record, mapping) : mapping;
    if (whole.name == Mapping::Name::stack)
        return check_stack(record, question, mapping, Refusal::stack, stretch);
    const ThreadPart part = part_of_thread(whole, stretch->begin, stretch->end);
    if (part == ThreadPart::storage)
        return {question.takes_stacks ? Refusal::stack_frames : Refusal::thread_stack, 0};
    if (part == ThreadPart::stack)
        return check_stack(record, question, mapping, Refusal::thread_stack, stretch);
    const bool is_heap = mapping.name == Mapping::Name::heap;
    if (!is_heap && has_arena_start(question.buffer, stretch->begin, stretch->end))
        return {Refusal::arena_start, 0};
    stretch->grows = !is_heap && !is_data;
    return {};
}

}  // namespace

bool Buffer::fills(std::uint64_t page) const {
    return begin <= page && page + page_bytes() <= end;
}

Refused classify(KernelRecord &record, const Question &question, std::uint64_t begin,
                 std::uint64_t end, Stretch *stretch) {
    Refused refused = classify_mapping(record, question, begin, end, stretch);
    // Joins adjacent memory of the same kind: earlier registrations leave separate mappings.
    while (refused.is_none() && stretch->end < end) {
        Stretch more;
        if (!classify_mapping(record, question, stretch->end, end, &more).is_none()) break;
        if (more.from_file != stretch->from_file || more.on_stack != stretch->on_stack) break;
        stretch->end = more.end;
        stretch->grows |= more.grows;
    }
    return refused;
}

Refused check_fixed(std::uint64_t begin, std::uint64_t end) {
    if (!has_fixed_memory()) return {};
    const FixedFlags flags = fixed_flags(begin, end);
    if (flags.locked) return {Refusal::locked, 0};
    return {flags.not_copied_by_fork ? Refusal::not_copied_by_fork : Refusal::none, 0};
}

}  // namespace sennit::memory::adopt
