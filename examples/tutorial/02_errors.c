/* Step 2 of the tutorial: the errors of a call that fails.
 *     sennit run -n 4 02_errors
 */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>

/* snippet: must */
static void must(sennit_status status) {
    if (status == SENNIT_OK) return;
    const sennit_error *error = sennit_last_error();
    fprintf(stderr, "%s: %s: %s\n", error->operation, sennit_status_string(status), error->text);
    exit(1);
}
/* end of snippet */

int main(void) {
    must(sennit_init(NULL));
    if (sennit_rank() == 0) {
        /* snippet: wrong */
        sennit_gptr box;
        must(sennit_alloc_local(sizeof(int), 0, 0, &box));
        const int number = 42;
        const sennit_gptr too_far = sennit_gptr_add(box, sizeof(int));
        const sennit_status status = sennit_put(too_far, &number, sizeof number);
        printf("%s: %s\n", sennit_status_string(status), sennit_last_error()->text);
        /* end of snippet */
        if (status != SENNIT_ERR_RANGE) return 1;
        must(sennit_free(box));
    }
    must(sennit_finalize());
    return 0;
}
