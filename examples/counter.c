/* Work items of uneven size are distributed by a counter to which all ranks add. Results go into a
 * histogram by accumulate. A lock protects data of more than one word.
 *     sennit run -n 4 counter
 */
#include "must.h"

enum { kItems = 1000, kBins = 16 };

/* Two words that belong together: the largest result so far, and its item. */
struct record {
    int64_t value;
    int64_t item;
};

static int64_t result_of(int64_t item) {
    return item * item * 7919 % 10007;
}

static void keep_if_largest(sennit_lock lock, sennit_gptr place, struct record mine) {
    struct record best;
    must(sennit_lock_acquire(lock, SENNIT_FOREVER));
    must(sennit_get(&best, place, sizeof best));
    if (mine.value > best.value) must(sennit_put(place, &mine, sizeof mine));
    must(sennit_lock_release(lock));
}

int main(void) {
    must(sennit_init(NULL));
    sennit_gptr counter;
    sennit_gptr histogram;
    sennit_gptr largest;
    sennit_lock lock;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int64_t), 0, 0, &counter));
    must(sennit_alloc(SENNIT_TEAM_WORLD, kBins * sizeof(uint32_t), 0, 0, &histogram));
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(struct record), 0, 0, &largest));
    must(sennit_lock_create(SENNIT_TEAM_WORLD, &lock));

    /* Rank 0 keeps the counter, the last rank the results. */
    const sennit_gptr next = sennit_gptr_at(counter, 0);
    const int keeper = sennit_size() - 1;
    uint32_t bins[kBins] = {0};
    struct record mine = {-1, -1};
    for (;;) {
        int64_t item;
        must(sennit_atomic_fetch_inc_i64(next, &item));
        if (item >= kItems) break;
        const int64_t result = result_of(item);
        ++bins[result % kBins];
        if (result > mine.value) mine = (struct record){result, item};
    }
    must(sennit_accumulate(sennit_gptr_at(histogram, keeper), bins, kBins, SENNIT_UINT32,
                           SENNIT_SUM));
    keep_if_largest(lock, sennit_gptr_at(largest, keeper), mine);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));

    if (sennit_rank() == keeper) {
        const uint32_t *all = sennit_ptr(histogram);
        const struct record *best = sennit_ptr(largest);
        uint32_t sum = 0;
        for (int bin = 0; bin < kBins; ++bin)
            sum += all[bin];
        must_be(sum == kItems, "every item in the histogram, once");
        must_be(best->value == result_of(best->item), "the largest result of its item");
        for (int64_t item = 0; item < kItems; ++item)
            must_be(result_of(item) <= best->value, "the largest result");
        printf("%u items by %d ranks; the largest result is %lld\n", sum, sennit_size(),
               (long long)best->value);
    }
    must(sennit_lock_destroy(lock));
    must(sennit_free(largest));
    must(sennit_free(histogram));
    must(sennit_free(counter));
    must(sennit_finalize());
    return 0;
}
