// SPDX-License-Identifier: BSD-3-Clause
// System calls that set no errno and that no hook sees, and accesses to memory that no sanitizer
// watches. memory/adopt/ uses them while it blocks all threads that store to certain pages of the
// program: a hidden store to such a page, for example to errno, would block its own thread too.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// For a function whose accesses no sanitizer watches.
#define SENNIT_UNWATCHED __attribute__((no_sanitize("thread", "address", "undefined")))

namespace sennit {

template <class Word>
inline long raw_word(Word value) {
    if constexpr (std::is_pointer_v<Word>) {
        return static_cast<long>(reinterpret_cast<std::uintptr_t>(value));
    } else {
        return static_cast<long>(value);
    }
}

// A system call with up to six words. Returns its result, or -errno.
template <class... Words>
[[gnu::always_inline]] inline long raw_call(long number, Words... words) {
    static_assert(sizeof...(words) <= 6);
    const long word[6] = {raw_word(words)...};
#if defined(__x86_64__)
    long result;
    register long r10 asm("r10") = word[3];
    register long r8 asm("r8") = word[4];
    register long r9 asm("r9") = word[5];
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(word[0]), "S"(word[1]), "d"(word[2]), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = word[0];
    register long x1 asm("x1") = word[1];
    register long x2 asm("x2") = word[2];
    register long x3 asm("x3") = word[3];
    register long x4 asm("x4") = word[4];
    register long x5 asm("x5") = word[5];
    asm volatile("svc 0"
                 : "+r"(x0)
                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                 : "memory");
    return x0;
#else
    const long result = syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    return result == -1 ? -errno : result;
#endif
}

// Maps the file privately over pages of the program, by mmap() of the C library so that hooks see
// it. The thread sanitizer has such a hook, but would count the call as a store to all pages while
// other threads use them. So its build uses the system call.
inline bool shown_mmap(std::uint64_t address, std::size_t bytes, int file, std::uint64_t offset) {
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    constexpr int kFlags = MAP_PRIVATE | MAP_FIXED;
#if defined(__SANITIZE_THREAD__)
    const long made = raw_call(SYS_mmap, address, bytes, kProtection, kFlags, file, offset);
    if (made < 0 && made > -4096) errno = static_cast<int>(-made);
    return made >= 0 || made <= -4096;
#else
    return mmap(reinterpret_cast<void *>(address), bytes, kProtection, kFlags, file,
                static_cast<off_t>(offset)) != MAP_FAILED;
#endif
}

// Tells the memory hooks of MPIs, UCX and libfabric that the pages at these addresses are replaced,
// so that their registration caches drop the old pages. The call of mremap() with equal sizes
// changes nothing itself.
inline void show_change(std::uint64_t address, std::size_t bytes) {
    (void)mremap(reinterpret_cast<void *>(address), bytes, bytes, 0);
}

// Copies whole pages. Not memcpy(): it may be hooked, and a sanitizer would report a race with
// threads that are blocked.
[[gnu::noinline]] SENNIT_UNWATCHED inline void raw_copy(void *to, const void *from,
                                                        std::size_t bytes) {
#if defined(__x86_64__)
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    auto *out = static_cast<std::uint64_t *>(to);
    const auto *in = static_cast<const std::uint64_t *>(from);
    for (std::size_t i = 0; i < bytes / sizeof *out; ++i) {
        out[i] = in[i];
        asm volatile("" ::: "memory");  // otherwise the compiler replaces the loop by memcpy()
    }
#endif
}

// Like raw_copy(), for ranges larger than the caches: on x86-64 its stores bypass the caches. Both
// addresses are page-aligned.
[[gnu::noinline]] SENNIT_UNWATCHED inline void raw_copy_long(void *to, const void *from,
                                                             std::size_t bytes) {
#if defined(__x86_64__)
    asm volatile(
        "1:\n\t"
        "movdqa (%1), %%xmm0\n\t"
        "movdqa 16(%1), %%xmm1\n\t"
        "movdqa 32(%1), %%xmm2\n\t"
        "movdqa 48(%1), %%xmm3\n\t"
        "movntdq %%xmm0, (%0)\n\t"
        "movntdq %%xmm1, 16(%0)\n\t"
        "movntdq %%xmm2, 32(%0)\n\t"
        "movntdq %%xmm3, 48(%0)\n\t"
        "add $64, %0\n\t"
        "add $64, %1\n\t"
        "sub $64, %2\n\t"
        "jnz 1b\n\t"
        // Only sfence orders such stores.
        "sfence"
        : "+r"(to), "+r"(from), "+r"(bytes)
        :
        : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3");
#else
    raw_copy(to, from, bytes);
#endif
}

// Atomically writes a word with its own value: a private page of a file becomes a copy, and no
// store of another thread is lost.
SENNIT_UNWATCHED inline void raw_touch(void *place) {
#if defined(__x86_64__)
    asm volatile("lock orl $0, (%0)" : : "r"(place) : "memory", "cc");
#else
    // relaxed: the write only has to be one step.
    __atomic_fetch_or(static_cast<std::uint32_t *>(place), 0u, __ATOMIC_RELAXED);
#endif
}

// Whether all bytes of a page are 0.
SENNIT_UNWATCHED inline bool raw_is_zero(const void *page, std::size_t bytes) {
    const auto *words = static_cast<const std::uint64_t *>(page);
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < bytes / sizeof *words; ++i)
        any |= words[i];
    return any == 0;
}

// Whether the thread control block is the last part of a thread's memory. If not, thread-local
// storage is above it.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kControlBlockEndsStack = true;
#else
inline constexpr bool kControlBlockEndsStack = false;
#endif

}  // namespace sennit
