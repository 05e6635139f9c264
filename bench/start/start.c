/* Starts and ends. With --memory it also prints the memory of its idle process as a line of JSON.
 * Used by `sennit bench start` and `sennit bench memory`. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"

/* Kilobytes in the line of smaps_rollup that starts with `field`; -1 if there is none. */
static long field_kilobytes(const char *text, const char *field) {
    const char *line = strstr(text, field);
    return line == NULL ? -1 : strtol(line + strlen(field), NULL, 10);
}

static int read_rollup(char *text, size_t bytes) {
    const int file = open("/proc/self/smaps_rollup", O_RDONLY);
    if (file < 0) {
        return 1;
    }
    const ssize_t got = read(file, text, bytes - 1);
    close(file);
    if (got <= 0) {
        return 1;
    }
    text[got] = '\0';
    return 0;
}

/* Reads the memory between two barriers, while all ranks run. */
static int report_memory(void) {
    static char text[4096];
    const struct timespec settle = {0, 200 * 1000 * 1000};
    if (launch_meet() != 0) {
        return 1;
    }
    nanosleep(&settle, NULL);
    if (read_rollup(text, sizeof text) != 0 || launch_meet() != 0) {
        return 1;
    }
    const long clean = field_kilobytes(text, "\nPrivate_Clean:");
    const long dirty = field_kilobytes(text, "\nPrivate_Dirty:");
    const long pss = field_kilobytes(text, "\nPss:");
    if (clean < 0 || dirty < 0 || pss < 0) {
        return 1;
    }
    printf("{\"private_bytes\":%ld,\"pss_bytes\":%ld}\n", (clean + dirty) * 1024, pss * 1024);
    return fflush(stdout);
}

int main(int argc, char **argv) {
    alarm(300); /* ends this rank if all launchers fail to do so */
    if (launch_begin(&argc, &argv) != 0) {
        fprintf(stderr, "sennit-bench-start: could not start\n");
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "--memory") == 0 && report_memory() != 0) {
        fprintf(stderr, "sennit-bench-start: could not read its memory use\n");
        return 1;
    }
    return launch_end() != 0;
}
