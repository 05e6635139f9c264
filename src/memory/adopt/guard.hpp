// SPDX-License-Identifier: BSD-3-Clause
// Write-protection by userfaultfd: threads that store to a protected page wait until they are
// woken, and then store to whatever lies there. One object serves one registration or one way back.
// Closing it wakes everybody. protect() and let_go() are safe between each other: raw system calls
// alone.
#pragma once

#include <cstdint>

namespace sennit::memory::adopt {

class WriteGuard {
  public:
    WriteGuard() = default;
    ~WriteGuard();
    WriteGuard(const WriteGuard &) = delete;
    WriteGuard &operator=(const WriteGuard &) = delete;

    // False: the kernel does not grant it to this process; error() says why.
    bool open();
    // The pages of the range can be protected from now on. False: these can not; error().
    bool cover(std::uint64_t address, std::uint64_t bytes);

    bool is_open() const { return file_ >= 0; }
    int error() const { return error_; }
    // Pages that were never used are held too. If not, each must be read once before it is
    // protected.
    bool holds_unused_pages() const { return holds_unused_; }

    // 0 or -errno. When protect() returns, no processor can store to the pages any more.
    long protect(std::uint64_t address, std::uint64_t bytes) const;
    // Who waits goes on: in the pages that have replaced those that were covered, or else in these,
    // whose protection is taken away.
    void let_go(std::uint64_t address, std::uint64_t bytes, bool are_replaced) const;

    // For tests: what open() may do; `older`: as on kernels before 6.4. Process-wide, not to be
    // changed while anybody registers.
    enum class Mode : std::uint8_t { best, user_only, older, refused };
    static void set_mode(Mode mode);

  private:
    bool open_with(int flags, std::uint64_t features);
    long set_protection(std::uint64_t address, std::uint64_t bytes, std::uint64_t mode) const;

    int file_ = -1;
    int error_ = 0;
    bool holds_unused_ = false;
};

}  // namespace sennit::memory::adopt
