// Whether the process that left a file has died. Used by `sennit stats` and `sennit trace`.
#pragma once

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace sennit::cli {

// Whether `process` on `host` has died. False if `host` is another machine: this is not known here.
inline bool has_died(const char *host, int process) {
    char here[256] = "";
    (void)gethostname(here, sizeof here - 1);
    if (std::strcmp(host, here) != 0) return false;
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    if (!std::getline(stat, text)) return true;
    // The state is behind the name, which may contain anything. Z and X are dead processes that
    // their parent has not waited for.
    const std::size_t name_end = text.rfind(") ");
    const char state = name_end == std::string::npos ? ' ' : text[name_end + 2];
    return state == 'Z' || state == 'X';
}

}  // namespace sennit::cli
