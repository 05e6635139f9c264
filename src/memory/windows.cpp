// SPDX-License-Identifier: BSD-3-Clause
#include "memory/windows.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <new>

#include "memory/file.hpp"
#include "memory/space.hpp"

namespace sennit::memory {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 30;
// The largest segment that gets an address in a window: 64 of them fit.
constexpr std::uint64_t kMostInWindow = kWindowBytes / 64;

bool address_space_is_limited() {
    rlimit limit{};
    return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

FileWindows::Window *FileWindows::find(std::uint64_t file_begin) {
    for (Window *window = first_; window != nullptr; window = window->next)
        if (window->file_begin == file_begin) return window;
    if (address_space_is_limited()) return nullptr;
    if (first_ != nullptr && first_->segments == 0) give_back(&first_);
    auto *made = new (std::nothrow) Window{first_, space_take(kWindowBytes, 0), file_begin, 0};
    if (made == nullptr || made->base == nullptr) {
        delete made;
        return nullptr;
    }
    (void)madvise(made->base, kWindowBytes, MADV_DONTFORK);
    return first_ = made;
}

sennit_status FileWindows::map(int file, std::uint64_t offset, std::uint64_t bytes,
                               std::uint64_t alignment, std::byte **address) {
    const std::uint64_t place = offset % kWindowBytes;
    // The base of a window is aligned to a huge page.
    const bool fits = bytes <= kMostInWindow && place + bytes <= kWindowBytes &&
                      alignment <= kHugePageBytes && offset % alignment == 0;
    Window *const window = fits ? find(offset - place) : nullptr;
    if (window == nullptr || !space_map(window->base + place, file, offset, bytes))
        return file_map(file, offset, bytes, alignment, address);
    *address = window->base + place;
    ++window->segments;
    return SENNIT_OK;
}

void FileWindows::unmap(std::byte *address, std::uint64_t bytes) {
    for (Window **link = &first_; *link != nullptr; link = &(*link)->next) {
        Window &window = **link;
        if (address < window.base || address >= window.base + kWindowBytes) continue;
        // Reserves the range again. If the kernel allows no further mapping, the old one stays.
        // That is harmless: file offsets are not reused.
        if (mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                 -1, 0) != MAP_FAILED)
            (void)madvise(address, bytes, MADV_DONTFORK);
        // New segments have higher file offsets, so only the newest window stays when it is empty.
        if (--window.segments == 0 && &window != first_) give_back(link);
        return;
    }
    file_unmap(address, bytes);
}

void FileWindows::give_back(Window **link) {
    Window *const window = *link;
    *link = window->next;
    (void)munmap(window->base, kWindowBytes);
    delete window;
}

void FileWindows::close(bool is_reached) {
    while (first_ != nullptr) {
        Window *const window = first_;
        first_ = window->next;
        if (!is_reached) (void)munmap(window->base, kWindowBytes);
        delete window;
    }
}

}  // namespace sennit::memory
