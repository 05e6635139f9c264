// Why a mechanism did not take a registration: a code and a number, turned into a sentence when
// somebody asks. The owner publishes both in the record of the segment, so the values are shared
// between processes: never renumber.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::memory {

enum class Refusal : std::uint8_t {
    none = 0,             // it was taken, or a better one was
    not_allowed = 1,      // SENNIT_REGISTER leaves it out
    no_bytes = 2,         // a region of no bytes has no memory
    other_processes = 3,  // inproc: there are peers in other processes
    none_maps = 4,        // adopt: no peer is reached by the path mapped
    no_library = 5,       // xpmem: the library is not there
    no_device = 6,        // xpmem: the library is there and does not work; detail: errno
    stack = 7,
    thread_stack = 8,  // or thread-local storage, or the control block of a thread
    read_only = 9,
    executable = 10,
    shared = 11,
    file = 12,
    large_pages = 13,
    locked = 14,
    not_copied_by_fork = 15,
    arena_start = 16,  // first page of an allocator's arena
    special = 17,      // memory of the kernel's own
    strangers = 18,    // pages shared with others that can not be held off; detail: errno
    held = 19,         // a page is held by a registration that the kernel copies
    other_rank = 20,   // a page lies in the memory file of another rank of the process
    pieces = 21,       // more runs than a region may have
    table_full = 22,
    no_room = 23,        // limit of file sizes, memory, or the end of the memory file
    no_record = 24,      // the kernel's record of the mappings can not be read
    kernel_failed = 25,  // a step was refused; detail: errno
    not_mapped = 26,     // part of the range is not mapped
    stack_edges = 27,    // on a stack, and its first or last page holds other data too
    stack_frames = 28,   // pages where functions run, of a thread's own, or the lowest of a stack
    not_attached = 29,   // xpmem: this rank can not attach what the owner offers; detail: errno
    other_taken = 30,    // adopt: the owner has taken XPMEM, which is no use to this rank
    not_built = 31,      // adopt: the owner's library was built without it
    count = 32
};

struct Refused {
    Refusal code = Refusal::none;
    std::int32_t detail = 0;

    bool is_none() const { return code == Refusal::none; }
};

// One sentence, cut to `bytes`, always terminated. Any value may be asked for.
void refusal_text(Refused refused, char *text, std::size_t bytes);

}  // namespace sennit::memory
