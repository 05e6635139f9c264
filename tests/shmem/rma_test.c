/* Put, get, strided, by blocks, one element, atomic operations and signals: each function of each
 * type, to variables and to the heap, by plain calls and by a context of a team in reverse order.
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

/* Each type: data put to the next PE has arrived after a barrier, and gets return the data of the
 * next PE. */
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

/* The functions that name a size, and those for bytes: two elements by each form, from the start
 * of the arrays. */
enum { kSized = 16 * 21 };
static unsigned char sized_target[kSized], sized_source[kSized], sized_mine[kSized];
static uint64_t sized_signal;

static int sized_is(const unsigned char *array, int begin, int end, int pe) {
    for (int i = begin; i < end; ++i)
        if (array[i] != (unsigned char)(pe + 7 * i)) return 0;
    return array[end] == 0;
}

#define SIZED_MOVES(Z, B)                                                                          \
    static void sized_moves_##Z(void) {                                                            \
        unsigned char *const to = sized_target, *const mine = sized_mine;                          \
        const unsigned char *const from = sized_source;                                            \
        memset(to, 0, kSized);                                                                     \
        memset(mine, 0, kSized);                                                                   \
        shmem_barrier_all();                                                                       \
        shmem_put##Z(to, from, 2, next);                                                           \
        shmem_ctx_put##Z(ctx, to + 2 * B, from + 2 * B, 2, reverse(next));                         \
        shmem_put##Z##_nbi(to + 4 * B, from + 4 * B, 2, next);                                     \
        shmem_ctx_put##Z##_nbi(ctx, to + 6 * B, from + 6 * B, 2, reverse(next));                   \
        shmem_barrier_all();                                                                       \
        CHECK(sized_is(to, 0, 8 * B, before));                                                     \
        shmem_get##Z(mine, from, 2, next);                                                         \
        shmem_ctx_get##Z(ctx, mine + 2 * B, from + 2 * B, 2, reverse(next));                       \
        shmem_get##Z##_nbi(mine + 4 * B, from + 4 * B, 2, next);                                   \
        shmem_ctx_get##Z##_nbi(ctx, mine + 6 * B, from + 6 * B, 2, reverse(next));                 \
        shmem_quiet();                                                                             \
        CHECK(sized_is(mine, 0, 8 * B, next));                                                     \
        memset(to, 0, kSized);                                                                     \
        shmem_barrier_all();                                                                       \
        shmem_put##Z##_signal(to, from, 2, &sized_signal, 1, SHMEM_SIGNAL_ADD, next);              \
        shmem_ctx_put##Z##_signal(ctx, to + 2 * B, from + 2 * B, 2, &sized_signal, 1,              \
                                  SHMEM_SIGNAL_ADD, reverse(next));                                \
        shmem_put##Z##_signal_nbi(to + 4 * B, from + 4 * B, 2, &sized_signal, 1, SHMEM_SIGNAL_ADD, \
                                  next);                                                           \
        shmem_ctx_put##Z##_signal_nbi(ctx, to + 6 * B, from + 6 * B, 2, &sized_signal, 1,          \
                                      SHMEM_SIGNAL_ADD, reverse(next));                            \
        shmem_signal_wait_until(&sized_signal, SHMEM_CMP_EQ, 4);                                   \
        CHECK(sized_is(to, 0, 8 * B, before));                                                     \
        sized_signal = 0;                                                                          \
        shmem_barrier_all();                                                                       \
    }
/* Elements 8 to 11 by strides, 12 to 19 by blocks of two. */
#define SIZED_STRIDES(BITS)                                                          \
    static void sized_strides_##BITS(void) {                                         \
        enum { B = BITS / 8 };                                                       \
        unsigned char *const to = sized_target, *const mine = sized_mine;            \
        const unsigned char *const from = sized_source;                              \
        const int there = reverse(next);                                             \
        memset(to, 0, kSized);                                                       \
        memset(mine, 0, kSized);                                                     \
        shmem_barrier_all();                                                         \
        shmem_iput##BITS(to + 8 * B, from + 8 * B, 2, 2, 2, next);                   \
        shmem_ctx_iput##BITS(ctx, to + 9 * B, from + 9 * B, 2, 2, 2, there);         \
        shmem_ibput##BITS(to + 12 * B, from + 12 * B, 4, 4, 2, 2, next);             \
        shmem_ctx_ibput##BITS(ctx, to + 14 * B, from + 14 * B, 4, 4, 2, 2, there);   \
        shmem_barrier_all();                                                         \
        CHECK(sized_is(to, 8 * B, 20 * B, before) && to[8 * B - 1] == 0);            \
        shmem_iget##BITS(mine + 8 * B, from + 8 * B, 2, 2, 2, next);                 \
        shmem_ctx_iget##BITS(ctx, mine + 9 * B, from + 9 * B, 2, 2, 2, there);       \
        shmem_ibget##BITS(mine + 12 * B, from + 12 * B, 4, 4, 2, 2, next);           \
        shmem_ctx_ibget##BITS(ctx, mine + 14 * B, from + 14 * B, 4, 4, 2, 2, there); \
        CHECK(sized_is(mine, 8 * B, 20 * B, next) && mine[8 * B - 1] == 0);          \
        shmem_barrier_all();                                                         \
    }
#define SIZED_TEST(BITS) SIZED_MOVES(BITS, BITS / 8) SIZED_STRIDES(BITS)
SENNIT_SHMEM_SIZES(SIZED_TEST)
SIZED_MOVES(mem, 1)

static void sizes(void) {
    for (size_t i = 0; i < sizeof sized_source; ++i)
        sized_source[i] = (unsigned char)((size_t)me + 7 * i);
#define SIZED_CALL(BITS)  \
    sized_moves_##BITS(); \
    sized_strides_##BITS();
    SENNIT_SHMEM_SIZES(SIZED_CALL)
    sized_moves_mem();
    memset(sized_target, 0, sizeof sized_target);
    shmem_barrier_all();
    shmem_putmem(sized_target + 1, sized_source, 13, next);
    shmem_barrier_all();
    CHECK(sized_target[0] == 0 && sized_target[14] == 0);
    for (int i = 0; i < 13; ++i)
        CHECK(sized_target[1 + i] == (unsigned char)(before + 7 * i));
    shmem_barrier_all();
    /* To itself, overlapping. */
    memcpy(sized_target, sized_source, sizeof sized_target);
    shmem_putmem(sized_target + 3, sized_target, 64, me);
    for (int i = 0; i < 64; ++i)
        CHECK(sized_target[3 + i] == sized_source[i]);
}

/* Atomic operations of each type: on an uncontended word, and by all PEs on one word. */
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
        /* One PE wins, and the others see it. */                                            \
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

/* Every form of every operation, on a word that only this PE changes: checks the old value. */
#define FORMS(N, V, VALUE, NOW)                                                           \
    do {                                                                                  \
        shmem_##N##_atomic##V(word, VALUE, next);                                         \
        value = NOW;                                                                      \
        shmem_ctx_##N##_atomic##V(ctx, word, VALUE, reverse(next));                       \
        value = NOW;                                                                      \
        CHECK(shmem_##N##_atomic_fetch##V(word, VALUE, next) == value);                   \
        value = NOW;                                                                      \
        CHECK(shmem_ctx_##N##_atomic_fetch##V(ctx, word, VALUE, reverse(next)) == value); \
        value = NOW;                                                                      \
        shmem_##N##_atomic_fetch##V##_nbi(&old, word, VALUE, next);                       \
        shmem_quiet();                                                                    \
        CHECK(old == value);                                                              \
        value = NOW;                                                                      \
        shmem_ctx_##N##_atomic_fetch##V##_nbi(ctx, &old, word, VALUE, reverse(next));     \
        shmem_quiet();                                                                    \
        CHECK(old == value);                                                              \
        value = NOW;                                                                      \
        CHECK(shmem_##N##_atomic_fetch(word, next) == value);                             \
    } while (0)
#define FORMS_EXTENDED(T, N, ...)                                                   \
    static void extended_forms_##N(T *word) {                                       \
        T old = (T)0;                                                               \
        shmem_##N##_atomic_set(word, (T)1, next);                                   \
        CHECK(shmem_ctx_##N##_atomic_fetch(ctx, word, reverse(next)) == (T)1);      \
        shmem_ctx_##N##_atomic_set(ctx, word, (T)2, reverse(next));                 \
        shmem_##N##_atomic_fetch_nbi(&old, word, next);                             \
        shmem_quiet();                                                              \
        CHECK(old == (T)2);                                                         \
        CHECK(shmem_ctx_##N##_atomic_swap(ctx, word, (T)3, reverse(next)) == (T)2); \
        shmem_##N##_atomic_swap_nbi(&old, word, (T)4, next);                        \
        shmem_quiet();                                                              \
        CHECK(old == (T)3 && shmem_##N##_atomic_fetch(word, next) == (T)4);         \
    }
#define FORMS_STANDARD(T, N, ...)                                                          \
    static void standard_forms_##N(T *word) {                                              \
        T old = (T)0, value = (T)40;                                                       \
        shmem_##N##_atomic_set(word, value, next);                                         \
        FORMS(N, _add, (T)3, (T)(value + 3));                                              \
        shmem_ctx_##N##_atomic_inc(ctx, word, reverse(next));                              \
        CHECK(shmem_ctx_##N##_atomic_fetch_inc(ctx, word, reverse(next)) == value + 1);    \
        shmem_##N##_atomic_fetch_inc_nbi(&old, word, next);                                \
        shmem_quiet();                                                                     \
        CHECK(old == value + 2);                                                           \
        CHECK(shmem_ctx_##N##_atomic_compare_swap(ctx, word, (T)1, (T)2, reverse(next)) == \
              value + 3);                                                                  \
        CHECK(shmem_ctx_##N##_atomic_compare_swap(ctx, word, (T)(value + 3), (T)2,         \
                                                  reverse(next)) == value + 3);            \
        shmem_##N##_atomic_compare_swap_nbi(&old, word, (T)2, (T)5, next);                 \
        shmem_quiet();                                                                     \
        CHECK(old == (T)2 && shmem_##N##_atomic_fetch(word, next) == (T)5);                \
    }
#define FORMS_BITWISE(T, N, ...)                        \
    static void bitwise_forms_##N(T *word) {            \
        T old = (T)0, value = (T)0x5a5a;                \
        shmem_##N##_atomic_set(word, value, next);      \
        FORMS(N, _xor, (T)0x0ff0, (T)(value ^ 0x0ff0)); \
        shmem_##N##_atomic_xor(word, (T)0x0ff0, next);  \
        value = (T)(value ^ 0x0ff0);                    \
        FORMS(N, _or, (T)0x1001, (T)(value | 0x1001));  \
        FORMS(N, _and, (T)0x7f0f, (T)(value & 0x7f0f)); \
    }
#define FORMS_OLD_EXTENDED(T, N, ...)                      \
    static void old_extended_##N(T *word) {                \
        shmem_##N##_set(word, (T)6, next);                 \
        CHECK(shmem_##N##_fetch(word, next) == (T)6);      \
        CHECK(shmem_##N##_swap(word, (T)7, next) == (T)6); \
        CHECK(shmem_##N##_fetch(word, next) == (T)7);      \
    }
#define FORMS_OLD_AMO(T, N, ...)                                  \
    static void old_amo_##N(T *word) {                            \
        shmem_##N##_set(word, (T)6, next);                        \
        CHECK(shmem_##N##_cswap(word, (T)5, (T)9, next) == (T)6); \
        CHECK(shmem_##N##_cswap(word, (T)6, (T)9, next) == (T)6); \
        CHECK(shmem_##N##_finc(word, next) == (T)9);              \
        shmem_##N##_inc(word, next);                              \
        CHECK(shmem_##N##_fadd(word, (T)20, next) == (T)11);      \
        shmem_##N##_add(word, (T)300, next);                      \
        CHECK(shmem_##N##_fetch(word, next) == (T)331);           \
    }
SENNIT_SHMEM_EXTENDED(FORMS_EXTENDED, )
SENNIT_SHMEM_AMO(FORMS_STANDARD, )
SENNIT_SHMEM_BITWISE(FORMS_BITWISE, )
SENNIT_SHMEM_OLD_EXTENDED(FORMS_OLD_EXTENDED, )
SENNIT_SHMEM_OLD_AMO(FORMS_OLD_AMO, )

static void forms(void) {
    static long long variable;
    long long *const heap = shmem_malloc(sizeof *heap);
    void *const words[] = {&variable, heap};
    for (int i = 0; i < 2; ++i) {
        void *const word = words[i];
#define EXTENDED_FORMS(T, N, ...) extended_forms_##N((T *)word);
#define STANDARD_FORMS(T, N, ...) standard_forms_##N((T *)word);
#define BITWISE_FORMS(T, N, ...) bitwise_forms_##N((T *)word);
#define OLD_EXTENDED_FORMS(T, N, ...) old_extended_##N((T *)word);
#define OLD_AMO_FORMS(T, N, ...) old_amo_##N((T *)word);
        SENNIT_SHMEM_EXTENDED(EXTENDED_FORMS, )
        SENNIT_SHMEM_AMO(STANDARD_FORMS, )
        SENNIT_SHMEM_BITWISE(BITWISE_FORMS, )
        SENNIT_SHMEM_OLD_EXTENDED(OLD_EXTENDED_FORMS, )
        SENNIT_SHMEM_OLD_AMO(OLD_AMO_FORMS, )
    }
    shmem_barrier_all();
    shmem_free(heap);
}

/* Puts with a signal, of each type. */
static uint64_t typed_signal;
#define SIGNAL_TEST(T, N, ...)                                                                    \
    static void signal_##N(T *target, T *source) {                                                \
        for (int i = 0; i < kCount; ++i) {                                                        \
            target[i] = (T)0;                                                                     \
            source[i] = VALUE(T, me, i);                                                          \
        }                                                                                         \
        shmem_barrier_all();                                                                      \
        shmem_##N##_put_signal(target, source, 3, &typed_signal, 1, SHMEM_SIGNAL_ADD, next);      \
        shmem_ctx_##N##_put_signal(ctx, target + 3, source + 3, 3, &typed_signal, 1,              \
                                   SHMEM_SIGNAL_ADD, reverse(next));                              \
        shmem_##N##_put_signal_nbi(target + 6, source + 6, 3, &typed_signal, 1, SHMEM_SIGNAL_ADD, \
                                   next);                                                         \
        shmem_ctx_##N##_put_signal_nbi(ctx, target + 9, source + 9, 3, &typed_signal, 1,          \
                                       SHMEM_SIGNAL_ADD, reverse(next));                          \
        CHECK(shmem_signal_wait_until(&typed_signal, SHMEM_CMP_EQ, 4) == 4);                      \
        for (int i = 0; i < 12; ++i)                                                              \
            EXPECT(T, target, i, before);                                                         \
        CHECK(target[12] == (T)0);                                                                \
        shmem_barrier_all();                                                                      \
        /* To itself, without data. */                                                            \
        shmem_##N##_put_signal(target, source + 1, 0, &typed_signal, 8, SHMEM_SIGNAL_SET, me);    \
        CHECK(typed_signal == 8 && target[0] == VALUE(T, before, 0));                             \
        typed_signal = 0;                                                                         \
        shmem_barrier_all();                                                                      \
    }
SENNIT_SHMEM_RMA(SIGNAL_TEST, )

static void typed_signals(void) {
#define SIGNAL_CALL(T, N, ...) signal_##N(N##_target, N##_source);
    SENNIT_SHMEM_RMA(SIGNAL_CALL, )
    shmem_ctx_signal_add(ctx, &typed_signal, 3, reverse(next));
    shmem_signal_wait_until(&typed_signal, SHMEM_CMP_EQ, 3);
    shmem_barrier_all();
    shmem_signal_set(&typed_signal, 0, next);
    shmem_barrier_all();
}

/* Data has arrived when its signal arrives; both operators, from all PEs at the same time. */
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

/* Puts before a fence arrive before those after it. */
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

/* Long transfers, with all alignments of the buffers within their pages. */
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
        TEST(start),         TEST(moves),   TEST(sizes), TEST(atomics),   TEST(forms),
        TEST(typed_signals), TEST(signals), TEST(order), TEST(long_ones), TEST(end)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
