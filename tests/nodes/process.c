/* Changes of the process by sennit_init: on one node no network library and no thread; between
 * nodes both, but none of the signal handlers that Debian's libfabric installs when it is loaded.
 * Broken by a library that is opened before the cards show several nodes, and by one that is opened
 * unchanged.
 *
 * Argument: 1 if the ranks are on several nodes.
 */
#include <dirent.h>
#include <sennit/sennit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNALS = 32 };

static int has_library(void) {
    char line[512];
    int found = 0;
    FILE *const maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found |= strstr(line, "/libfabric.so") != NULL;
    if (maps != NULL) fclose(maps);
    return found;
}

static int threads(void) {
    int count = 0;
    DIR *const tasks = opendir("/proc/self/task");
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks))
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

int main(int count, char **arguments) {
    struct sigaction before[SIGNALS];
    const int network = count > 1 && atoi(arguments[1]);
    const int threads_before = threads();
    int failures = 0;
    memset(before, 0, sizeof before);
    for (int i = 1; i < SIGNALS; ++i)
        sigaction(i, NULL, &before[i]);
    if (sennit_init(NULL) != SENNIT_OK || sennit_size() < 2) return 1;
    for (int i = 1; i < SIGNALS; ++i) {
        struct sigaction after;
        if (sigaction(i, NULL, &after) != 0 || after.sa_handler == before[i].sa_handler) continue;
        fprintf(stderr, "signal %d has a handler that the program has not set\n", i);
        ++failures;
    }
    if (has_library() != network) {
        fprintf(stderr, "libfabric is %sthere\n", network ? "not " : "");
        ++failures;
    }
    if ((threads() > threads_before) != network) {
        fprintf(stderr, "%d threads more\n", threads() - threads_before);
        ++failures;
    }
    if (sennit_finalize() != SENNIT_OK) ++failures;
    return failures != 0;
}
