/* Step 1 of the tutorial: start as a rank, print its number, end.
 *     sennit run -n 4 01_hello
 */
#include <sennit/sennit.h>
#include <stdio.h>

int main(void) {
    if (sennit_init(NULL) != SENNIT_OK) {
        fprintf(stderr, "%s\n", sennit_last_error()->text);
        return 1;
    }
    printf("rank %d of %d\n", sennit_rank(), sennit_size());
    return sennit_finalize() == SENNIT_OK ? 0 : 1;
}
