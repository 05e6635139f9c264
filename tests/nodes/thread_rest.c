/* How often does the thread that serves other nodes wake up while the rank itself looks at the
 * network all the time, in one short wait after the other? Would break: a thread that looks after
 * the rank each millisecond all the same. On a kernel that gives a group of threads more than its
 * share where they go to sleep and wake up often, others then get the processor seconds late
 * (docs/design/waiting.md).
 */
#include <dirent.h>
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PER_SECOND = 400 };

#define CHECK(call) \
    if ((call) != SENNIT_OK) exit((fprintf(stderr, "%s\n", sennit_last_error()->text), 1))

/* How often the thread of that name has gone to sleep; -1: there is none. */
static long sleeps_of(const char *wanted) {
    long found = -1;
    DIR *const tasks = opendir("/proc/self/task");
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        char text[300];
        snprintf(text, sizeof text, "/proc/self/task/%s/status", task->d_name);
        FILE *const file = fopen(text, "r");
        if (file == NULL) continue;
        char name[100] = "";
        while (fgets(text, sizeof text, file) != NULL) {
            (void)sscanf(text, "Name: %99s", name);
            if (strcmp(name, wanted) == 0)
                (void)sscanf(text, "voluntary_ctxt_switches: %ld", &found);
        }
        fclose(file);
    }
    closedir(tasks);
    return found;
}

int main(void) {
    CHECK(sennit_init(NULL));
    sennit_gptr gptr;
    CHECK(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &gptr));
    int value = sennit_rank();
    long before = 0;
    const double begin = sennit_wtime();
    const double half = begin + 0.5, end = begin + 2;
    while (sennit_wtime() < end) {
        if (sennit_wtime() < half) before = sleeps_of("sennit-progress");
        CHECK(sennit_put(sennit_gptr_at(gptr, 1 - value), &value, sizeof value));
    }
    const long sleeps = sleeps_of("sennit-progress") - before;
    printf("rank %d: the thread went to sleep %ld times in 1.5 s\n", value, sleeps);
    const int is_rare = before >= 0 && sleeps >= 0 && sleeps < 3 * MOST_PER_SECOND / 2;
    CHECK(sennit_finalize());
    return is_rare ? 0 : 1;
}
