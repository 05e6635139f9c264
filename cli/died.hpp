// Whether a process that left something of itself has died. Used by `sennit stats` and `sennit
// trace`.
#pragma once

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace sennit::cli {

// Of `process` on `host`; false too where that is another machine, which nobody here can tell.
inline bool has_died(const char *host, int process) {
    char here[256] = "";
    (void)gethostname(here, sizeof here - 1);
    if (std::strcmp(host, here) != 0) return false;
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    if (!std::getline(stat, text)) return true;
    // Behind its name, in which anything may stand: Z and X are processes that nobody has waited
    // for.
    const std::size_t name_end = text.rfind(") ");
    const char state = name_end == std::string::npos ? ' ' : text[name_end + 2];
    return state == 'Z' || state == 'X';
}

}  // namespace sennit::cli
