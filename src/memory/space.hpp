// SPDX-License-Identifier: BSD-3-Clause
// Address ranges that agree with a place in a memory file modulo 2 MiB, so that huge pages of the
// file can be mapped there. Owns nothing: who takes a range unmaps it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::memory {

// Reserves `bytes` of address space that nobody can touch, at an address that agrees with `place`
// modulo 2 MiB. Null: there is none; errno says why.
std::byte *space_take(std::uint64_t bytes, std::uint64_t place);

// The same at a multiple of `alignment`, a power of two.
std::byte *space_take_aligned(std::uint64_t bytes, std::uint64_t alignment);

// As space_take(), as fresh private memory.
std::byte *space_take_memory(std::uint64_t bytes, std::uint64_t place);

// Maps a range of the file over a part of it, for reading and writing, not inherited by fork.
bool space_map(std::byte *address, int file, std::uint64_t file_offset, std::uint64_t bytes);

}  // namespace sennit::memory
