// Preloaded into `sennit map` and its jobs: pretends that there are 16 processors. A process that
// binds itself to one of them is bound to a processor that it may really use. Only `sennit map`
// itself uses hwloc's topology from HWLOC_SYNTHETIC.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kProcessors = 16 };

static int is_map;
static cpu_set_t usable;

// Checks whether the first word of the command line is "map".
__attribute__((constructor)) static void start(void) {
    (void)syscall(SYS_sched_getaffinity, 0, sizeof usable, &usable);
    char words[4096] = "";
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, words, sizeof words - 1);
    if (file >= 0) close(file);
    const size_t program = strlen(words) + 1;
    is_map = length > (ssize_t)program && strcmp(words + program, "map") == 0;
    if (is_map) return;
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
}

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set) {
    memset(set, 0, bytes);
    if (!is_map) return syscall(SYS_sched_getaffinity, process, bytes, set) < 0 ? -1 : 0;
    for (int i = 0; i < kProcessors; ++i)
        CPU_SET_S(i, bytes, set);
    return 0;
}

int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set) {
    if (CPU_COUNT_S(bytes, set) != 1)
        return (int)syscall(SYS_sched_setaffinity, process, bytes, set);
    int wanted = 0;
    while (!CPU_ISSET_S(wanted, bytes, set))
        ++wanted;
    int processor = 0;
    for (int left = wanted % CPU_COUNT(&usable);; ++processor)
        if (CPU_ISSET(processor, &usable) && left-- == 0) break;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return (int)syscall(SYS_sched_setaffinity, process, sizeof one, &one);
}
