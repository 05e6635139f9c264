/* Step 4 of the tutorial: write into another rank's memory, and know when the data has arrived.
 *     sennit run -n 4 04_put
 */
#include "../must.h"

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    sennit_gptr box;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &box));

    /* snippet: put */
    const int right = (rank + 1) % size;
    must(sennit_put(sennit_gptr_at(box, right), &rank, sizeof rank));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));

    const int *mine = sennit_ptr(box);
    printf("rank %d found %d\n", rank, *mine);
    /* end of snippet */

    must_be(*mine == (rank + size - 1) % size, "the number of the rank on the left");
    must(sennit_free(box));
    must(sennit_finalize());
    return 0;
}
