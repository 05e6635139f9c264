/* Step 7 of the tutorial: several transfers at the same time, and work meanwhile.
 *     sennit run -n 4 07_requests
 */
#include "../must.h"

enum { COUNT = 1000 };

static double work(void) {
    double sum = 0;
    for (int i = 1; i <= 100000; ++i)
        sum += 1.0 / i;
    return sum;
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    sennit_gptr rows; /* a row from the left, a row from the right */
    must(sennit_alloc(SENNIT_TEAM_WORLD, 2 * COUNT * sizeof(double), 0, 0, &rows));
    const sennit_gptr from_left = rows;
    const sennit_gptr from_right = sennit_gptr_add(rows, COUNT * sizeof(double));
    double mine[COUNT];
    for (int i = 0; i < COUNT; ++i)
        mine[i] = rank;

    /* snippet: requests */
    /* Started now, complete when the wait has returned. Until then `mine` must not change. */
    sennit_request requests[2];
    must(sennit_put_nb(sennit_gptr_at(from_left, right), mine, sizeof mine, &requests[0]));
    must(sennit_put_nb(sennit_gptr_at(from_right, left), mine, sizeof mine, &requests[1]));
    double result = work();
    must(sennit_wait_all(2, requests, SENNIT_FOREVER));
    /* end of snippet */
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const double *came = sennit_ptr(rows);
    must_be(came[COUNT - 1] == left && came[COUNT] == right, "both rows have come");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); /* all ranks have checked */

    for (int i = 0; i < COUNT; ++i)
        mine[i] = -rank;
    /* The same without requests: the barrier completes this rank's operations. */
    must(sennit_put_nbi(sennit_gptr_at(from_left, right), mine, sizeof mine));
    must(sennit_put_nbi(sennit_gptr_at(from_right, left), mine, sizeof mine));
    result += work();
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must_be(came[0] == -left && came[2 * COUNT - 1] == -right, "both rows have come again");
    must_be(result > 24.1 && result < 24.2, "the work was done");
    if (rank == 0) printf("%d ranks sent %d numbers both ways, twice\n", size, COUNT);

    must(sennit_free(rows));
    must(sennit_finalize());
    return 0;
}
