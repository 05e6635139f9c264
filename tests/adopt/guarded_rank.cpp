// Becomes the program that its words name where the kernel lets writers be held off; elsewhere ends
// as a test that was left out, since memory of a process with threads is not adopted there.
#include <unistd.h>

#include <cstdio>

#include "adopt_fixture.hpp"

int main(int count, char **words) {
    if (count < 2) return 2;
    adopt_test::leave_out_without_guard();
    execvp(words[1], words + 1);
    std::perror(words[1]);
    return 1;
}
