// Executes the program in its arguments with the system call userfaultfd refused, as a container's
// filter does.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "../support/system_calls.hpp"

int main(int count, char **words) {
    if (count < 2) return 2;
    sennit::test::refuse_system_calls({__NR_userfaultfd}, EPERM);
    execv(words[1], words + 1);
    std::perror(words[1]);
    return 1;
}
