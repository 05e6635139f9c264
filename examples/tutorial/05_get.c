/* Step 5 of the tutorial: read another rank's memory, without a call by that rank.
 *     sennit run -n 4 05_get
 */
#include "../must.h"

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    sennit_gptr box;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &box));

    /* snippet: get */
    int *mine = sennit_ptr(box);
    *mine = rank * rank;                                     /* everyone fills its own box */
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); /* ... and has done so */

    int sum = 0;
    if (rank == 0)
        for (int peer = 0; peer < size; ++peer) {
            int number;
            must(sennit_get(&number, sennit_gptr_at(box, peer), sizeof number));
            sum += number;
        }
    /* end of snippet */

    if (rank == 0) {
        must_be(sum == (size - 1) * size * (2 * size - 1) / 6, "the sum of the squares");
        printf("rank 0 gathered squares with the sum %d\n", sum);
    }
    must(sennit_free(box)); /* waits for all: no rank frees its box while rank 0 reads it */
    must(sennit_finalize());
    return 0;
}
