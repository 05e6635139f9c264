// Write-protection by userfaultfd: threads that store to a protected page wait until they are
// woken, and then store to whatever lies there. One object serves one registration or one way back.
// Closing it wakes everybody. protect() and wake() are safe between each other: raw system calls
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
    // Takes the protection away, if the pages are still those that were covered, and wakes.
    void unprotect(std::uint64_t address, std::uint64_t bytes) const;
    // The pages were replaced: who waits goes on in the new ones.
    void wake(std::uint64_t address, std::uint64_t bytes) const;

    // For tests: what open() may do; `older`: as on kernels before 6.4. Process-wide, not to be
    // changed while anybody registers.
    enum class Mode : std::uint8_t { best, user_only, older, refused };
    static void set_mode(Mode mode);

  private:
    bool open_with(int flags, std::uint64_t features);

    int file_ = -1;
    int error_ = 0;
    bool holds_unused_ = false;
};

}  // namespace sennit::memory::adopt
