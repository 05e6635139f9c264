// SPDX-License-Identifier: BSD-3-Clause
// Moves whole pages of the process into a memory file and back. Their addresses and contents do not
// change: readers always see the same bytes, and writers wait during the swap if there is a guard.
// Called with the table's lock held and all signals of the thread blocked, for pages that
// classify.hpp permits. Owns nothing after a call.
//
// Between WriteGuard::protect() and let_go() the code makes only raw system calls and copies. It
// writes only to its stack and to other mappings of the moved pages.
#pragma once

#include <cstdint>

#include "memory/adopt/guard.hpp"
#include "memory/file.hpp"

namespace sennit::memory::adopt {

// Huge pages are made for at most this much of a run at once, because the old and the new pages
// exist at the same time.
inline constexpr std::uint64_t kMostHugeBytes = 16 * kHugePageBytes;

struct PageMove {
    std::uint64_t address = 0;  // of the first page
    std::uint64_t bytes = 0;    // whole pages
    std::uint64_t file_offset = 0;
    int file = -1;
    bool from_file = false;     // pages that were never written have the contents of a file
    bool first_shared = false;  // the first page has other data too; it is moved alone
    bool last_shared = false;
    WriteGuard *guard = nullptr;  // covers the pages; null: no threads are blocked
};

// Returns 0 or an errno. After an error the pages are private again and the file's range is empty,
// unless the kernel could not move some pages back: these stay in the file, at their addresses.
int move_into_file(const PageMove &move);

// Returns 0 or an errno. After an error some pages may still be in the file. Ignores `from_file`,
// `first_shared` and `last_shared`.
int move_back(const PageMove &move);

// Makes private copies of the pages in a child of fork, which has one thread. Returns 0 or an
// errno.
int copy_for_child(const PageMove &move);

// All signals of the thread are blocked while an object exists.
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
