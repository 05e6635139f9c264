/* Registers memory that was never written, of sizes within a page and over several pages, and ends.
   valgrind must find no error. Broken by a check of the buffer's pages that valgrind treats as a
   use of their bytes. */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    if (sennit_init(NULL) != SENNIT_OK) return 1;
    for (size_t i = 0; i < 4; ++i) {
        const size_t bytes = i * 5000 + 64;
        sennit_region region;
        void *memory = malloc(bytes);
        if (memory == NULL) return 1;
        if (sennit_register(memory, bytes, 0, &region) != SENNIT_OK ||
            sennit_deregister(region) != SENNIT_OK) {
            fprintf(stderr, "%s\n", sennit_last_error()->text);
            return 1;
        }
        free(memory);
    }
    return sennit_finalize() == SENNIT_OK ? 0 : 1;
}
