// SPDX-License-Identifier: BSD-3-Clause
// The memory file of a rank: one memfd with its control block and all its segments, each in its own
// range. A peer with the descriptor maps any range once it knows the offset, so no descriptor is
// passed after start-up. The range of a freed allocation is not reused: a peer that still maps it
// sees zeros, not another segment. The file is in no directory. The kernel frees it when no process
// has it open or mapped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fail.hpp"

namespace sennit::memory {

// The smallest page of this machine; the same on all ranks of a node.
std::uint64_t page_bytes();
inline constexpr std::uint64_t kHugePageBytes = 2u << 20;

// The largest small page of any 64-bit Linux. A multiple of it is a whole number of pages on every
// machine.
inline constexpr std::uint64_t kLargestSmallPage = 65536;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

// Whether all pages of the range are mapped in this process.
bool is_mapped(const void *memory, std::uint64_t bytes);

// Makes an empty file. Errors: OS.
sennit_status file_create(int *file);

// Grows the file to at least `end`. Errors: NOMEM (RLIMIT_FSIZE, or the kernel's own limit), OS.
sennit_status file_grow(int file, std::uint64_t end);

// Whether there is a limit on file sizes (RLIMIT_FSIZE).
bool file_has_limit();

// Frees the pages of the range. Mappings read zeros afterwards.
void file_punch(int file, std::uint64_t offset, std::uint64_t bytes);

// Allocates the pages of the range now. Errors: NOMEM.
sennit_status file_reserve(int file, std::uint64_t offset, std::uint64_t bytes);

// Maps the range for reading and writing at an address that is a multiple of `alignment`. A forked
// child does not inherit the mapping. Errors: NOMEM.
sennit_status file_map(int file, std::uint64_t offset, std::uint64_t bytes, std::uint64_t alignment,
                       std::byte **address);
// Reports that the kernel refused to map `bytes`, and the exceeded limit if it can be found.
// `reason`: the errno. Returns NOMEM.
sennit_status no_address_space(std::uint64_t bytes, int reason);
// Unmaps `bytes` from the start of the page with `address`.
void file_unmap(std::byte *address, std::uint64_t bytes);

// The kernel's files on available memory.
struct LimitPlaces {
    const char *meminfo = "/proc/meminfo";
    const char *own_groups = "/proc/self/cgroup";
    const char *groups = "/sys/fs/cgroup";
};

// Checks `bytes` against the machine's memory and swap, and against the memory limits of this
// process's control group and the groups above it. `now`: counts only memory that is free now.
// Errors: NOMEM, naming the limit.
sennit_status memory_check(std::uint64_t bytes, bool now, const LimitPlaces &places = {});

}  // namespace sennit::memory
