// Numbers that launchers write into the environment and into messages.
#pragma once

#include <cerrno>
#include <cstdlib>

namespace sennit::runtime {

// Is the text, which may be null, a number from `least` to `most` and nothing else? Then it is in
// *out.
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

}  // namespace sennit::runtime
