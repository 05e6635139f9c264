/* A C program as another project might write it: each rank puts its number into the memory of the
 * next rank. Exit status 1: a call failed; 2: the library does not match the headers. */
#include <sennit/sennit.h>
#include <stdio.h>
#include <string.h>

static int failed(void) {
    fprintf(stderr, "%s\n", sennit_last_error()->text);
    return 1;
}

int main(void) {
    sennit_gptr box;
    int rank, size;
    if (strcmp(sennit_version(), SENNIT_VERSION_STRING) != 0) return 2;
    if (sennit_init(NULL) != SENNIT_OK) return failed();
    rank = sennit_rank();
    size = sennit_size();
    if (sennit_alloc(SENNIT_TEAM_WORLD, sizeof rank, 0, 0, &box) != SENNIT_OK) return failed();
    if (sennit_put(sennit_gptr_at(box, (rank + 1) % size), &rank, sizeof rank) != SENNIT_OK)
        return failed();
    if (sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) != SENNIT_OK) return failed();
    printf("rank %d of %d found %d\n", rank, size, *(int *)sennit_ptr(box));
    if (sennit_free(box) != SENNIT_OK) return failed();
    return sennit_finalize() == SENNIT_OK ? 0 : failed();
}
