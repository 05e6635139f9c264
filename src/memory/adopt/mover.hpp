// SPDX-License-Identifier: BSD-3-Clause
// Moves whole pages of the process into a memory file and back, at their address, so that nobody
// notices: readers see the same bytes at any time, writers are held for the moment of the swap if
// there is a guard. Called with the table's lock held and all signals of the thread blocked, for
// pages that classify.hpp has let through. Owns nothing that outlives a call.
//
// Between WriteGuard::protect() and let_go() only raw system calls and copies are made, and nothing
// is written but the caller's stack and side mappings of this file.
#pragma once

#include <cstdint>

#include "memory/adopt/guard.hpp"
#include "memory/file.hpp"

namespace sennit::memory::adopt {

// Huge pages of the file are made for so much of a run at once, while its own pages are there too.
inline constexpr std::uint64_t kMostHugeBytes = 16 * kHugePageBytes;

struct PageMove {
    std::uint64_t address = 0;  // of the first page
    std::uint64_t bytes = 0;    // whole pages
    std::uint64_t file_offset = 0;
    int file = -1;
    bool from_file = false;     // pages that were never used hold the bytes of a program's file
    bool first_shared = false;  // the first page has data of others; it is moved alone
    bool last_shared = false;
    WriteGuard *guard = nullptr;  // covers the pages; null: nobody is held
};

// 0, or an errno: then the pages are private as before.
int move_into_file(const PageMove &move);

// 0, or an errno: then part of the pages may still be in the file. `guard` covers the pages or is
// null; `from_file` and the shared pages are not looked at.
int move_back(const PageMove &move);

// In a child of fork, which has one thread: the pages become private copies. 0 or an errno.
int copy_for_child(const PageMove &move);

// All signals of the thread are blocked while it lives.
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
