// SPDX-License-Identifier: BSD-3-Clause
// Moves whole pages of the process into a memory file and back, at their address and unnoticed:
// readers always see the same bytes, and writers wait during the swap if there is a guard. Called
// with the table's lock held and all signals of the thread blocked, for pages that classify.hpp
// permits. Owns nothing after a call.
//
// From WriteGuard::protect() to let_go() there are only raw system calls and copies, which write
// only the caller's stack and side mappings of this file.
#pragma once

#include <cstdint>

#include "memory/adopt/guard.hpp"
#include "memory/file.hpp"

namespace sennit::memory::adopt {

// Huge pages are made for this much of a run at once, while its old pages still exist.
inline constexpr std::uint64_t kMostHugeBytes = 16 * kHugePageBytes;

struct PageMove {
    std::uint64_t address = 0;  // of the first page
    std::uint64_t bytes = 0;    // whole pages
    std::uint64_t file_offset = 0;
    int file = -1;
    bool from_file = false;     // unused pages have the bytes of a program's file
    bool first_shared = false;  // the first page has other data too; it is moved alone
    bool last_shared = false;
    WriteGuard *guard = nullptr;  // covers the pages; null: no threads are blocked
};

// 0, or an errno: then the pages are still private.
int move_into_file(const PageMove &move);

// 0, or an errno: then some pages may still be in the file. `guard` covers the pages or is null;
// ignores `from_file` and the shared pages.
int move_back(const PageMove &move);

// In a child of fork, which has one thread: makes private copies of the pages. 0 or an errno.
int copy_for_child(const PageMove &move);

// Blocks all signals of the thread while it lives.
class SignalsBlocked {
  public:
    SignalsBlocked();
    ~SignalsBlocked();
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;

  private:
    std::uint64_t before_ = 0;
};

}  // namespace sennit::memory::adopt
