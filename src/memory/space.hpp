// SPDX-License-Identifier: BSD-3-Clause
// Address ranges that are congruent to a place in a memory file modulo 2 MiB, so that huge pages of
// the file can be mapped there. Owns nothing: the caller unmaps a range.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::memory {

// Reserves `bytes` of inaccessible address space, at an address congruent to `place` modulo 2 MiB.
// Null: none; errno says why.
std::byte *space_take(std::uint64_t bytes, std::uint64_t place);

// The same at an address that is a multiple of `alignment`, a power of two.
std::byte *space_take_aligned(std::uint64_t bytes, std::uint64_t alignment);

// The same as space_take(), but the range is new private memory.
std::byte *space_take_memory(std::uint64_t bytes, std::uint64_t place);

// Maps a range of the file over a part of the reserved range, for reading and writing, not
// inherited by fork.
bool space_map(std::byte *address, int file, std::uint64_t file_offset, std::uint64_t bytes);

}  // namespace sennit::memory
