/* Finds a thread of this process by the kernel's name for it, and counts its sleeps. */
#ifndef SENNIT_TESTS_THREAD_NAMED_H
#define SENNIT_TESTS_THREAD_NAMED_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the thread's number, or 0 if there is none. */
static inline int thread_named(const char *wanted) {
    int found = 0;
    DIR *const tasks = opendir("/proc/self/task");
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        char text[300];
        snprintf(text, sizeof text, "/proc/self/task/%s/comm", task->d_name);
        FILE *const file = fopen(text, "r");
        if (file == NULL) continue;
        if (fgets(text, sizeof text, file) != NULL) {
            text[strcspn(text, "\n")] = '\0';
            if (strcmp(text, wanted) == 0) found = atoi(task->d_name);
        }
        fclose(file);
    }
    closedir(tasks);
    return found;
}

/* The number of times that the thread has gone to sleep; -1 if it does not exist. */
static inline long sleeps_of(int thread) {
    long found = -1;
    char text[300];
    snprintf(text, sizeof text, "/proc/self/task/%d/status", thread);
    FILE *const file = fopen(text, "r");
    if (file == NULL) return -1;
    while (fgets(text, sizeof text, file) != NULL)
        (void)sscanf(text, "voluntary_ctxt_switches: %ld", &found);
    fclose(file);
    return found;
}

#endif
