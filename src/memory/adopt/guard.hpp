// SPDX-License-Identifier: BSD-3-Clause
// Write protection by userfaultfd: a thread that stores to a protected page waits until it is
// woken, then stores to the memory that is mapped there. One object per adopt() or give_back(); its
// destructor wakes all threads. Between protect() and let_go() the protecting thread makes only raw
// system calls and copies: anything else might store to a protected page and wait forever.
#pragma once

#include <cstdint>

namespace sennit::memory::adopt {

class WriteGuard {
  public:
    WriteGuard() = default;
    ~WriteGuard();
    WriteGuard(const WriteGuard &) = delete;
    WriteGuard &operator=(const WriteGuard &) = delete;

    // False: the kernel refuses it for this process; error() says why.
    bool open();
    // Prepares the pages of the range for protection. False: impossible for these; error() says
    // why.
    bool cover(std::uint64_t address, std::uint64_t bytes);

    bool is_open() const { return file_ >= 0; }
    int error() const { return error_; }
    // Whether unused pages are protected too. If not, each must be read once before protect().
    bool protects_unused_pages() const { return protects_unused_; }

    // 0 or -errno. After protect() no processor can store to the pages.
    long protect(std::uint64_t address, std::uint64_t bytes) const;
    // Wakes the waiting threads. `are_replaced`: other pages are mapped there now. If not, removes
    // the protection first.
    void let_go(std::uint64_t address, std::uint64_t bytes, bool are_replaced) const;

    // For tests: the protection that open() may use; `older`: as before Linux 6.4. Process-wide;
    // must not change during a registration.
    enum class Mode : std::uint8_t { best, user_only, older, refused };
    static void set_mode(Mode mode);

  private:
    bool open_with(int flags, std::uint64_t features);
    long set_protection(std::uint64_t address, std::uint64_t bytes, std::uint64_t mode) const;

    int file_ = -1;
    int error_ = 0;
    bool protects_unused_ = false;
};

}  // namespace sennit::memory::adopt
