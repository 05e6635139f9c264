// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/PID/stat: process id, name in parentheses, letter of the state, then numbers. The
// start time is the 19th number after the letter.
#include "base/process_age.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/system_file.hpp"

namespace sennit {

std::uint32_t process_start_ticks(int process_id) {
    char name[32];
    (void)std::snprintf(name, sizeof name, "/proc/%d/stat", process_id);
    char text[1024];
    if (!read_system_file(name, text, sizeof text)) return 0;
    // The name may contain any character, also ')'.
    const char *field = std::strrchr(text, ')');
    if (field == nullptr || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X') return 0;
    constexpr int kFieldsToStart = 20;
    for (int i = 0; i < kFieldsToStart && field != nullptr; ++i)
        field = std::strchr(field + 1, ' ');
    return field != nullptr ? static_cast<std::uint32_t>(std::strtoull(field, nullptr, 10)) : 0;
}

}  // namespace sennit
