/* Each rank puts its number into the memory of the next rank; then each rank reads the numbers of
 * all.
 *     sennit run -n 4 ring
 */
#include "must.h"

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;

    /* One int on every rank. `mine` names this rank's int; sennit_gptr_at names another rank's. */
    sennit_gptr mine;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &mine));

    must(sennit_put(sennit_gptr_at(mine, next), &rank, sizeof rank));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));

    /* The barrier ordered the put before this load. */
    const int *inbox = sennit_ptr(mine);
    must_be(inbox != NULL && *inbox == previous, "the number of the rank before");

    int sum = 0;
    for (int peer = 0; peer < size; ++peer) {
        int number;
        must(sennit_get(&number, sennit_gptr_at(mine, peer), sizeof number));
        sum += number;
    }
    must_be(sum == size * (size - 1) / 2, "the sum of all numbers");
    if (rank == 0) printf("%d ranks in a ring, sum of their numbers %d\n", size, sum);

    must(sennit_free(mine));
    must(sennit_finalize());
    return 0;
}
