// Becomes the program that its words name, without the system call userfaultfd, as the filter of a
// container would have it.
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
