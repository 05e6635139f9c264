/* A calloc() that fails for requests of NO_MEMORY bytes in the rank NO_MEMORY_RANK. Loaded by
 * LD_PRELOAD. */
#include <stdlib.h>
#include <string.h>

void *__libc_calloc(size_t count, size_t bytes);

void *calloc(size_t count, size_t bytes) {
    const char *const none = getenv("NO_MEMORY");
    const char *const where = getenv("NO_MEMORY_RANK");
    const char *const rank = getenv("SENNIT_RANK");
    if (none != NULL && where != NULL && rank != NULL && strcmp(where, rank) == 0 &&
        count * bytes == strtoull(none, NULL, 10))
        return NULL;
    return __libc_calloc(count, bytes);
}
