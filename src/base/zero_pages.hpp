// SPDX-License-Identifier: BSD-3-Clause
// Zeroed memory of which only the pages that something was stored to take any: for tables most of
// whose rows are never used.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace sennit {

// Null: no memory.
inline void *zero_pages(std::size_t bytes) {
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    // A row would take 2 MiB.
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

inline void free_zero_pages(void *memory, std::size_t bytes) {
    if (memory != nullptr) (void)munmap(memory, bytes);
}

}  // namespace sennit
