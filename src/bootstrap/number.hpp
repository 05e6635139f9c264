// SPDX-License-Identifier: BSD-3-Clause
// Parses numbers and hexadecimal digits in variables and messages of launchers.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace sennit::runtime {

// Sets *out if the text, which may be null, is a number from `least` to `most` and nothing else.
// False: it is not.
template <class Number>
bool number_of(const char *text, long least, long most, Number *out) {
    if (text == nullptr || *text == '\0') return false;
    char *end = nullptr;
    errno = 0;
    const long value = std::strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < least || value > most) return false;
    *out = static_cast<Number>(value);
    return true;
}

// -1 if the character is not a digit.
constexpr int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Reads `count` bytes of two digits each. False: the text is anything else.
inline bool from_hex(std::string_view text, unsigned char *bytes, std::size_t count) {
    if (text.size() != 2 * count) return false;
    for (std::size_t i = 0; i < count; ++i) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return true;
}

// Writes two digits for each byte, without a terminator.
inline void to_hex(const unsigned char *bytes, std::size_t count, char *text) {
    constexpr char kDigits[] = "0123456789abcdef";
    for (std::size_t i = 0; i < count; ++i) {
        text[2 * i] = kDigits[bytes[i] >> 4];
        text[2 * i + 1] = kDigits[bytes[i] & 15];
    }
}

}  // namespace sennit::runtime
