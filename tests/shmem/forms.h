/* The type-generic forms that c11_test.c and cxx_test.cpp share: each name, with and without a
 * context if it takes one, towards the next PE. */
#ifndef SHMEM_TEST_FORMS_H
#define SHMEM_TEST_FORMS_H

#include "check.h"

static float form_to[12];
static const float form_from[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static uint64_t form_signal;
static unsigned form_bits;
static long form_word, form_words[4], form_sums[4];
static int form_all[64], form_part[64];

static int is_filled(int begin, int end) {
    for (int i = begin; i < end; ++i)
        if (form_to[i] != (float)(i + 1)) return 0;
    return 1;
}

static void move_forms(int next) {
    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    float mine[12];
    shmem_put(form_to, form_from, (size_t)1, next);
    shmem_put(ctx, form_to + 1, form_from + 1, (size_t)1, next);
    shmem_put_nbi(form_to + 2, form_from + 2, (size_t)1, next);
    shmem_put_nbi(ctx, form_to + 3, form_from + 3, (size_t)1, next);
    shmem_iput(form_to + 4, form_from + 4, 1, 1, (size_t)1, next);
    shmem_iput(ctx, form_to + 5, form_from + 5, 1, 1, (size_t)1, next);
    shmem_ibput(form_to + 6, form_from + 6, 1, 1, (size_t)1, (size_t)1, next);
    shmem_ibput(ctx, form_to + 7, form_from + 7, 1, 1, (size_t)1, (size_t)1, next);
    shmem_put_signal(form_to + 8, form_from + 8, (size_t)1, &form_signal, (uint64_t)1,
                     SHMEM_SIGNAL_ADD, next);
    shmem_put_signal(ctx, form_to + 9, form_from + 9, (size_t)1, &form_signal, (uint64_t)1,
                     SHMEM_SIGNAL_ADD, next);
    shmem_put_signal_nbi(form_to + 10, form_from + 10, (size_t)1, &form_signal, (uint64_t)1,
                         SHMEM_SIGNAL_ADD, next);
    shmem_put_signal_nbi(ctx, form_to + 11, form_from + 11, (size_t)1, &form_signal, (uint64_t)1,
                         SHMEM_SIGNAL_ADD, next);
    shmem_signal_add(&form_signal, (uint64_t)3, next);
    shmem_signal_add(ctx, &form_signal, (uint64_t)3, next);
    CHECK(shmem_signal_wait_until(&form_signal, SHMEM_CMP_EQ, 10) == 10);
    shmem_barrier_all();
    CHECK(is_filled(0, 12));
    shmem_get(mine, form_to, (size_t)2, next);
    shmem_get(ctx, mine + 2, form_to + 2, (size_t)2, next);
    shmem_get_nbi(mine + 4, form_to + 4, (size_t)1, next);
    shmem_get_nbi(ctx, mine + 5, form_to + 5, (size_t)1, next);
    shmem_iget(mine + 6, form_to + 6, 1, 1, (size_t)1, next);
    shmem_iget(ctx, mine + 7, form_to + 7, 1, 1, (size_t)1, next);
    shmem_ibget(mine + 8, form_to + 8, 1, 1, (size_t)1, (size_t)1, next);
    shmem_ibget(ctx, mine + 9, form_to + 9, 1, 1, (size_t)1, (size_t)1, next);
    mine[10] = shmem_g(form_to + 10, next);
    mine[11] = shmem_g(ctx, form_to + 11, next);
    shmem_quiet();
    CHECK(memcmp(mine, form_from, sizeof mine) == 0);
    shmem_barrier_all();
    shmem_p(form_to, 20.5f, next);
    shmem_p(ctx, form_to + 1, 21.5f, next);
    shmem_signal_set(&form_signal, (uint64_t)7, next);
    shmem_barrier_all();
    CHECK(form_to[0] == 20.5f && form_to[1] == 21.5f && form_signal == 7);
    shmem_barrier_all();
    shmem_signal_set(ctx, &form_signal, (uint64_t)0, next);
    shmem_barrier_all();
    CHECK(form_signal == 0);
}

/* Each form changes a word that only this PE changes; the old values show which forms were called.
 */
static void atomic_forms(int next) {
    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    long *const word = &form_word;
    long old[5] = {0, 0, 0, 0, 0};
    shmem_atomic_set(word, 10L, next);
    CHECK(shmem_atomic_fetch(word, next) == 10);
    shmem_atomic_set(ctx, word, 100L, next);
    shmem_atomic_add(word, 5L, next);
    shmem_atomic_add(ctx, word, 5L, next);
    shmem_atomic_inc(word, next);
    shmem_atomic_inc(ctx, word, next);
    CHECK(shmem_atomic_fetch_add(word, 8L, next) == 112);
    CHECK(shmem_atomic_fetch_inc(word, next) == 120);
    shmem_atomic_fetch_add_nbi(&old[0], word, 9L, next);
    shmem_atomic_fetch_inc_nbi(&old[1], word, next);
    shmem_atomic_fetch_nbi(&old[2], word, next);
    shmem_quiet();
    CHECK(old[0] == 121 && old[1] == 130 && old[2] == 131);
    shmem_atomic_swap_nbi(&old[3], word, 1L, next);
    shmem_atomic_compare_swap_nbi(&old[4], word, 1L, 2L, next);
    shmem_quiet();
    CHECK(old[3] == 131 && old[4] == 1);
    CHECK(shmem_atomic_compare_swap(word, 2L, 3L, next) == 2);
    CHECK(shmem_atomic_swap(word, 4L, next) == 3 && shmem_atomic_fetch(ctx, word, next) == 4);
    shmem_set(word, 5L, next);
    CHECK(shmem_fetch(word, next) == 5 && shmem_swap(word, 6L, next) == 5);
    CHECK(shmem_cswap(word, 6L, 7L, next) == 6 && shmem_finc(word, next) == 7);
    shmem_inc(word, next);
    CHECK(shmem_fadd(word, 10L, next) == 9);
    shmem_add(word, 1L, next);
    CHECK(shmem_fetch(word, next) == 20);
}

static void bit_forms(int next) {
    unsigned *const word = &form_bits, old[3] = {0, 0, 0};
    shmem_atomic_or(word, 0xf0fu, next);
    shmem_atomic_and(word, 0xffu, next);
    shmem_atomic_xor(word, 0x3u, next);
    CHECK(shmem_atomic_fetch_or(word, 0x30u, next) == 0xc);
    CHECK(shmem_atomic_fetch_and(word, 0x38u, next) == 0x3c);
    CHECK(shmem_atomic_fetch_xor(word, 0x1u, next) == 0x38);
    shmem_atomic_fetch_or_nbi(&old[0], word, 0x4u, next);
    shmem_atomic_fetch_and_nbi(&old[1], word, 0xfu, next);
    shmem_atomic_fetch_xor_nbi(&old[2], word, 0xffu, next);
    shmem_quiet();
    CHECK(old[0] == 0x39 && old[1] == 0x3d && old[2] == 0xd);
    CHECK(shmem_atomic_fetch(word, next) == 0xf2);
    shmem_barrier_all();
}

static void wait_forms(int next) {
    const long values[4] = {1, 2, 3, 4};
    size_t indices[4];
    long *const words = form_words;
    CHECK(shmem_test_any(words, (size_t)4, (const int *)NULL, SHMEM_CMP_NE, 0L) == SIZE_MAX);
    CHECK(shmem_test_some(words, (size_t)4, indices, (const int *)NULL, SHMEM_CMP_NE, 0L) == 0);
    shmem_barrier_all();
    for (int i = 0; i < 4; ++i)
        shmem_atomic_set(words + i, values[i], next);
    shmem_wait_until(words, SHMEM_CMP_EQ, 1L);
    shmem_wait_until_all(words, (size_t)4, (const int *)NULL, SHMEM_CMP_GE, 1L);
    CHECK(shmem_wait_until_any(words, (size_t)4, (const int *)NULL, SHMEM_CMP_EQ, 3L) == 2);
    CHECK(shmem_wait_until_some(words, (size_t)4, indices, (const int *)NULL, SHMEM_CMP_GT, 2L) ==
          2);
    shmem_wait_until_all_vector(words, (size_t)4, (const int *)NULL, SHMEM_CMP_EQ, values);
    CHECK(shmem_wait_until_any_vector(words, (size_t)4, (const int *)NULL, SHMEM_CMP_EQ, values) <
          4);
    CHECK(shmem_wait_until_some_vector(words, (size_t)4, indices, (const int *)NULL, SHMEM_CMP_EQ,
                                       values) == 4);
    CHECK(shmem_test(words, SHMEM_CMP_EQ, 1L) == 1);
    CHECK(shmem_test_all(words, (size_t)4, (const int *)NULL, SHMEM_CMP_LE, 3L) == 0);
    CHECK(shmem_test_all_vector(words, (size_t)4, (const int *)NULL, SHMEM_CMP_LE, values) == 1);
    CHECK(shmem_test_any_vector(words, (size_t)4, (const int *)NULL, SHMEM_CMP_NE, values) ==
          SIZE_MAX);
    CHECK(shmem_test_some_vector(words, (size_t)4, indices, (const int *)NULL, SHMEM_CMP_GE,
                                 values) == 4);
    shmem_barrier_all();
}

static void team_forms(int me, int pes) {
    const shmem_team_t team = SHMEM_TEAM_WORLD;
    for (int i = 0; i < 64; ++i)
        form_part[i] = me * 10 + i;
    shmem_sync(team);
    CHECK(shmem_broadcast(team, form_all, form_part, (size_t)2, pes - 1) == 0);
    CHECK(form_all[1] == (pes - 1) * 10 + 1);
    shmem_sync(team);
    CHECK(shmem_collect(team, form_all, form_part, (size_t)2) == 0 &&
          form_all[2 * pes - 1] == (pes - 1) * 10 + 1);
    shmem_sync(team);
    CHECK(shmem_fcollect(team, form_all, form_part, (size_t)1) == 0 &&
          form_all[pes - 1] == (pes - 1) * 10);
    shmem_sync(team);
    CHECK(shmem_alltoall(team, form_all, form_part, (size_t)1) == 0 &&
          form_all[pes - 1] == (pes - 1) * 10 + me);
    shmem_sync(team);
    CHECK(shmem_alltoalls(team, form_all, form_part, 2, 3, (size_t)1) == 0);
    CHECK(form_all[2 * (pes - 1)] == (pes - 1) * 10 + 3 * me);
    shmem_sync(team);
    CHECK(shmem_max_reduce(team, form_all, form_part, (size_t)1) == 0 &&
          form_all[0] == (pes - 1) * 10);
    CHECK(shmem_min_reduce(team, form_all, form_part, (size_t)1) == 0 && form_all[0] == 0);
    form_sums[0] = me + 1;
    form_bits = 1u << me;
    static unsigned result;
    long product = 1;
    for (int i = 2; i <= pes; ++i)
        product *= i;
    shmem_sync(team);
    CHECK(shmem_sum_reduce(team, form_sums + 1, form_sums, (size_t)1) == 0 &&
          form_sums[1] == pes * (pes + 1) / 2);
    CHECK(shmem_prod_reduce(team, form_sums + 1, form_sums, (size_t)1) == 0 &&
          form_sums[1] == product);
    CHECK(shmem_sum_inscan(team, form_sums + 2, form_sums, (size_t)1) == 0);
    CHECK(form_sums[2] == (me + 1) * (me + 2) / 2);
    CHECK(shmem_sum_exscan(team, form_sums + 3, form_sums, (size_t)1) == 0);
    CHECK(form_sums[3] == me * (me + 1) / 2);
    CHECK(shmem_or_reduce(team, &result, &form_bits, (size_t)1) == 0 && result == (1u << pes) - 1);
    CHECK(shmem_xor_reduce(team, &result, &form_bits, (size_t)1) == 0 && result == (1u << pes) - 1);
    CHECK(shmem_and_reduce(team, &result, &form_bits, (size_t)1) == 0 &&
          result == (pes == 1 ? 1u : 0u));
    shmem_sync(team);
}

static void all_forms(void) {
    const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes;
    move_forms(next);
    atomic_forms(next);
    bit_forms(next);
    wait_forms(next);
    team_forms(me, pes);
}

#endif
