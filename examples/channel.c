/* A pipeline: each rank gets a row from the rank before it, adds its number to each element, and
 * hands the row on. The rows are in the memory of the rank that reads them; nothing is copied.
 *     sennit run -n 4 channel
 */
#include "must.h"

enum { kElements = 1000, kRows = 20 };

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int last = sennit_size() - 1;
    sennit_gptr row;
    must(sennit_alloc(SENNIT_TEAM_WORLD, kElements * sizeof(double), 0, 0, &row));
    double *own = sennit_ptr(row);

    /* The next rank sends no data back, so this rank has no buffer for it. Rank 0 has no rank
     * before it, and the last rank has none after it. */
    int targets[2];
    void *buffers[2];
    size_t bytes[2];
    size_t count = 0;
    const size_t before = count;
    if (rank > 0) {
        targets[count] = rank - 1;
        buffers[count] = own;
        bytes[count++] = kElements * sizeof(double);
    }
    const size_t next = count;
    if (rank < last) {
        targets[count] = rank + 1;
        buffers[count] = NULL;
        bytes[count++] = 0;
    }
    const sennit_channel_ends ends = {count, targets, buffers, bytes};
    void *peers[2];
    sennit_channel channels[2];
    must(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, peers, channels));

    for (int number = 0; number < kRows; ++number) {
        if (rank > 0) {
            must(sennit_channel_wait_read(channels[before], SENNIT_FOREVER));
        } else {
            for (int i = 0; i < kElements; ++i)
                own[i] = 1000.0 * number + i;
        }
        if (rank < last) {
            must(sennit_channel_wait_write(channels[next], SENNIT_FOREVER));
            double *theirs = peers[next];
            for (int i = 0; i < kElements; ++i)
                theirs[i] = own[i] + rank;
            must(sennit_channel_have_written(channels[next]));
        }
        if (rank == last) {
            const double sum = (last * (last - 1)) / 2; /* of the ranks before */
            for (int i = 0; i < kElements; ++i)
                must_be(own[i] == 1000.0 * number + i + sum, "every rank has added its number");
        }
        if (rank > 0) must(sennit_channel_have_read(channels[before]));
    }

    must(sennit_channel_close(channels, count, SENNIT_FOREVER));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    if (rank == last) printf("%d rows went through %d ranks\n", kRows, last + 1);
    must(sennit_free(row));
    must(sennit_finalize());
    return 0;
}
