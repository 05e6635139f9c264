// Executes the program in its arguments if the kernel allows userfaultfd. Otherwise exits as a
// skipped test, because a process with threads would then adopt only buffers of whole pages.
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
