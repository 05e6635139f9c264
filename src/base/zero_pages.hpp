// SPDX-License-Identifier: BSD-3-Clause
// Zeroed memory that takes a page only after a store to it: for tables with mostly unused rows.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace sennit {

// Null if there is no memory.
inline void *zero_pages(std::size_t bytes) {
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    // With huge pages a used row would take 2 MiB.
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

inline void free_zero_pages(void *memory, std::size_t bytes) {
    if (memory != nullptr) (void)munmap(memory, bytes);
}

}  // namespace sennit
