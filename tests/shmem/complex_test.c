/* Complex numbers of C, for a program that includes complex.h itself: every function for them by
 * its name, and the forms that choose by type. */
#include <complex.h>

#include "check.h"

static long work_sync[SHMEM_REDUCE_SYNC_SIZE], other_sync[SHMEM_REDUCE_SYNC_SIZE];

/* The product, and the sum up to a PE, as every PE computes them itself. */
#define COMPLEX_TEST(T, N, ...)                                               \
    static T N##_of(int pe) {                                                 \
        return (T)(1 + pe % 3 + 2 * I);                                       \
    }                                                                         \
    static void complex_##N(void) {                                           \
        static T from[2], to[2], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 2];     \
        const int me = shmem_my_pe(), pes = shmem_n_pes();                    \
        T product = N##_of(0), sum = N##_of(0), before = 0, with = N##_of(0); \
        for (int pe = 1; pe < pes; ++pe) {                                    \
            product *= N##_of(pe);                                            \
            sum += N##_of(pe);                                                \
        }                                                                     \
        for (int pe = 0; pe < me; ++pe) {                                     \
            before += N##_of(pe);                                             \
            with += N##_of(pe + 1);                                           \
        }                                                                     \
        from[0] = N##_of(me);                                                 \
        from[1] = conj(N##_of(me));                                           \
        CHECK(shmem_##N##_sum_reduce(SHMEM_TEAM_WORLD, to, from, 2) == 0);    \
        CHECK(to[0] == sum && to[1] == (T)conj(sum));                         \
        CHECK(shmem_prod_reduce(SHMEM_TEAM_WORLD, to, from, 2) == 0);         \
        CHECK(to[0] == product && to[1] == (T)conj(product));                 \
        CHECK(shmem_##N##_sum_inscan(SHMEM_TEAM_WORLD, to, from, 2) == 0);    \
        CHECK(to[0] == with && to[1] == (T)conj(with));                       \
        CHECK(shmem_sum_exscan(SHMEM_TEAM_WORLD, to, from, 2) == 0);          \
        CHECK(to[0] == before && to[1] == (T)conj(before));                   \
        shmem_##N##_sum_to_all(to, from, 2, 0, 0, pes, work, work_sync);      \
        CHECK(to[0] == sum && to[1] == (T)conj(sum));                         \
        shmem_##N##_prod_to_all(to, from, 2, 0, 0, pes, work, other_sync);    \
        CHECK(to[0] == product && to[1] == (T)conj(product));                 \
        shmem_barrier_all();                                                  \
    }
COMPLEX_TEST(double complex, complexd)
COMPLEX_TEST(float complex, complexf)

int main(int argc, char **argv) {
    static const struct test tests[] = {{"double", complex_complexd}, {"float", complex_complexf}};
    return run_tests(tests, 2, argc, argv);
}
