// Executes the program in its arguments if the kernel lets writers be held off. Otherwise exits as
// a skipped test, because memory of a process with threads would not be adopted.
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
