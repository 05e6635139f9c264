// SPDX-License-Identifier: BSD-3-Clause
#include "memory/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/system_file.hpp"
#include "memory/space.hpp"

namespace sennit::memory {
namespace {

std::uint64_t count_mappings() {
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[4096];
    std::uint64_t lines = 0;
    for (ssize_t got = 0; (got = read(file, text, sizeof text)) > 0;)
        lines += static_cast<std::uint64_t>(std::count(text, text + got, '\n'));
    (void)close(file);
    return lines;
}

}  // namespace

std::uint64_t page_bytes() {
    static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

bool is_mapped(const void *memory, std::uint64_t bytes) {
    // msync() would check this too, but valgrind then reports every byte that was never written.
    constexpr std::size_t kPages = 4096;
    unsigned char unused[kPages];
    const std::uint64_t page = page_bytes();
    const std::uint64_t end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
    for (std::uint64_t at = end - bytes - (end - bytes) % page; at < end; at += kPages * page) {
        const std::uint64_t part = end - at < kPages * page ? end - at : kPages * page;
        int result;
        do {
            result = mincore(reinterpret_cast<void *>(at), part, unused);
        } while (result != 0 && errno == EAGAIN);
        if (result != 0) return false;
    }
    return true;
}

sennit_status no_address_space(std::uint64_t bytes, int reason) {
    const std::uint64_t mappings = reason == ENOMEM ? count_mappings() : 0;
    const std::uint64_t most = number_in_file("/proc/sys/vm/max_map_count", "", UINT64_MAX);
    // One call may add two mappings: a mapping inside another one divides it in three.
    if (most != UINT64_MAX && mappings + 2 >= most)
        return fail(SENNIT_ERR_NOMEM,
                    "the process has %llu mappings of memory and the kernel allows %llu: raise the "
                    "sysctl vm.max_map_count, or use fewer segments",
                    static_cast<unsigned long long>(mappings),
                    static_cast<unsigned long long>(most));
    rlimit limit{};
    const std::uint64_t used = number_in_file("/proc/self/statm", "", 0) * page_bytes();
    if (reason == ENOMEM && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (used > limit.rlim_cur || bytes > limit.rlim_cur - used))
        return fail(SENNIT_ERR_NOMEM,
                    "no address space for %llu bytes: RLIMIT_AS (ulimit -v) allows %llu bytes, "
                    "of which %llu bytes are in use",
                    static_cast<unsigned long long>(bytes),
                    static_cast<unsigned long long>(limit.rlim_cur),
                    static_cast<unsigned long long>(used));
    return fail_os(SENNIT_ERR_NOMEM, reason, "no address space for %llu bytes",
                   static_cast<unsigned long long>(bytes));
}

sennit_status file_create(int *file) {
    const int made = memfd_create("sennit", MFD_CLOEXEC);
    if (made < 0) return fail_os(SENNIT_ERR_OS, errno, "memfd_create");
    *file = made;
    return SENNIT_OK;
}

sennit_status file_grow(int file, std::uint64_t end) {
    struct stat now {};
    if (fstat(file, &now) != 0) return fail_os(SENNIT_ERR_OS, errno, "fstat of the memory file");
    if (static_cast<std::uint64_t>(now.st_size) >= end) return SENNIT_OK;
    // Growing past the limit would raise SIGXFSZ, which ends an unprepared program.
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        end > limit.rlim_cur)
        return fail(SENNIT_ERR_NOMEM,
                    "RLIMIT_FSIZE (ulimit -f) allows a file of %llu bytes, not of %llu bytes",
                    static_cast<unsigned long long>(limit.rlim_cur),
                    static_cast<unsigned long long>(end));
    if (ftruncate(file, static_cast<off_t>(end)) != 0)
        return fail_os(SENNIT_ERR_NOMEM, errno, "growing the memory file to %llu bytes",
                       static_cast<unsigned long long>(end));
    return SENNIT_OK;
}

bool file_has_limit() {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

void file_punch(int file, std::uint64_t offset, std::uint64_t bytes) {
    if (bytes == 0) return;
    // If it fails, the pages stay until the file is freed; nothing else can be done.
    (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(bytes));
}

sennit_status file_reserve(int file, std::uint64_t offset, std::uint64_t bytes) {
    int result;
    do {
        result = fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (result != 0 && errno == EINTR);
    if (result != 0)
        return fail_os(SENNIT_ERR_NOMEM, errno, "reserving %llu bytes",
                       static_cast<unsigned long long>(bytes));
    return SENNIT_OK;
}

sennit_status file_map(int file, std::uint64_t offset, std::uint64_t bytes, std::uint64_t alignment,
                       std::byte **address) {
    std::byte *const place = space_take_aligned(bytes, alignment);
    if (place == nullptr) return no_address_space(bytes, errno);
    if (!space_map(place, file, offset, bytes)) {
        const int reason = errno;
        (void)munmap(place, bytes);
        return no_address_space(bytes, reason);
    }
    *address = place;
    return SENNIT_OK;
}

void file_unmap(std::byte *address, std::uint64_t bytes) {
    if (address == nullptr) return;
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    (void)munmap(reinterpret_cast<void *>(place - place % page_bytes()), bytes);
}

}  // namespace sennit::memory
