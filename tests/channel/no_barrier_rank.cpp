// Becomes the program that its words name, without the system call membarrier, as an old kernel or
// a container's filter would have it: `odd` for ranks of odd number, `all` for all.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kSkipped = 77;

void forbid_barriers() {
    sock_filter program[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_membarrier},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    const sock_fprog filter{sizeof program / sizeof program[0], program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        std::perror("left out: no seccomp filter here");
        std::exit(kSkipped);
    }
}

}  // namespace

int main(int count, char **words) {
    if (count < 3) return 2;
    const char *rank = std::getenv("SENNIT_RANK");
    const bool is_odd = rank != nullptr && std::atoi(rank) % 2 == 1;
    if (std::string(words[1]) == "all" || is_odd) forbid_barriers();
    execv(words[2], words + 2);
    std::perror(words[2]);
    return 1;
}
