// The calls that allocate. All PEs make the same calls, so they get the same offsets without
// communication. The barriers are those that the standard requires.
#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "heap.hpp"
#include "state.hpp"

namespace shmem {
namespace {

std::optional<Heap> heap;
std::mutex heap_mutex;
bool has_reported_heap = false;
std::size_t heap_alignment =
    0;  // of the heap's base on every PE; allocations can have no larger one

std::size_t offset_of(const void *memory) {
    return reinterpret_cast<std::uintptr_t>(memory) - state.areas[kHeap].base;
}
void *at(std::size_t offset) {
    return reinterpret_cast<void *>(state.areas[kHeap].base + offset);
}

void check_running(const char *call) {
    if (state.pes == 0) fail(call, "the library is not initialised");
}

void *allocate_quietly(const char *call, std::size_t bytes, std::size_t alignment) {
    if (alignment > heap_alignment) {
        debug("%s: the heap is aligned to %zu bytes only, not to %zu", call, heap_alignment,
              alignment);
        return nullptr;
    }
    const std::lock_guard<std::mutex> turn(heap_mutex);
    try {
        const std::size_t offset = heap->allocate(bytes, alignment);
        if (offset != Heap::kNone) return at(offset);
        // Reported once, by one PE, also without SHMEM_DEBUG: many programs do not check the
        // result.
        if (state.debug || (state.me == 0 && !std::exchange(has_reported_heap, true)))
            tell(
                "%s: no room for %zu byte%s with alignment %zu in the symmetric heap: %zu of %zu "
                "bytes are free; SHMEM_SYMMETRIC_SIZE makes it larger",
                call, bytes, bytes == 1 ? "" : "s", std::max(alignment, Heap::kAlignment),
                heap->free_bytes(), state.areas[kHeap].bytes);
    } catch (const std::bad_alloc &) {
        debug("%s: no memory for the heap's records", call);
    }
    return nullptr;
}

// If SHMEM_DEBUG is set, checks that all PEs pass the same size. Different sizes lead to different
// offsets later, and then puts overwrite other variables.
void compare_sizes(const char *call, std::size_t bytes) {
    if (!state.debug) return;
    const std::uint64_t mine[2] = {bytes, ~bytes};
    std::uint64_t most[2];
    must(call, sennit_allreduce(SENNIT_TEAM_WORLD, mine, most,
                                sennit_reduction_of(2, SENNIT_UINT64, SENNIT_MAX), state.limit_ns));
    if (most[0] != ~most[1])
        wrong(call,
              "argument size in bytes: %zu here, and %zu to %zu on all PEs: it must be the same",
              bytes, static_cast<std::size_t>(~most[1]), static_cast<std::size_t>(most[0]));
}

void *allocate(const char *call, std::size_t bytes, std::size_t alignment) {
    check_running(call);
    if (bytes == 0) return nullptr;
    compare_sizes(call, bytes);
    void *const memory = allocate_quietly(call, bytes, alignment);
    barrier_all(call);
    return memory;
}

void *allocate_aligned(const char *call, std::size_t alignment, std::size_t bytes) {
    // The standard requires a multiple of a pointer's size, but programs also pass less.
    if (!std::has_single_bit(alignment)) {
        debug("%s: %zu is not an alignment", call, alignment);
        return nullptr;
    }
    return allocate(call, bytes, alignment);
}

// The size of an allocation. If there is none at the address, ends the program, or returns kNone if
// checks are off.
std::size_t bytes_of(const char *call, const void *memory) {
    const std::size_t bytes = heap->bytes_at(offset_of(memory));
    if (bytes == Heap::kNone)
        wrong(call, "argument ptr: %p was not allocated from the symmetric heap, or was freed",
              memory);
    return bytes;
}

void release(const char *call, void *memory) {
    check_running(call);
    if (memory == nullptr) return;
    barrier_all(call);
    const std::lock_guard<std::mutex> turn(heap_mutex);
    if (bytes_of(call, memory) == Heap::kNone) return;
    try {
        heap->release(offset_of(memory));
    } catch (const std::bad_alloc &) {
        debug("%s: no memory for the heap's records; %p is lost", call, memory);
    }
}

bool resize_in_place(const char *call, void *memory, std::size_t bytes) {
    const std::lock_guard<std::mutex> turn(heap_mutex);
    try {
        return heap->resize(offset_of(memory), bytes);
    } catch (const std::bad_alloc &) {
        debug("%s: no memory for the heap's records", call);
        return false;
    }
}

void *reallocate(const char *call, void *memory, std::size_t bytes) {
    if (memory == nullptr) return allocate(call, bytes, 0);
    if (bytes == 0) {
        release(call, memory);
        return nullptr;
    }
    check_running(call);
    compare_sizes(call, bytes);
    barrier_all(call);
    const std::size_t before = bytes_of(call, memory);
    void *made = memory;
    if (before == Heap::kNone) {
        made = nullptr;
    } else if (!resize_in_place(call, memory, bytes)) {
        made = allocate_quietly(call, bytes, 0);
        if (made != nullptr) std::memcpy(made, memory, before < bytes ? before : bytes);
    }
    // The old part is released only after all PEs have copied from it.
    barrier_all(call);
    if (made != nullptr && made != memory) {
        const std::lock_guard<std::mutex> turn(heap_mutex);
        heap->release(offset_of(memory));
    }
    return made;
}

}  // namespace

void heap_start(std::size_t bytes, std::size_t alignment) {
    heap.emplace(bytes);
    heap_alignment = alignment;
}

void heap_stop() {
    heap.reset();
}

SHMEM_DEFINE(void *, shmem_malloc, (size_t size)) {
    return allocate("shmem_malloc", size, 0);
}
SHMEM_DEFINE(void *, shmem_malloc_with_hints, (size_t size, long)) {
    return allocate("shmem_malloc_with_hints", size, 0);
}
SHMEM_DEFINE(void *, shmem_calloc, (size_t count, size_t size)) {
    const char *const call = "shmem_calloc";
    check_running(call);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes == 0) return nullptr;
    compare_sizes(call, bytes);
    void *const memory = allocate_quietly(call, bytes, 0);
    if (memory != nullptr) std::memset(memory, 0, bytes);
    barrier_all(call);
    return memory;
}
SHMEM_DEFINE(void *, shmem_align, (size_t alignment, size_t size)) {
    return allocate_aligned("shmem_align", alignment, size);
}
SHMEM_DEFINE(void *, shmem_realloc, (void *ptr, size_t size)) {
    return reallocate("shmem_realloc", ptr, size);
}
SHMEM_DEFINE(void, shmem_free, (void *ptr)) {
    release("shmem_free", ptr);
}

SHMEM_DEFINE(void *, shmalloc, (size_t size)) {
    return allocate("shmalloc", size, 0);
}
SHMEM_DEFINE(void, shfree, (void *ptr)) {
    release("shfree", ptr);
}
SHMEM_DEFINE(void *, shrealloc, (void *ptr, size_t size)) {
    return reallocate("shrealloc", ptr, size);
}
SHMEM_DEFINE(void *, shmemalign, (size_t alignment, size_t size)) {
    return allocate_aligned("shmemalign", alignment, size);
}

}  // namespace shmem
