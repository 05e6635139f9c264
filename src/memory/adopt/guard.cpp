// SPDX-License-Identifier: BSD-3-Clause
#include "memory/adopt/guard.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <initializer_list>

#include "base/raw.hpp"

namespace sennit::memory::adopt {
namespace {

// Constants of linux/userfaultfd.h that older versions of this header lack.
constexpr int kUserModeOnly = 1;
constexpr std::uint64_t kProtectsShared = 1u << 12;
constexpr std::uint64_t kProtectsUnused = 1u << 13;
constexpr std::uint64_t kProtects = 1u << 0;

std::atomic<WriteGuard::Mode> chosen_mode{WriteGuard::Mode::best};

// The kernel lacks the system call. Remembered, because valgrind warns at each try.
std::atomic<bool> is_missing{false};

}  // namespace

void WriteGuard::set_mode(Mode mode) {
    // relaxed: set only while nobody registers.
    chosen_mode.store(mode, std::memory_order_relaxed);
}

WriteGuard::~WriteGuard() {
    if (file_ >= 0) (void)close(file_);
}

bool WriteGuard::open_with(int flags, std::uint64_t features) {
    // relaxed: no other data depends on it.
    if (is_missing.load(std::memory_order_relaxed)) {
        error_ = ENOSYS;
        return false;
    }
    file_ = static_cast<int>(syscall(SYS_userfaultfd, flags));
    if (file_ < 0) {
        error_ = errno;
        // relaxed: no other data depends on it.
        if (error_ == ENOSYS) is_missing.store(true, std::memory_order_relaxed);
        return false;
    }
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = features;
    if (ioctl(file_, UFFDIO_API, &api) == 0) return true;
    error_ = errno;
    (void)close(file_);
    file_ = -1;
    return false;
}

bool WriteGuard::open() {
    // relaxed: set only while nobody registers.
    const Mode mode = chosen_mode.load(std::memory_order_relaxed);
    if (mode == Mode::refused) {
        error_ = EPERM;
        return false;
    }
    // Protection against all stores is tried first, then protection against stores from user mode
    // only.
    for (const int flags : {O_CLOEXEC | O_NONBLOCK, O_CLOEXEC | O_NONBLOCK | kUserModeOnly}) {
        if (mode == Mode::user_only && (flags & kUserModeOnly) == 0) continue;
        protects_unused_ =
            mode != Mode::older && open_with(flags, kProtects | kProtectsShared | kProtectsUnused);
        if (protects_unused_ || open_with(flags, kProtects | kProtectsShared) ||
            open_with(flags, kProtects))
            return true;
    }
    return false;
}

bool WriteGuard::cover(std::uint64_t address, std::uint64_t bytes) {
    uffdio_register registration{};
    registration.range.start = address;
    registration.range.len = bytes;
    registration.mode = UFFDIO_REGISTER_MODE_WP;
    if (file_ >= 0 && ioctl(file_, UFFDIO_REGISTER, &registration) == 0) return true;
    if (file_ >= 0) error_ = errno;
    return false;
}

long WriteGuard::set_protection(std::uint64_t address, std::uint64_t bytes,
                                std::uint64_t mode) const {
    const uffdio_writeprotect protection{{address, bytes}, mode};
    long result;
    do {
        result = raw_call(SYS_ioctl, file_, std::uint64_t{UFFDIO_WRITEPROTECT}, &protection);
    } while (result == -EAGAIN || result == -EINTR);
    return result;
}

long WriteGuard::protect(std::uint64_t address, std::uint64_t bytes) const {
    return set_protection(address, bytes, UFFDIO_WRITEPROTECT_MODE_WP);
}

void WriteGuard::let_go(std::uint64_t address, std::uint64_t bytes, bool are_replaced) const {
    if (!are_replaced) (void)set_protection(address, bytes, 0);
    const uffdio_range range{address, bytes};
    (void)raw_call(SYS_ioctl, file_, std::uint64_t{UFFDIO_WAKE}, &range);
}

}  // namespace sennit::memory::adopt
