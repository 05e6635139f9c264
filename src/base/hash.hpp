// SPDX-License-Identifier: BSD-3-Clause
// The 64-bit hash FNV-1a (Fowler, Noll, Vo), for hashes that are only compared for equality.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit {

inline constexpr std::uint64_t kHashOfNothing = 0xCBF29CE484222325u;

// Continues the hash `before` with these bytes.
inline std::uint64_t hash_on(std::uint64_t before, const void *data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        before ^= static_cast<const unsigned char *>(data)[i];
        before *= 0x100000001B3u;
    }
    return before;
}

}  // namespace sennit
