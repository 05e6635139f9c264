/* Programs like the examples of the standard, written anew: transfers, order, atomic operations,
 * signals, waiting. In the style of real programs: type-generic forms, PEs that do different
 * things, and only the necessary synchronization. */
#include "check.h"

enum { kPart = 50 };
static int me, pes, next, before, second;

/* PE 0 gives to the second PE (to itself if it is the only PE). */
static void one_gives_to_another(void) {
    static long many[10];
    static short every_other[5], to_all[16];
    static double number = 3.25;
    static int one;
    const long tens[10] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    const short shorts[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    CHECK(me >= 0 && me < pes);
    if (me == 0) {
        const int value = 33;
        shmem_put(&one, &value, 1, second);
        shmem_put(many, tens, 10, second);
        shmem_iput(every_other, shorts, 1, 2, 5, second);
        shmem_p(&number, 2.75, second);
        for (int pe = 0; pe < pes; ++pe)
            shmem_put(to_all, shorts, 16, pe);
    }
    shmem_barrier_all();
    CHECK(number == (me == second ? 2.75 : 3.25) && one == (me == second ? 33 : 0));
    CHECK(to_all[0] == 1 && to_all[15] == 16);
    for (int i = 0; i < 10; ++i)
        CHECK(many[i] == (me == second ? tens[i] : 0));
    for (int i = 0; i < 5; ++i)
        CHECK(every_other[i] == (me == second ? 2 * i + 1 : 0));
}

/* The first PE reads a word of the last one, and nobody waits for it before the end. */
static void one_looks_at_another(void) {
    static long value = 10101;
    if (me == 0) CHECK(shmem_g(&value, pes - 1) == 10101);
}

/* Stores through a pointer, if there is one. */
static void stores_by_a_pointer(void) {
    static int row[4];
    int *const there = me == 0 ? shmem_ptr(row, second) : NULL;
    if (there != NULL) {
        for (int i = 0; i < 4; ++i)
            there[i] = i + 1;
    } else if (me == 0) {
        const int values[4] = {1, 2, 3, 4};
        shmem_put(row, values, 4, second);
    }
    shmem_barrier_all();
    for (int i = 0; i < 4; ++i)
        CHECK(row[i] == (me == second ? i + 1 : 0));
}

/* Two target PEs, and one fence between data and flags. */
static void fence_between_data_and_flags(void) {
    static long data[10];
    static int flag;
    const int third = 2 % pes, value = 99;
    const long numbers[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    if (me == 0) {
        shmem_put(data, numbers, 10, second);
        shmem_put(data, numbers, 10, third);
        shmem_fence();
        shmem_put(&flag, &value, 1, second);
        shmem_put(&flag, &value, 1, third);
    }
    if (me == second || me == third) {
        shmem_wait_until(&flag, SHMEM_CMP_EQ, 99);
        for (int i = 0; i < 10; ++i)
            CHECK(data[i] == i + 1);
    }
}

/* After a quiet the data can be read back from its target. */
static void quiet_before_reading_back(void) {
    static long data[3];
    static int word;
    const int third = 2 % pes, value = 90;
    if (me == 0) {
        const long numbers[3] = {1, 2, 3};
        long seen[3] = {0};
        int seen_word = 0;
        shmem_put_nbi(data, numbers, 3, second);
        shmem_put_nbi(&word, &value, 1, third);
        shmem_quiet();
        shmem_get(seen, data, 3, second);
        shmem_get(&seen_word, &word, 1, third);
        CHECK(memcmp(seen, numbers, sizeof seen) == 0 && seen_word == 90);
    }
}

/* One PE changes another PE's word, and the owner sees the change after a barrier. */
static void changes_of_a_word(void) {
    static int incremented = 74, fetched = 22, added = 22;
    static long swapped;
    swapped = me;
    shmem_barrier_all();
    if (me == 0) {
        shmem_atomic_inc(&incremented, second);
        CHECK(shmem_atomic_fetch_inc(&fetched, second) == 22);
    }
    if (me == second) CHECK(shmem_atomic_fetch_add(&added, 44, 0) == 22);
    /* Odd PEs swap with the even PEs after them. */
    if (me % 2 == 1) CHECK(shmem_atomic_swap(&swapped, (long)me, next) == next);
    shmem_barrier_all();
    CHECK(incremented == (me == second ? 75 : 74) && fetched == (me == second ? 23 : 22));
    CHECK(added == (me == 0 ? 66 : 22));
    CHECK(swapped == (before % 2 == 1 && me % 2 == 0 ? before : me));
}

/* One PE is first, and all agree which one. */
static void race_for_a_word(void) {
    static int winner = -1, firsts, all_firsts;
    firsts = shmem_atomic_compare_swap(&winner, -1, me, 0) == -1;
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, &all_firsts, &firsts, 1) == 0 && all_firsts == 1);
    CHECK(!firsts || shmem_atomic_fetch(&winner, 0) == me);
}

/* Some operations on one word do not exclude each other. Correct programs use one type, a barrier
 * before a reduction, and an atomic operation by the owner, too. */
static void atomic_operations_exclude_each_other(void) {
    static uint64_t bits;
    static int sum, of_all, counted;
    if (me > 0)
        shmem_atomic_or(&bits, (uint64_t)1 << (me + 32), 0);
    else
        shmem_atomic_or(&bits, (uint64_t)1, 0);
    for (int i = 0; i < 1000; ++i) {
        shmem_atomic_inc(&sum, next);
        shmem_atomic_inc(&counted, 0);
    }
    shmem_barrier_all();
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, &of_all, &sum, 1) == 0 && of_all == 1000 * pes);
    if (me != 0) return;
    CHECK(counted == 1000 * pes && bits == ((((uint64_t)1 << pes) - 2) << 32) + 1);
}

/* A message goes round through all PEs; each passes it on when its signal arrives. */
static void message_round_the_ring(void) {
    enum { kLong = 2048 };
    static uint64_t arrived;
    uint64_t *const data = shmem_calloc(kLong, sizeof *data);
    uint64_t *const message = malloc(kLong * sizeof *message);
    for (size_t i = 0; i < kLong; ++i)
        message[i] = 7 * i + (unsigned)me;
    if (me == 0) shmem_put_signal(data, message, kLong, &arrived, 1, SHMEM_SIGNAL_SET, next);
    shmem_wait_until(&arrived, SHMEM_CMP_EQ, 1);
    if (me != 0) shmem_put_signal(data, data, kLong, &arrived, 1, SHMEM_SIGNAL_SET, next);
    for (size_t i = 0; i < kLong; ++i)
        CHECK(data[i] == 7 * i);
    free(message);
    shmem_free(data);
}

/* A count that only the lock protects. */
static void count_under_a_lock(void) {
    static long lock;
    static int count;
    for (int i = 0; i < 50; ++i) {
        shmem_set_lock(&lock);
        const int value = shmem_g(&count, 0);
        shmem_p(&count, value + 1, 0);
        shmem_clear_lock(&lock);
        CHECK(value >= i && value < 50 * pes);
    }
    shmem_barrier_all();
    CHECK(me != 0 || count == 50 * pes);
}

/* All PEs send to all, and each uses the parts in the order in which they arrive. */
static int *all_parts, *flags;

static void send_parts(int *mine) {
    all_parts = shmem_malloc((size_t)(kPart * pes) * sizeof *all_parts);
    flags = shmem_calloc((size_t)pes, sizeof *flags);
    for (int i = 0; i < kPart; ++i)
        mine[i] = me * kPart + i;
    for (int pe = 0; pe < pes; ++pe)
        shmem_put_nbi(&all_parts[me * kPart], mine, kPart, pe);
    shmem_fence();
    for (int pe = 0; pe < pes; ++pe)
        shmem_atomic_set(&flags[me], 1 + me % 2, pe);
}
static int sum_of(size_t pe) {
    int sum = 0;
    for (size_t i = 0; i < kPart; ++i)
        sum += all_parts[pe * kPart + i];
    return sum;
}
static void check_sum(int sum) {
    const int count = kPart * pes;
    CHECK(sum == count * (count - 1) / 2);
    shmem_free(flags);
    shmem_free(all_parts);
}

static void parts_one_by_one(void) {
    int mine[kPart], sum = 0, *const status = calloc((size_t)pes, sizeof *status);
    send_parts(mine);
    for (int i = 0; i < pes; ++i) {
        const size_t pe = shmem_wait_until_any(flags, (size_t)pes, status, SHMEM_CMP_NE, 0);
        sum += sum_of(pe);
        status[pe] = 1;
    }
    check_sum(sum);
    free(status);
}

static void parts_that_are_there(void) {
    int mine[kPart], sum = 0, *const status = calloc((size_t)pes, sizeof *status);
    size_t *const which = calloc((size_t)pes, sizeof *which), count;
    send_parts(mine);
    while ((count = shmem_wait_until_some(flags, (size_t)pes, which, status, SHMEM_CMP_NE, 0)) !=
           0) {
        for (size_t i = 0; i < count; ++i) {
            sum += sum_of(which[i]);
            status[which[i]] = 1;
        }
    }
    check_sum(sum);
    free(which);
    free(status);
}

static void parts_beside_other_work(void) {
    int mine[kPart], sum = 0, left = pes, *const status = calloc((size_t)pes, sizeof *status);
    size_t *const which = calloc((size_t)pes, sizeof *which);
    send_parts(mine);
    for (int turn = 0; left > 0; ++turn) {
        size_t count = 0;
        if (turn % 2 == 0)
            count = shmem_test_some(flags, (size_t)pes, which, status, SHMEM_CMP_NE, 0);
        else if ((which[0] = shmem_test_any(flags, (size_t)pes, status, SHMEM_CMP_NE, 0)) !=
                 SIZE_MAX)
            count = 1;
        for (size_t i = 0; i < count; ++i) {
            sum += sum_of(which[i]);
            status[which[i]] = 1;
        }
        left -= (int)count;
    }
    check_sum(sum);
    free(which);
    free(status);
}

/* Each PE is waited for with a different value; then all flags together form a barrier. */
static void values_of_their_own(void) {
    int mine[kPart], sum = 0;
    int *const status = calloc((size_t)pes, sizeof *status), *const values = calloc((size_t)pes,
                                                                                    sizeof *values);
    send_parts(mine);
    for (int pe = 0; pe < pes; ++pe)
        values[pe] = pe % 2 + 1;
    for (int i = 0; i < pes; ++i) {
        const size_t pe =
            shmem_wait_until_any_vector(flags, (size_t)pes, status, SHMEM_CMP_EQ, values);
        status[pe] = 1;
        sum += flags[pe];
    }
    CHECK(sum == pes + pes / 2);
    shmem_wait_until_all(flags, (size_t)pes, NULL, SHMEM_CMP_GT, 0);
    sum = 0;
    for (int pe = 0; pe < pes; ++pe)
        sum += sum_of((size_t)pe);
    check_sum(sum);
    free(values);
    free(status);
}

/* A wait for any of several words, built from tests. */
static void wait_made_of_tests(void) {
    long *const words = shmem_calloc((size_t)pes, sizeof *words);
    if (me != 0 || pes == 1) shmem_atomic_set(&words[me], (long)me + 1, 0);
    if (me == 0) {
        int pe = 0;
        while (!shmem_test(&words[pe], SHMEM_CMP_NE, 0))
            pe = (pe + 1) % pes;
        CHECK(words[pe] == pe + 1);
    }
    shmem_free(words);
}

static void start(void) {
    me = shmem_my_pe();
    pes = shmem_n_pes();
    next = (me + 1) % pes;
    before = (me + pes - 1) % pes;
    second = 1 % pes;
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(start),
                                        TEST(one_gives_to_another),
                                        TEST(one_looks_at_another),
                                        TEST(stores_by_a_pointer),
                                        TEST(fence_between_data_and_flags),
                                        TEST(quiet_before_reading_back),
                                        TEST(changes_of_a_word),
                                        TEST(race_for_a_word),
                                        TEST(atomic_operations_exclude_each_other),
                                        TEST(message_round_the_ring),
                                        TEST(count_under_a_lock),
                                        TEST(parts_one_by_one),
                                        TEST(parts_that_are_there),
                                        TEST(parts_beside_other_work),
                                        TEST(values_of_their_own),
                                        TEST(wait_made_of_tests)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
