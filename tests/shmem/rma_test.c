/* Put, get, strided, by blocks, one element, atomic operations and signals: each function of each
 * type, towards variables and the heap, by plain calls and by a context of a team that counts
 * backwards.
 */
#include "check.h"

enum { kCount = 24, kRounds = 200 };

static int me, pes, next, before;
static shmem_team_t reversed;
static shmem_ctx_t ctx;

/* The number of a PE in the reversed team. */
static int reverse(int pe) {
    return pes - 1 - pe;
}

static void start(void) {
    me = shmem_my_pe();
    pes = shmem_n_pes();
    next = (me + 1) % pes;
    before = (me + pes - 1) % pes;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &reversed) == 0);
    CHECK(shmem_team_my_pe(reversed) == reverse(me));
    CHECK(shmem_team_create_ctx(reversed, 0, &ctx) == 0);
}

/* Each type: what is put to the next PE is there after a barrier, what is got is what the PE before
 * has. */
#define VALUE(T, PE, I) ((T)((PE)*3 + (I) + 1))
#define EXPECT(T, ARRAY, I, PE) CHECK((ARRAY)[I] == VALUE(T, PE, I))
#define MOVE_TEST(T, N, ...)                                                           \
    static void move_##N(T *target, T *source) {                                       \
        T mine[kCount];                                                                \
        for (int i = 0; i < kCount; ++i) {                                             \
            target[i] = (T)0;                                                          \
            source[i] = VALUE(T, me, i);                                               \
        }                                                                              \
        shmem_barrier_all();                                                           \
        shmem_##N##_put(target, source, 4, next);                                      \
        shmem_ctx_##N##_put(ctx, target + 4, source + 4, 4, reverse(next));            \
        shmem_##N##_put_nbi(target + 8, source + 8, 4, next);                          \
        shmem_ctx_##N##_put_nbi(ctx, target + 12, source + 12, 4, reverse(next));      \
        shmem_##N##_p(target + 16, source[16], next);                                  \
        shmem_ctx_##N##_p(ctx, target + 17, source[17], reverse(next));                \
        shmem_##N##_iput(target + 18, source + 18, 2, 2, 3, next);                     \
        shmem_ctx_##N##_iput(ctx, target + 19, source + 19, 2, 2, 3, reverse(next));   \
        shmem_##N##_put(target, source, 0, next);                                      \
        shmem_barrier_all();                                                           \
        for (int i = 0; i < kCount; ++i)                                               \
            EXPECT(T, target, i, before);                                              \
        memset(mine, 0, sizeof mine);                                                  \
        shmem_##N##_get(mine, source, 4, next);                                        \
        shmem_ctx_##N##_get(ctx, mine + 4, source + 4, 4, reverse(next));              \
        shmem_##N##_get_nbi(mine + 8, source + 8, 4, next);                            \
        shmem_ctx_##N##_get_nbi(ctx, mine + 12, source + 12, 4, reverse(next));        \
        mine[16] = shmem_##N##_g(source + 16, next);                                   \
        mine[17] = shmem_ctx_##N##_g(ctx, source + 17, reverse(next));                 \
        shmem_##N##_iget(mine + 18, source + 18, 2, 2, 3, next);                       \
        shmem_ctx_##N##_iget(ctx, mine + 19, source + 19, 2, 2, 3, reverse(next));     \
        shmem_quiet();                                                                 \
        for (int i = 0; i < kCount; ++i)                                               \
            EXPECT(T, mine, i, next);                                                  \
        shmem_barrier_all();                                                           \
        for (int i = 0; i < kCount; ++i)                                               \
            target[i] = (T)0;                                                          \
        shmem_barrier_all();                                                           \
        /* Three blocks of two, from every third element to every fourth. */           \
        shmem_##N##_ibput(target, source, 4, 3, 2, 3, next);                           \
        shmem_ctx_##N##_ibput(ctx, target + 2, source + 9, 4, 3, 2, 3, reverse(next)); \
        shmem_barrier_all();                                                           \
        for (int k = 0; k < 3; ++k) {                                                  \
            for (int i = 0; i < 2; ++i) {                                              \
                CHECK(target[4 * k + i] == VALUE(T, before, 3 * k + i));               \
                CHECK(target[4 * k + 2 + i] == VALUE(T, before, 9 + 3 * k + i));       \
            }                                                                          \
        }                                                                              \
        shmem_##N##_ibget(mine, source, 4, 3, 2, 3, next);                             \
        shmem_ctx_##N##_ibget(ctx, mine + 2, source + 9, 4, 3, 2, 3, reverse(next));   \
        for (int k = 0; k < 3; ++k) {                                                  \
            for (int i = 0; i < 2; ++i) {                                              \
                CHECK(mine[4 * k + i] == VALUE(T, next, 3 * k + i));                   \
                CHECK(mine[4 * k + 2 + i] == VALUE(T, next, 9 + 3 * k + i));           \
            }                                                                          \
        }                                                                              \
        shmem_barrier_all();                                                           \
    }                                                                                  \
    static T N##_target[kCount], N##_source[kCount];
SENNIT_SHMEM_RMA(MOVE_TEST, )

static void moves(void) {
    void *heap = shmem_malloc(2 * kCount * sizeof(long double));
    CHECK(heap != NULL);
#define MOVE_CALL(T, N, ...)          \
    move_##N(N##_target, N##_source); \
    move_##N((T *)heap, (T *)heap + kCount);
    SENNIT_SHMEM_RMA(MOVE_CALL, )
    shmem_free(heap);
}

/* Those that name a size, and bytes. */
static unsigned char sized_target[16 * 8], sized_source[16 * 8];
#define SIZED_TEST(BITS)                                                               \
    memset(sized_target, 0, sizeof sized_target);                                      \
    shmem_barrier_all();                                                               \
    shmem_put##BITS(sized_target, sized_source, 2, next);                              \
    shmem_iput##BITS(sized_target + BITS / 4, sized_source + BITS / 4, 1, 1, 2, next); \
    shmem_put##BITS##_nbi(sized_target + BITS / 2, sized_source + BITS / 2, 2, next);  \
    shmem_barrier_all();                                                               \
    for (int i = 0; i < BITS / 8 * 6; ++i)                                             \
        CHECK(sized_target[i] == (unsigned char)(before + 7 * i));                     \
    CHECK(sized_target[BITS / 8 * 6] == 0);                                            \
    shmem_barrier_all();

static void sizes(void) {
    for (size_t i = 0; i < sizeof sized_source; ++i)
        sized_source[i] = (unsigned char)((size_t)me + 7 * i);
    SENNIT_SHMEM_SIZES(SIZED_TEST)
    memset(sized_target, 0, sizeof sized_target);
    shmem_barrier_all();
    shmem_putmem(sized_target + 1, sized_source, 13, next);
    shmem_barrier_all();
    CHECK(sized_target[0] == 0 && sized_target[14] == 0);
    for (int i = 0; i < 13; ++i)
        CHECK(sized_target[1 + i] == (unsigned char)(before + 7 * i));
    shmem_barrier_all();
    /* To itself, with an overlap. */
    memcpy(sized_target, sized_source, sizeof sized_target);
    shmem_putmem(sized_target + 3, sized_target, 64, me);
    for (int i = 0; i < 64; ++i)
        CHECK(sized_target[3 + i] == sized_source[i]);
}

/* Atomic operations of each type: alone, and all PEs on one word. */
#define AMO_EXTENDED_TEST(T, N, ...)                                            \
    static void extended_##N(T *word) {                                         \
        T old = (T)0;                                                           \
        *word = (T)0;                                                           \
        shmem_barrier_all();                                                    \
        shmem_##N##_atomic_set(word, (T)(before + 5), next);                    \
        shmem_barrier_all();                                                    \
        CHECK(*word == (T)(((before + pes - 1) % pes) + 5));                    \
        CHECK(shmem_##N##_atomic_fetch(word, next) == (T)(before + 5));         \
        shmem_ctx_##N##_atomic_fetch_nbi(ctx, &old, word, reverse(next));       \
        shmem_ctx_quiet(ctx);                                                   \
        CHECK(old == (T)(before + 5));                                          \
        shmem_barrier_all();                                                    \
        CHECK(shmem_##N##_atomic_swap(word, (T)9, next) == (T)(before + 5));    \
        shmem_ctx_##N##_atomic_swap_nbi(ctx, &old, word, (T)11, reverse(next)); \
        shmem_quiet();                                                          \
        CHECK(old == (T)9);                                                     \
        shmem_barrier_all();                                                    \
        CHECK(*word == (T)11);                                                  \
        shmem_barrier_all();                                                    \
    }                                                                           \
    static T extended_word_##N;
#define AMO_STANDARD_TEST(T, N, ...)                                                         \
    static void standard_##N(T *word) {                                                      \
        T old = (T)0;                                                                        \
        *word = (T)0;                                                                        \
        shmem_barrier_all();                                                                 \
        for (int i = 0; i < kRounds; ++i) {                                                  \
            shmem_##N##_atomic_add(word, (T)2, 0);                                           \
            shmem_##N##_atomic_inc(word, 0);                                                 \
            (void)shmem_##N##_atomic_fetch_inc(word, 0);                                     \
            (void)shmem_ctx_##N##_atomic_fetch_add(ctx, word, (T)3, reverse(0));             \
            shmem_##N##_atomic_fetch_add_nbi(&old, word, (T)1, 0);                           \
            shmem_ctx_##N##_atomic_fetch_inc_nbi(ctx, &old, word, reverse(0));               \
        }                                                                                    \
        shmem_barrier_all();                                                                 \
        CHECK(shmem_##N##_atomic_fetch(word, 0) == (T)(9 * kRounds * pes));                  \
        shmem_barrier_all();                                                                 \
        /* One of all wins, and the others see it. */                                        \
        old = shmem_##N##_atomic_compare_swap(word, (T)(9 * kRounds * pes), (T)(me + 1), 0); \
        const T winner = shmem_##N##_atomic_fetch(word, 0);                                  \
        CHECK(winner >= (T)1 && winner <= (T)pes);                                           \
        CHECK(old == (winner == (T)(me + 1) ? (T)(9 * kRounds * pes) : winner));             \
        shmem_ctx_##N##_atomic_compare_swap_nbi(ctx, &old, word, (T)0, (T)7, reverse(0));    \
        shmem_quiet();                                                                       \
        CHECK(old == winner);                                                                \
        shmem_barrier_all();                                                                 \
    }                                                                                        \
    static T standard_word_##N;
#define AMO_BITWISE_TEST(T, N, ...)                                         \
    static void bitwise_##N(T *word) {                                      \
        T old = (T)0;                                                       \
        const T bit = (T)((T)1 << me);                                      \
        *word = (T)0;                                                       \
        shmem_barrier_all();                                                \
        shmem_##N##_atomic_or(word, bit, 0);                                \
        shmem_barrier_all();                                                \
        CHECK(shmem_##N##_atomic_fetch(word, 0) == (T)(((T)1 << pes) - 1)); \
        shmem_barrier_all();                                                \
        CHECK((shmem_##N##_atomic_fetch_and(word, (T)~bit, 0) & bit) != 0); \
        CHECK((shmem_##N##_atomic_fetch_xor(word, bit, 0) & bit) == 0);     \
        shmem_##N##_atomic_xor(word, bit, 0);                               \
        shmem_##N##_atomic_fetch_or_nbi(&old, word, bit, 0);                \
        shmem_quiet();                                                      \
        CHECK((old & bit) == 0);                                            \
        shmem_ctx_##N##_atomic_and(ctx, word, (T)~bit, reverse(0));         \
        shmem_barrier_all();                                                \
        CHECK(shmem_##N##_atomic_fetch(word, 0) == (T)0);                   \
        shmem_barrier_all();                                                \
    }                                                                       \
    static T bitwise_word_##N;
SENNIT_SHMEM_EXTENDED(AMO_EXTENDED_TEST, )
SENNIT_SHMEM_AMO(AMO_STANDARD_TEST, )
SENNIT_SHMEM_BITWISE(AMO_BITWISE_TEST, )

static void atomics(void) {
    void *heap = shmem_malloc(sizeof(long long));
#define EXTENDED_CALL(T, N, ...)      \
    extended_##N(&extended_word_##N); \
    extended_##N((T *)heap);
#define STANDARD_CALL(T, N, ...)      \
    standard_##N(&standard_word_##N); \
    standard_##N((T *)heap);
#define BITWISE_CALL(T, N, ...)     \
    bitwise_##N(&bitwise_word_##N); \
    bitwise_##N((T *)heap);
    SENNIT_SHMEM_EXTENDED(EXTENDED_CALL, )
    SENNIT_SHMEM_AMO(STANDARD_CALL, )
    SENNIT_SHMEM_BITWISE(BITWISE_CALL, )
    shmem_free(heap);
}

/* Data are there when their signal is; both operators, from all at once. */
static long signal_data[8];
static uint64_t signal_word, signal_sum;

static void signals(void) {
    for (uint64_t round = 1; round <= kRounds; ++round) {
        long data[8];
        for (int i = 0; i < 8; ++i)
            data[i] = (long)round * 100 + me + i;
        if (round % 2 == 0)
            shmem_long_put_signal(signal_data, data, 8, &signal_word, round, SHMEM_SIGNAL_SET,
                                  next);
        else
            shmem_ctx_long_put_signal_nbi(ctx, signal_data, data, 8, &signal_word, 1,
                                          SHMEM_SIGNAL_ADD, reverse(next));
        CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, round) == round);
        for (int i = 0; i < 8; ++i)
            CHECK(signal_data[i] == (long)round * 100 + before + i);
        shmem_barrier_all();
    }
    for (int i = 0; i < kRounds; ++i) {
        for (int pe = 0; pe < pes; ++pe)
            shmem_signal_add(&signal_sum, 2, pe);
    }
    shmem_signal_wait_until(&signal_sum, SHMEM_CMP_EQ, 2u * kRounds * (unsigned)pes);
    CHECK(shmem_signal_fetch(&signal_sum) == 2u * kRounds * (unsigned)pes);
    shmem_barrier_all();
    shmem_ctx_signal_set(ctx, &signal_sum, 17, reverse(next));
    shmem_signal_wait_until(&signal_sum, SHMEM_CMP_EQ, 17);
    shmem_barrier_all();
    signal_word = signal_sum = 0;
}

/* Puts before a fence are there before those after it. */
static long fenced_data, fenced_flag;

static void order(void) {
    long *heap_flag = shmem_calloc(1, sizeof *heap_flag);
    for (long round = 1; round <= kRounds; ++round) {
        shmem_long_p(&fenced_data, round, next);
        shmem_fence();
        shmem_long_p(heap_flag, round, next);
        shmem_ctx_fence(ctx);
        shmem_long_p(&fenced_flag, round, next);
        shmem_long_wait_until(heap_flag, SHMEM_CMP_GE, round);
        CHECK(fenced_data >= round);
        shmem_long_wait_until(&fenced_flag, SHMEM_CMP_EQ, round);
        shmem_barrier_all();
    }
    const int all[] = {next};
    shmem_pe_quiet(all, 1);
    shmem_ctx_pe_quiet(ctx, all, 1);
    shmem_free(heap_flag);
}

/* Long ones, wherever the buffers begin in their pages. */
enum { kLong = 10000, kPage = 4096 };

static void long_ones(void) {
    unsigned char *target = shmem_align(kPage, kLong + kPage);
    unsigned char *source = shmem_align(kPage, kLong + kPage);
    unsigned char *mine = malloc(kLong);
    CHECK(target != NULL && source != NULL && mine != NULL);
    for (int i = 0; i < kLong; ++i)
        source[i] = (unsigned char)(i * 7 + i / 256 + me);
    for (int behind = 0; behind <= 64; behind += 8) {
        memset(target, 0, kLong + kPage);
        shmem_barrier_all();
        shmem_putmem(target + behind, source, kLong, next);
        shmem_barrier_all();
        for (int i = 0; i < kLong; ++i)
            CHECK(target[behind + i] == (unsigned char)(i * 7 + i / 256 + before));
        for (int i = kLong + behind; i < kLong + kPage; ++i)
            CHECK(target[i] == 0);
        memset(mine, 0, kLong);
        shmem_getmem(mine, source + behind, kLong - behind, next);
        for (int i = behind; i < kLong; ++i)
            CHECK(mine[i - behind] == (unsigned char)(i * 7 + i / 256 + next));
        shmem_barrier_all();
    }
    free(mine);
    shmem_free(source);
    shmem_free(target);
}

static void end(void) {
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(reversed);
}

int main(int argc, char **argv) {
    static const struct test tests[] = {
        {"start", start},     {"moves", moves}, {"sizes", sizes},         {"atomics", atomics},
        {"signals", signals}, {"order", order}, {"long_ones", long_ones}, {"end", end}};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
