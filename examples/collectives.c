/* Collective calls: the mean and the greatest of the ranks' numbers, and a request that runs while
 * the rank does other work.
 *     sennit run -n 4 collectives
 */
#include "must.h"

enum { COUNT = 1000 };

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    const sennit_team world = SENNIT_TEAM_WORLD;

    double mine[COUNT];
    for (int i = 0; i < COUNT; ++i)
        mine[i] = rank + 0.001 * i;

    /* Rank 0 gives the factor by which all ranks multiply. */
    double factor = rank == 0 ? 2.0 : 0.0;
    must(sennit_broadcast(world, 0, &factor, sizeof factor, SENNIT_FOREVER));
    for (int i = 0; i < COUNT; ++i)
        mine[i] *= factor;

    /* The sums of all ranks' elements. The request runs while this rank looks for its greatest
     * element; meanwhile it may read `mine`, but must not change it. */
    double sums[COUNT];
    sennit_request request;
    must(sennit_allreduce_nb(world, mine, sums,
                             sennit_reduction_of(COUNT, SENNIT_DOUBLE, SENNIT_SUM), &request));
    double greatest = mine[0];
    for (int i = 1; i < COUNT; ++i)
        if (mine[i] > greatest) greatest = mine[i];
    must(sennit_wait(&request, SENNIT_FOREVER));
    must_be(sums[0] == (double)(size * (size - 1)), "the sum of the first elements");

    /* In place: the result replaces the input. */
    must(sennit_allreduce(world, SENNIT_IN_PLACE, &greatest,
                          sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_MAX), SENNIT_FOREVER));
    must_be(greatest == factor * (size - 1 + 0.001 * (COUNT - 1)), "the greatest of all");

    /* The number of elements before those of this rank, if the ranks' elements are concatenated. */
    long before = 0;
    const long count = COUNT;
    must(sennit_scan_exclusive(world, &count, &before,
                               sennit_reduction_of(1, SENNIT_INT64, SENNIT_SUM), SENNIT_FOREVER));
    must_be(before == (long)rank * COUNT, "where this rank's elements begin");

    if (rank == 0) printf("%d ranks, the greatest of their numbers is %.3f\n", size, greatest);
    must(sennit_finalize());
    return 0;
}
