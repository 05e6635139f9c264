/* A rank that puts more bytes than its private buffer has. The size depends on the number of
 * arguments, so the compiler does not see the mistake. */
#include <sennit/sennit.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
    const size_t bytes = 64 * (size_t)count;
    sennit_gptr memory = SENNIT_GPTR_NULL;
    (void)arguments;
    char *const buffer = malloc(16);
    if (buffer == NULL || sennit_init(NULL) != SENNIT_OK) return 1;
    memset(buffer, 1, 16);
    if (sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &memory) != SENNIT_OK) return 1;
    if (sennit_put(memory, buffer, bytes) != SENNIT_OK) return 1;
    free(buffer);
    return sennit_finalize() != SENNIT_OK;
}
