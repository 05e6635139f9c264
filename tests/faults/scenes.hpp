// How the ranks of this folder run the scene that their argument names, and how they die in it.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/types.h>
#include <unistd.h>

#include "../support/rank_checks.hpp"

namespace sennit::test {

// Dies at once, without a message to anybody.
[[noreturn]] inline void die() {
    (void)raise(SIGKILL);
    std::abort();
}

// The kernel's letter for the state of a process: T if it is stopped, Z if it has ended; 0 if it
// does not exist.
inline char state_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t end = line.rfind(')');
    return end != std::string::npos && line.size() > end + 2 ? line[end + 2] : '\0';
}

// The whole of main(). A signal ends a scene that hangs; a scene that went as promised prints so.
inline int play(int count, char **words, void (*run)(const std::string &)) {
    if (count != 2) return 2;
    (void)alarm(120);
    run(words[1]);
    std::printf("as promised\n");
    return 0;
}

}  // namespace sennit::test
