// One rank that hooks the C library's functions that map memory, as UCX, libfabric and the
// registration caches of MPIs do: the program's own definitions take precedence. A cache of the
// pages of one buffer forgets the pages of every range that a hook sees. Broken by a move in either
// direction that the hooks do not see, or see for only a part of the buffer (a cache would send
// from pages that are no longer the buffer's).
#include <sennit/sennit.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostPages = 2048;

// The pages of one buffer, as a registration cache stores them.
struct Cache {
    std::uintptr_t begin = 0;
    std::size_t pages = 0;
    bool knows[kMostPages] = {};

    void learn(void *memory, std::size_t bytes) {
        const auto first = reinterpret_cast<std::uintptr_t>(memory);
        begin = first / kPage * kPage;
        pages = (first + bytes - begin + kPage - 1) / kPage;
        require(pages <= kMostPages, "the cache is large enough");
        for (std::size_t i = 0; i < pages; ++i)
            knows[i] = true;
    }
    void forget(const void *memory, std::size_t bytes) {
        const auto from = reinterpret_cast<std::uintptr_t>(memory);
        for (std::size_t i = 0; i < pages; ++i)
            if (begin + i * kPage < from + bytes && begin + (i + 1) * kPage > from)
                knows[i] = false;
    }
    // Every page has moved, so the cache must not know any.
    void check_empty(const char *what) const {
        std::size_t known = 0;
        for (std::size_t i = 0; i < pages; ++i)
            known += knows[i] ? 1 : 0;
        require(known == 0, "of " + std::to_string(pages) + " pages that " + what + ", " +
                                std::to_string(known) + " were not seen by a hook");
    }
};
Cache cache;

}  // namespace

// The library calls these in place of the C library's functions.
extern "C" {

void *mmap(void *address, std::size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
    cache.forget(address, bytes);
    return reinterpret_cast<void *>(
        syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

int munmap(void *address, std::size_t bytes) noexcept {
    cache.forget(address, bytes);
    return static_cast<int>(syscall(SYS_munmap, address, bytes));
}

void *mremap(void *address, std::size_t bytes, std::size_t new_bytes, int flags, ...) noexcept {
    std::va_list more;
    va_start(more, flags);
    void *const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void *) : nullptr;
    va_end(more);
    cache.forget(address, bytes);
    return reinterpret_cast<void *>(syscall(SYS_mremap, address, bytes, new_bytes, flags, wanted));
}
}

namespace {

void use(std::size_t offset, std::size_t bytes) {
    const std::size_t room = (offset + bytes + kPage - 1) / kPage * kPage;
    auto *const pages = static_cast<char *>(std::aligned_alloc(kPage, room));
    char *const memory = pages + offset;
    std::memset(pages, 7, room);
    cache.learn(memory, bytes);
    sennit_region region = SENNIT_REGION_NULL;
    expect(sennit_register(memory, bytes, 0, &region), SENNIT_OK, "register");
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    expect(sennit_region_mechanism(region, &mechanism), SENNIT_OK, "mechanism");
    require(mechanism == SENNIT_MECHANISM_ADOPT, "the buffer is adopted");
    cache.check_empty("moved");
    cache.learn(memory, bytes);
    expect(sennit_deregister(region), SENNIT_OK, "deregister");
    cache.check_empty("went back");
    cache.pages = 0;
    std::free(pages);
}

}  // namespace

int main() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    for (const std::size_t bytes : {8, 4096, 5000, 100000, 3 << 20}) {
        use(0, bytes);
        use(100, bytes);
    }
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
