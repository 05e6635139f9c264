// How a rank of this folder plays the scene that its argument names, and how it dies in it.
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "../support/rank_checks.hpp"

namespace sennit::test {

// At once, with nothing said to anybody.
[[noreturn]] inline void die() {
    (void)raise(SIGKILL);
    std::abort();
}

// The whole of main(): a scene that hangs is ended by a signal, one that goes as promised says so.
inline int play(int count, char **words, void (*run)(const std::string &)) {
    if (count != 2) return 2;
    (void)alarm(120);
    run(words[1]);
    std::printf("as promised\n");
    return 0;
}

}  // namespace sennit::test
