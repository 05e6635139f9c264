// SPDX-License-Identifier: BSD-3-Clause
// Reads from /proc/self/pagemap which pages of the process have memory. read() is a raw system
// call, so it is allowed while pages are protected. Used by the mover.
#pragma once

#include <cstdint>

namespace sennit::memory::adopt {

class PageStates {
  public:
    PageStates();
    ~PageStates();
    PageStates(const PageStates &) = delete;
    PageStates &operator=(const PageStates &) = delete;

    // One word per page from `address` on. False: unknown, so every page counts as used.
    bool read(std::uint64_t address, std::uint64_t pages, std::uint64_t *states) const;

    static bool is_present(std::uint64_t state) { return (state >> 63 & 1) != 0; }
    // Swapped out, or a protected page that was never used.
    static bool is_swapped(std::uint64_t state) { return (state >> 62 & 1) != 0; }

  private:
    int file_;
};

}  // namespace sennit::memory::adopt
