// The line of /proc/PID/stat: number, name in parentheses, letter of the state, and numbers, of
// which the 20th after the letter is the start.
#include "base/process_age.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sennit {

std::uint32_t process_start_ticks(int process_id) {
    char text[1024];
    (void)std::snprintf(text, sizeof text, "/proc/%d/stat", process_id);
    const int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t bytes = read(file, text, sizeof text - 1);
    (void)close(file);
    if (bytes <= 0) return 0;
    text[bytes] = '\0';
    // The name may itself contain anything.
    const char *field = std::strrchr(text, ')');
    if (field == nullptr || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X') return 0;
    constexpr int kFieldsToStart = 20;
    for (int i = 0; i < kFieldsToStart && field != nullptr; ++i)
        field = std::strchr(field + 1, ' ');
    return field != nullptr ? static_cast<std::uint32_t>(std::strtoull(field, nullptr, 10)) : 0;
}

}  // namespace sennit
