// SPDX-License-Identifier: BSD-3-Clause
// Parses lists of words in settings: "provider=tcp;rails=2", "on,interval=50".
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

namespace sennit {

// Calls `take` with each word until `take` returns false, and returns that word. If `take` accepted
// all words, data() of the result is null.
template <class Take>
std::string_view first_refused(const char *list, char separator, const Take &take) {
    while (*list != '\0') {
        const char *const end = std::strchr(list, separator);
        const std::string_view word(
            list, end != nullptr ? static_cast<std::size_t>(end - list) : std::strlen(list));
        if (!take(word)) return word;
        list += word.size() + (end != nullptr ? 1 : 0);
    }
    return {};
}

// Whether the word begins with `name`, such as "rails="; then `value` is the rest.
inline bool has_value(std::string_view word, std::string_view name, std::string_view *value) {
    if (!word.starts_with(name)) return false;
    *value = word;
    value->remove_prefix(name.size());
    return true;
}

// False: not only digits, or more than `most`.
template <class Number>
bool read_number(std::string_view digits, std::uint64_t most, Number *out) {
    std::uint64_t number = 0;
    const char *const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc{} || stop != end || number > most) return false;
    *out = static_cast<Number>(number);
    return true;
}

// False: too long for the buffer.
inline bool copy_word(std::string_view word, char *out, std::size_t room) {
    if (word.size() >= room) return false;
    std::memcpy(out, word.data(), word.size());
    out[word.size()] = '\0';
    return true;
}

}  // namespace sennit
