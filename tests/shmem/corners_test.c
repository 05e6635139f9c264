/* Transfers that meet: interleaved strides, both operators on one signal at the same time, and the
 * order that fence and quiet promise between heap and variables, which may use different paths. */
#include "check.h"

enum { kRounds = 40, kTurns = 10, kPes = 16, kRow = 40 };
static int me, pes, next;
static shmem_ctx_t ctx;

static void start(void) {
    me = shmem_my_pe();
    pes = shmem_n_pes();
    next = (me + 1) % pes;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
}

/* All PEs put to all at the same time, each into its own places between those of the others.
 * Each PE also has a gap between these places, which it increments until all are done. Breaks when
 * a put writes to a gap, even the value that it has read there: the PE increments it meanwhile. */
static uint64_t done;

#define BETWEEN(T, PUT, PUT_BLOCKS)                                               \
    static void between_##PUT(T *table) {                                         \
        const int width = pes + 1, there = pes * kRow;                            \
        T mine[2 * kRow], *const blocks = table + width * kRow;                   \
        T *const owns[2] = {table + pes, blocks + 2 * pes + 1};                   \
        for (int round = 1; round <= kTurns; ++round) {                           \
            T count = (T)0;                                                       \
            *owns[0] = *owns[1] = count;                                          \
            for (int i = 0; i < 2 * kRow; ++i)                                    \
                mine[i] = (T)(round + me * 7 + i);                                \
            shmem_barrier_all();                                                  \
            for (int i = 0; i < 4 * pes; ++i) {                                   \
                const int pe = (me + i) % pes;                                    \
                PUT(table + me, mine, width, 2, kRow, pe);                        \
                PUT_BLOCKS(blocks + 2 * me, mine, 2 * width, 4, 2, kRow / 2, pe); \
                if (i < pes) continue;                                            \
                CHECK(*owns[0] == count && *owns[1] == count);                    \
                *owns[0] = *owns[1] = count = (T)(count + (T)1);                  \
            }                                                                     \
            shmem_quiet();                                                        \
            for (int pe = 0; pe < pes; ++pe)                                      \
                shmem_signal_add(&done, 1, pe);                                   \
            while (shmem_signal_fetch(&done) != (uint64_t)pes) {                  \
                CHECK(*owns[0] == count && *owns[1] == count);                    \
                *owns[0] = *owns[1] = count = (T)(count + (T)1);                  \
            }                                                                     \
            CHECK(*owns[0] == count && *owns[1] == count);                        \
            for (int i = 0; i < there; ++i) {                                     \
                const int pe = i % pes, k = i / pes;                              \
                CHECK(table[pe + k * width] == (T)(round + pe * 7 + 2 * k));      \
                CHECK(blocks[2 * pe + k / 2 * 2 * width + k % 2] ==               \
                      (T)(round + pe * 7 + k / 2 * 4 + k % 2));                   \
            }                                                                     \
            done = 0;                                                             \
        }                                                                         \
    }                                                                             \
    static T table_of_##PUT[(kPes + 1) * kRow * 2];
BETWEEN(signed char, shmem_schar_iput, shmem_schar_ibput)
BETWEEN(short, shmem_iput16, shmem_ibput16)
BETWEEN(float, shmem_float_iput, shmem_float_ibput)
BETWEEN(long, shmem_long_iput, shmem_long_ibput)
BETWEEN(long double, shmem_iput128, shmem_ibput128)

static void strides_between_each_other(void) {
    void *const heap = shmem_malloc(sizeof table_of_shmem_iput128);
#define CALL_BETWEEN(T, PUT)       \
    between_##PUT(table_of_##PUT); \
    between_##PUT((T *)heap);
    CALL_BETWEEN(signed char, shmem_schar_iput)
    CALL_BETWEEN(short, shmem_iput16)
    CALL_BETWEEN(float, shmem_float_iput)
    CALL_BETWEEN(long, shmem_long_iput)
    CALL_BETWEEN(long double, shmem_iput128)
    shmem_free(heap);
}

/* Within one array of this PE: from even to odd places, separately and together, by blocks. The
 * order does not matter, since no place is both read and written. */
static long own[40], of_next[40];

static void refill(void) {
    for (int i = 0; i < 40; ++i)
        own[i] = me * 100 + i;
}
static long was(int i) {
    return me * 100 + i;
}

static void strides_within_one_array(void) {
    refill();
    shmem_long_iput(own + 1, own, 2, 2, 20, me);
    for (int i = 0; i < 40; ++i)
        CHECK(own[i] == was(i / 2 * 2));
    refill();
    shmem_long_iget(own, own + 1, 2, 2, 20, me);
    for (int i = 0; i < 40; ++i)
        CHECK(own[i] == was(i / 2 * 2 + 1));
    refill();
    shmem_ctx_long_ibput(ctx, own + 2, own, 4, 4, 2, 10, me);
    for (int i = 0; i < 40; ++i)
        CHECK(own[i] == was(i / 4 * 4 + i % 2));
    refill();
    shmem_ctx_ibget64(ctx, own, own + 2, 4, 4, 2, 10, me);
    for (int i = 0; i < 40; ++i)
        CHECK(own[i] == was(i / 4 * 4 + 2 + i % 2));
    refill();
    /* Spread from the end of the array to its odd places at the beginning. */
    shmem_iput64(own + 1, own + 20, 3, 1, 6, me);
    for (int i = 0; i < 40; ++i)
        CHECK(own[i] == (i < 18 && i % 3 == 1 ? was(20 + i / 3) : was(i)));
    /* Gets from the next PE that interleave here, with different strides there. */
    refill();
    memset(of_next, 0, sizeof of_next);
    shmem_barrier_all();
    shmem_long_iget(of_next, own, 4, 1, 10, next);
    shmem_long_ibget(of_next + 1, own + 9, 4, 3, 2, 10, next);
    shmem_barrier_all();
    for (int i = 0; i < 10; ++i) {
        CHECK(of_next[4 * i] == next * 100 + i && of_next[4 * i + 3] == 0);
        for (int k = 0; k < 2; ++k)
            CHECK(of_next[4 * i + 1 + k] == next * 100 + 9 + 3 * i + k);
    }
    shmem_barrier_all();
}

/* To itself, a little forward or back: long transfers use another path than short ones. */
static void transfers_that_overlap(void) {
    enum { kBytes = 6000, kFurther = 65 };
    static unsigned char array[kBytes + 2 * kFurther], wanted[sizeof array];
    for (int by = -kFurther; by <= kFurther; by += 13) {
        for (size_t bytes = 50; bytes <= kBytes; bytes *= 10) {
            for (size_t i = 0; i < sizeof array; ++i)
                array[i] = wanted[i] = (unsigned char)(7 * i + i / 256);
            memmove(wanted + kFurther + by, wanted + kFurther, bytes);
            shmem_putmem(array + kFurther + by, array + kFurther, bytes, me);
            CHECK(memcmp(array, wanted, sizeof array) == 0);
            memmove(wanted + kFurther, wanted + kFurther + by, bytes);
            shmem_getmem(array + kFurther, array + kFurther + by, bytes, me);
            CHECK(memcmp(array, wanted, sizeof array) == 0);
        }
    }
}

/* Both operators on the signal of PE 0 at the same time. The last PE sets the signal to a number in
 * its upper half, and all PEs add ones before and after. The result contains every addition that
 * was made after the set had been seen, and only additions besides the number that was set. */
static uint64_t raced_variable;
static long after_set, after_set_of_all;

static void add_one(uint64_t *word, int i) {
    static long data, from;
    if (i % 2 == 0)
        shmem_ctx_signal_add(ctx, word, 1, 0);
    else
        shmem_long_put_signal(&data, &from, 1, word, 1, SHMEM_SIGNAL_ADD, 0);
}

/* Enough rounds for PEs to collide. Where each addition takes a lock or a message, few are enough.
 * All PEs make the same number. */
static void race(uint64_t *word, uint64_t round) {
    static long data, from;
    static int is_near, all_are_near;
    is_near = shmem_ptr(word, next) != NULL;
    CHECK(shmem_int_min_reduce(SHMEM_TEAM_WORLD, &all_are_near, &is_near, 1) == 0);
    const int adds = all_are_near ? 2000 : 60;
    after_set = 0;
    shmem_barrier_all();
    for (int i = 0; i < adds; ++i) {
        const int is_set = shmem_uint64_atomic_fetch(word, 0) >> 32 == round;
        add_one(word, i);
        after_set += is_set;
        if (me != pes - 1 || i != adds / 2) continue;
        if (round % 2 == 0)
            shmem_signal_set(word, round << 32, 0);
        else
            shmem_long_put_signal(&data, &from, 1, word, round << 32, SHMEM_SIGNAL_SET, 0);
        shmem_quiet();
    }
    shmem_quiet();
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &after_set_of_all, &after_set, 1) == 0);
    shmem_barrier_all();
    if (me == 0) {
        const uint64_t result = shmem_signal_fetch(word), added = result & UINT32_MAX;
        CHECK(result >> 32 == round);
        CHECK(added >= (uint64_t)after_set_of_all && added <= (uint64_t)(adds * pes));
        /* The PE that set the number sees it in its later additions. */
        CHECK(after_set_of_all >= adds / 2 - 1);
    }
}

static void signals_are_set_and_added_to_at_once(void) {
    uint64_t *const heap = shmem_calloc(1, sizeof *heap);
    for (uint64_t round = 1; round <= kTurns; ++round) {
        race(&raced_variable, round);
        race(heap, round);
    }
    shmem_free(heap);
}

/* Data sent before a fence arrives before data sent after it: each way of sending, to the heap and
 * to variables, before each way of setting a flag. */
enum { kLong = 600 };
struct sent {
    long put[kLong], put_nbi[kLong], strided[9], one, sum, with_signal;
    uint64_t signal;
    long flag;
    uint64_t flag_signal;
};
static struct sent sent_variable;

static void send(struct sent *there, shmem_ctx_t by, long value, int pe) {
    static long from[kLong];
    for (int i = 0; i < kLong; ++i)
        from[i] = value + i;
    shmem_ctx_long_put_nbi(by, there->put_nbi, from, kLong, pe);
    shmem_ctx_long_put(by, there->put, from, kLong, pe);
    shmem_ctx_long_iput(by, there->strided, from, 4, 2, 3, pe);
    shmem_ctx_long_put_signal_nbi(by, &there->with_signal, from + 1, 1, &there->signal,
                                  (uint64_t)value, SHMEM_SIGNAL_SET, pe);
    shmem_ctx_long_atomic_add(by, &there->sum, 3, pe);
    shmem_ctx_long_p(by, &there->one, value, pe);
}

static int has_come(const struct sent *here, long value, long sum) {
    int right = here->one == value && here->sum == sum && here->with_signal == value + 1;
    right &= here->signal == (uint64_t)value && here->strided[0] == value;
    right &= here->strided[4] == value + 2 && here->strided[8] == value + 4;
    for (int i = 0; i < kLong; ++i)
        right &= here->put[i] == value + i && here->put_nbi[i] == value + i;
    return right;
}

static void order(shmem_ctx_t by, int how, int pe) {
    if (how == 0)
        shmem_ctx_fence(by);
    else if (how == 1)
        shmem_ctx_quiet(by);
    else
        shmem_ctx_pe_quiet(by, &pe, 1);
}

static void tell(struct sent *there, shmem_ctx_t by, long how, int pe) {
    static long one = 1;
    if (how == 0)
        shmem_ctx_long_p(by, &there->flag, one, pe);
    else if (how == 1)
        shmem_ctx_long_atomic_inc(by, &there->flag, pe);
    else if (how == 2)
        shmem_ctx_long_put_nbi(by, &there->flag, &one, 1, pe);
    else
        shmem_ctx_signal_add(by, &there->flag_signal, 1, pe);
}

/* Waits until the flag is set, and resets it. */
static void wait_for(struct sent *here, int how) {
    if (how == 3)
        shmem_signal_wait_until(&here->flag_signal, SHMEM_CMP_EQ, 1);
    else
        shmem_long_wait_until(&here->flag, SHMEM_CMP_EQ, 1);
    shmem_signal_set(&here->flag_signal, 0, me);
    shmem_long_atomic_set(&here->flag, 0, me);
}

static void order_holds_across_paths(void) {
    enum { kTells = 4, kOrders = 3 };
    struct sent *const heap = shmem_calloc(1, sizeof *heap);
    long sums[2] = {0, 0};
    for (int i = 0; i < 2 * 2 * 2 * kOrders * kTells; ++i) {
        const int to = i % 2, tells = i / 8 % kTells, orders = i / 8 / kTells;
        struct sent *const data = to ? heap : &sent_variable;
        struct sent *const flag = i / 2 % 2 ? heap : &sent_variable;
        const shmem_ctx_t by = i / 4 % 2 ? ctx : SHMEM_CTX_DEFAULT;
        send(data, by, 1000L * (i + 1), next);
        order(by, orders, next);
        tell(flag, by, tells, next);
        wait_for(flag, tells);
        CHECK(has_come(data, 1000L * (i + 1), sums[to] += 3));
        shmem_barrier_all();
    }
    shmem_free(heap);
}

/* After a quiet the data is visible to a third PE, which is told of it and gets it. */
static void quiet_is_for_all(void) {
    static long variable[kLong], told;
    long *const heap = shmem_malloc(kLong * sizeof *heap), from[kLong], seen[kLong];
    const int owner = next, third = (me + 2) % pes;
    const int sender = (me + pes - 2 % pes) % pes, owner_of_sender = (sender + 1) % pes;
    for (long round = 1; round <= kRounds; ++round) {
        long *const data = round % 2 ? variable : heap;
        for (int i = 0; i < kLong; ++i)
            from[i] = 1000 * round + i + me;
        if (round % 4 < 2)
            shmem_long_put_nbi(data, from, kLong, owner);
        else
            shmem_long_iput(data, from, 1, 1, kLong, owner);
        shmem_quiet();
        shmem_long_p(&told, round, third);
        shmem_long_wait_until(&told, SHMEM_CMP_EQ, round);
        shmem_long_get(seen, data, kLong, owner_of_sender);
        for (int i = 0; i < kLong; ++i)
            CHECK(seen[i] == 1000 * round + i + sender);
        shmem_barrier_all();
    }
    shmem_free(heap);
}

static void end(void) {
    shmem_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(start),
                                        TEST(strides_between_each_other),
                                        TEST(strides_within_one_array),
                                        TEST(transfers_that_overlap),
                                        TEST(signals_are_set_and_added_to_at_once),
                                        TEST(order_holds_across_paths),
                                        TEST(quiet_is_for_all),
                                        TEST(end)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
