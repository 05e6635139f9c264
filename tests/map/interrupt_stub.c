// Preloaded into `sennit map`: sends an interrupt after a job and before the next one, when no job
// is running. SENNIT_TEST_INTERRUPT_AFTER is the number of jobs before it.
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int jobs_left;

// Only for this process: its jobs must not load the stub.
__attribute__((constructor)) static void start(void) {
    const char *const after = getenv("SENNIT_TEST_INTERRUPT_AFTER");
    if (after != NULL) jobs_left = atoi(after);
    unsetenv("SENNIT_TEST_INTERRUPT_AFTER");
    unsetenv("LD_PRELOAD");
}

// A job's group gets SIGKILL when the job has ended.
int kill(pid_t process, int number) {
    const int result = (int)syscall(SYS_kill, process, number);
    if (process < 0 && number == SIGKILL && jobs_left > 0 && --jobs_left == 0)
        syscall(SYS_kill, getpid(), SIGINT);
    return result;
}
