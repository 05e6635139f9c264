/* The C11 forms: each macro once with a type of its table, and with a context if it takes one. The
 * types are right if the program compiles without a warning and the values are right. */
#include "check.h"
#include "forms.h"

static short shorts[4];
static int ints[4];
static unsigned bits;
static double numbers[4];
static uint64_t signal_word;

static void forms(void) {
    const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes;
    const int before = (me + pes - 1) % pes;
    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    const double mine[4] = {me, me + 1, me + 2, me + 3};
    shmem_put(numbers, mine, 1, next);
    shmem_put_nbi(ctx, numbers + 1, mine + 1, 1, next);
    shmem_iput(ctx, numbers + 2, mine + 2, 1, 1, 1, next);
    shmem_ibput(numbers + 3, mine + 3, 1, 1, 1, 1, next);
    shmem_p(ctx, shorts, (short)(me + 2), next);
    shmem_barrier_all();
    for (int i = 0; i < 4; ++i)
        CHECK(numbers[i] == before + i);
    CHECK(shmem_g(shorts, next) == me + 2 && shmem_g(ctx, shorts, me) == before + 2);
    double got[4];
    shmem_get(got, numbers, 1, me);
    shmem_get_nbi(ctx, got + 1, numbers + 1, 1, me);
    shmem_iget(got + 2, numbers + 2, 1, 1, 1, me);
    shmem_ibget(ctx, got + 3, numbers + 3, 1, 1, 1, 1, me);
    shmem_quiet();
    CHECK(memcmp(got, numbers, sizeof got) == 0);
    shmem_barrier_all();
    int old = -1;
    shmem_atomic_add(ints, 1, 0);
    shmem_atomic_inc(ctx, ints, 0);
    (void)shmem_atomic_fetch_add(ints, 1, 0);
    (void)shmem_atomic_fetch_inc(ints, 0);
    shmem_atomic_fetch_add_nbi(ctx, &old, ints, 1, 0);
    shmem_atomic_or(&bits, 1u << me, 0);
    (void)shmem_atomic_fetch_or(ctx, &bits, 1u << me, 0);
    shmem_barrier_all();
    CHECK(shmem_atomic_fetch(ints, 0) == 5 * pes);
    CHECK(shmem_atomic_fetch(ctx, &bits, 0) == (1u << pes) - 1);
    (void)shmem_atomic_swap(numbers, 2.5, me);
    CHECK(shmem_atomic_compare_swap(ints + 1, 0, 7, me) == 0 && ints[1] == 7);
    CHECK(shmem_cswap(ints + 1, 7, 8, me) == 7 && shmem_finc(ints + 1, me) == 8);
    CHECK(shmem_fetch(ints + 1, me) == 9 && numbers[0] == 2.5);
    shmem_barrier_all();
    shmem_put_signal(ctx, numbers, mine, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_add(ctx, &signal_word, 1, next);
    shmem_wait_until(&signal_word, SHMEM_CMP_EQ, 2);
    CHECK(shmem_test(&signal_word, SHMEM_CMP_LT, 2) == 0);
    shmem_signal_set(&signal_word, 0, me);
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_p(shorts + 1, 4, next);
    size_t indices[4];
    CHECK(shmem_wait_until_any(shorts + 1, 1, NULL, SHMEM_CMP_EQ, 4) == 0);
    CHECK(shmem_test_some(shorts, 2, indices, NULL, SHMEM_CMP_EQ, 4) >= 1);
    shmem_wait_until_all(ints, 0, NULL, SHMEM_CMP_EQ, 4);
    float _Complex a[2] = {1, 2};
    static float _Complex from[2], to[2];
    memcpy(from, a, sizeof a);
    shmem_sync(SHMEM_TEAM_WORLD);
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, to, from, 2) == 0 && to[1] == 2.0f * (float)pes);
    CHECK(shmem_max_reduce(SHMEM_TEAM_WORLD, shorts + 2, shorts + 1, 1) == 0 && shorts[2] == 4);
    CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, ints + 2, ints + 1, 1, 0) == 0 && ints[2] == 9);
    static long work[SHMEM_SYNC_SIZE];
    shmem_sync(0, 0, pes, work);
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(forms), TEST(all_forms)};
    return run_tests(tests, 2, argc, argv);
}
