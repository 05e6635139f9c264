// SPDX-License-Identifier: BSD-3-Clause
#include "memory/space.hpp"

#include <sys/mman.h>

#include "memory/file.hpp"

namespace sennit::memory {
namespace {

std::byte *take(std::uint64_t bytes, std::uint64_t place, std::uint64_t multiple, int protection,
                int more_flags) {
    // With so many more bytes the range contains a suitable address. The rest is unmapped below.
    const std::uint64_t slack = multiple > page_bytes() ? multiple : 0;
    void *const whole =
        mmap(nullptr, bytes + slack, protection, MAP_PRIVATE | MAP_ANONYMOUS | more_flags, -1, 0);
    if (whole == MAP_FAILED) return nullptr;
    if (slack == 0) return static_cast<std::byte *>(whole);
    const auto begin = reinterpret_cast<std::uintptr_t>(whole);
    const std::uint64_t shift = (place - begin) % multiple;
    if (shift != 0) (void)munmap(whole, shift);
    if (shift != slack)
        (void)munmap(reinterpret_cast<void *>(begin + shift + bytes), slack - shift);
    return reinterpret_cast<std::byte *>(begin + shift);
}

// The alignment that huge pages need, or 1 if the range is too short for one.
std::uint64_t huge_page_for(std::uint64_t bytes) {
    return bytes >= kHugePageBytes ? kHugePageBytes : 1;
}

}  // namespace

std::byte *space_take(std::uint64_t bytes, std::uint64_t place) {
    return take(bytes, place, huge_page_for(bytes), PROT_NONE, MAP_NORESERVE);
}

std::byte *space_take_aligned(std::uint64_t bytes, std::uint64_t alignment) {
    return take(bytes, 0, alignment, PROT_NONE, MAP_NORESERVE);
}

std::byte *space_take_memory(std::uint64_t bytes, std::uint64_t place) {
    return take(bytes, place, huge_page_for(bytes), PROT_READ | PROT_WRITE, 0);
}

bool space_map(std::byte *address, int file, std::uint64_t file_offset, std::uint64_t bytes) {
    if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
             static_cast<off_t>(file_offset)) == MAP_FAILED)
        return false;
    (void)madvise(address, bytes, MADV_DONTFORK);
    return true;
}

}  // namespace sennit::memory
