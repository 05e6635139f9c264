/* Where does the thread that serves other nodes run? The program may use processors 0 and 1, and
 * the thread that calls Sennit is bound to the first: so the other one is free. Would break: a
 * thread that stays where sennit_init made it, beside the rank. Ends with 77 where there are not
 * two processors.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

static int bind_to(int first, int last) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = first; cpu <= last; ++cpu)
        CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Where the thread of that name may run; false: there is none. */
static int place_of(const char *wanted, cpu_set_t *set) {
    int found = 0;
    DIR *const tasks = opendir("/proc/self/task");
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        char text[300];
        snprintf(text, sizeof text, "/proc/self/task/%s/comm", task->d_name);
        FILE *const file = fopen(text, "r");
        if (file == NULL) continue;
        if (fgets(text, sizeof text, file) != NULL && strcmp(text, wanted) == 0)
            found = sched_getaffinity(atoi(task->d_name), sizeof *set, set) == 0;
        fclose(file);
    }
    closedir(tasks);
    return found;
}

static void *run(void *result) {
    int *const failed = result;
    cpu_set_t set;
    CPU_ZERO(&set);
    *failed = bind_to(0, 0) != 0 || sennit_init(NULL) != SENNIT_OK;
    if (*failed) return NULL;
    /* It goes there when it looks for the first time after init. */
    const double end = sennit_wtime() + 10;
    int is_free = 0;
    while (!is_free && sennit_wtime() < end)
        is_free = place_of("sennit-progress\n", &set) && !CPU_ISSET(0, &set) && CPU_ISSET(1, &set);
    if (!is_free) fprintf(stderr, "the thread may run on the processor of its rank\n");
    *failed = !is_free || sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) != SENNIT_OK ||
              sennit_finalize() != SENNIT_OK;
    return NULL;
}

int main(void) {
    pthread_t thread;
    int failed = 1;
    if (bind_to(0, 1) != 0) return SKIPPED;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 2) return SKIPPED;
    if (pthread_create(&thread, NULL, run, &failed) != 0) return 1;
    pthread_join(thread, NULL);
    return failed;
}
