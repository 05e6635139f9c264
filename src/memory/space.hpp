// SPDX-License-Identifier: BSD-3-Clause
// Ranges of addresses for mappings. Huge pages of a file can be mapped only where address and file
// offset are equal modulo 2 MiB. The caller owns a range and unmaps it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::memory {

// Reserves `bytes` of inaccessible address space. The address of a range of 2 MiB or more is equal
// to `place` modulo 2 MiB; a shorter range has no huge page. Null: failed, with errno.
std::byte *space_take(std::uint64_t bytes, std::uint64_t place);

// The same at an address that is a multiple of `alignment`, a power of two.
std::byte *space_take_aligned(std::uint64_t bytes, std::uint64_t alignment);

// The same as space_take(), but the range is new private memory.
std::byte *space_take_memory(std::uint64_t bytes, std::uint64_t place);

// Maps a range of the file over a part of a reserved range, for reading and writing. A forked child
// does not inherit it. False: failed, with errno.
bool space_map(std::byte *address, int file, std::uint64_t file_offset, std::uint64_t bytes);

}  // namespace sennit::memory
