// Executes the program in its arguments with the system call membarrier refused, as on an old
// kernel or in a container: `odd` for ranks with odd numbers, `all` for all.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../support/system_calls.hpp"

int main(int count, char **words) {
    if (count < 3) return 2;
    const char *rank = std::getenv("SENNIT_RANK");
    const bool is_odd = rank != nullptr && std::atoi(rank) % 2 == 1;
    if (std::string(words[1]) == "all" || is_odd)
        sennit::test::refuse_system_calls({__NR_membarrier}, ENOSYS);
    execv(words[2], words + 2);
    std::perror(words[2]);
    return 1;
}
