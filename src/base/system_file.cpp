// SPDX-License-Identifier: BSD-3-Clause
#include "base/system_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace sennit {

bool read_system_file(const char *name, char *text, std::size_t bytes) {
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t got = read(file, text, bytes - 1);
    (void)close(file);
    if (got < 0) return false;
    text[got] = '\0';
    return true;
}

std::uint64_t number_in_file(const char *name, const char *key, std::uint64_t otherwise) {
    char text[4096];
    if (!read_system_file(name, text, sizeof text)) return otherwise;
    const char *place = std::strstr(text, key);
    if (place == nullptr) return otherwise;
    place += std::strlen(key);
    char *end = nullptr;
    const std::uint64_t number = std::strtoull(place, &end, 10);
    return end != place ? number : otherwise;
}

}  // namespace sennit
