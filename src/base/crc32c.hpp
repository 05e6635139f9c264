// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C (Castagnoli). It detects a damaged sennit_block, which the program may send by any means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sennit {

inline constexpr std::uint32_t kCastagnoli = 0x82F63B78;  // bits reversed

constexpr std::array<std::uint32_t, 256> make_crc32c_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit)
            value = value >> 1 ^ ((value & 1) != 0 ? kCastagnoli : 0);
        table[byte] = value;
    }
    return table;
}
inline constexpr std::array<std::uint32_t, 256> kCrc32cTable = make_crc32c_table();

constexpr std::uint32_t crc32c(const unsigned char *bytes, std::size_t count) {
    std::uint32_t value = ~std::uint32_t{0};
    for (std::size_t i = 0; i < count; ++i)
        value = value >> 8 ^ kCrc32cTable[(value ^ bytes[i]) & 0xFF];
    return ~value;
}

// The standard check value of the polynomial.
inline constexpr unsigned char kCrc32cKnown[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
static_assert(crc32c(kCrc32cKnown, sizeof kCrc32cKnown) == 0xE3069283);

}  // namespace sennit
