/* Checks a status in every example: an error ends the program with its reason. */
#ifndef SENNIT_EXAMPLES_MUST_H
#define SENNIT_EXAMPLES_MUST_H

#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(sennit_status status) {
    if (status == SENNIT_OK) return;
    fprintf(stderr, "%s: %s: %s\n", sennit_last_error()->operation, sennit_status_string(status),
            sennit_last_error()->text);
    exit(1);
}

static inline void must_be(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "rank %d: wrong: %s\n", sennit_rank(), what);
    exit(1);
}

#endif
