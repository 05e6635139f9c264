// Finds out whether the process that wrote a file has died or is stopped. Used by `sennit stats`
// and `sennit trace`.
#pragma once

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace sennit::cli {

// unknown: `host` is another machine.
enum class ProcessState { unknown, running, stopped, dead };

inline ProcessState process_state(const char *host, int process) {
    char here[256] = "";
    (void)gethostname(here, sizeof here - 1);
    if (std::strcmp(host, here) != 0) return ProcessState::unknown;
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    // The name may contain newlines.
    if (!std::getline(stat, text, '\0')) return ProcessState::dead;
    // The state follows the name, which may contain any character. Z and X are dead processes that
    // their parent has not waited for; T and t are stopped by a signal or a debugger.
    const std::size_t name_end = text.rfind(") ");
    const char state = name_end == std::string::npos ? ' ' : text[name_end + 2];
    if (state == 'Z' || state == 'X') return ProcessState::dead;
    return state == 'T' || state == 't' ? ProcessState::stopped : ProcessState::running;
}

inline bool has_died(const char *host, int process) {
    return process_state(host, process) == ProcessState::dead;
}

}  // namespace sennit::cli
