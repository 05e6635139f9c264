/* Length 0 in each call that takes a length: transfers of 0 elements or blocks, collective calls
 * of 0 elements, and a collection to which some PEs give none. Buffers stay as they were, signals
 * arrive, and calls return 0. Breaks when a length of 0 is treated as an error or as one element,
 * or when a buffer is accessed (the buffers may be null). */
#include "check.h"

enum { kMany = 64 };
static int me, pes, next;
static shmem_team_t reversed, alone, odd;
static shmem_ctx_t ctx;

static void start(void) {
    me = shmem_my_pe();
    pes = shmem_n_pes();
    next = (me + 1) % pes;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &reversed) == 0);
    CHECK(shmem_team_create_ctx(reversed, 0, &ctx) == 0);
    for (int pe = 0; pe < pes; ++pe) {
        shmem_team_t made;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 1, 1, NULL, 0, &made) == 0);
        if (pe == me) alone = made;
    }
    if (pes > 1)
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, pes / 2, NULL, 0, &odd) == 0);
}

/* To and from the symmetric `there`, from and to `here`; strides and blocks have any length. */
static uint64_t signal_word;
#define NO_MOVES(N, Z, THERE, HERE)                                                                \
    do {                                                                                           \
        const int pe = pes - 1 - next; /* in the reversed team */                                  \
        shmem_##N##put##Z(THERE, HERE, 0, next);                                                   \
        shmem_ctx_##N##put##Z(ctx, THERE, HERE, 0, pe);                                            \
        shmem_##N##put##Z##_nbi(THERE, HERE, 0, next);                                             \
        shmem_ctx_##N##put##Z##_nbi(ctx, THERE, HERE, 0, pe);                                      \
        shmem_##N##get##Z(HERE, THERE, 0, next);                                                   \
        shmem_ctx_##N##get##Z(ctx, HERE, THERE, 0, pe);                                            \
        shmem_##N##get##Z##_nbi(HERE, THERE, 0, next);                                             \
        shmem_ctx_##N##get##Z##_nbi(ctx, HERE, THERE, 0, pe);                                      \
        shmem_##N##put##Z##_signal(THERE, HERE, 0, &signal_word, 1, SHMEM_SIGNAL_ADD, next);       \
        shmem_ctx_##N##put##Z##_signal_nbi(ctx, THERE, HERE, 0, &signal_word, 1, SHMEM_SIGNAL_ADD, \
                                           pe);                                                    \
    } while (0)
#define NO_STRIDES(N, Z, THERE, HERE)                              \
    do {                                                           \
        const int pe = pes - 1 - next;                             \
        shmem_##N##iput##Z(THERE, HERE, 2, 3, 0, next);            \
        shmem_ctx_##N##iput##Z(ctx, THERE, HERE, 1, 1, 0, pe);     \
        shmem_##N##iget##Z(HERE, THERE, 2, 3, 0, next);            \
        shmem_ctx_##N##iget##Z(ctx, HERE, THERE, 1, 1, 0, pe);     \
        shmem_##N##ibput##Z(THERE, HERE, 3, 3, 2, 0, next);        \
        shmem_ctx_##N##ibput##Z(ctx, THERE, HERE, 1, 1, 0, 4, pe); \
        shmem_##N##ibget##Z(HERE, THERE, 1, 1, 0, 4, next);        \
        shmem_ctx_##N##ibget##Z(ctx, HERE, THERE, 3, 3, 2, 0, pe); \
    } while (0)
#define NO_MOVES_OF(T, N, ...)                                        \
    static void no_moves_##N(T *there) {                              \
        T here[2] = {(T)3, (T)4};                                     \
        there[0] = (T)5;                                              \
        there[1] = (T)6;                                              \
        shmem_barrier_all();                                          \
        NO_MOVES(N##_, , there, here);                                \
        NO_STRIDES(N##_, , there, here);                              \
        NO_MOVES(N##_, , NULL, NULL);                                 \
        NO_STRIDES(N##_, , NULL, NULL);                               \
        shmem_barrier_all();                                          \
        CHECK(here[0] == (T)3 && here[1] == (T)4);                    \
        CHECK(there[0] == (T)5 && there[1] == (T)6);                  \
        CHECK(signal_word == 4); /* one for each put with a signal */ \
        shmem_barrier_all();                                          \
        signal_word = 0;                                              \
    }                                                                 \
    static T no_moves_word_##N[2];
SENNIT_SHMEM_RMA(NO_MOVES_OF, )

static void transfers(void) {
    long double *const heap = shmem_malloc(2 * sizeof *heap);
#define CALL_NO_MOVES(T, N, ...)     \
    no_moves_##N(no_moves_word_##N); \
    no_moves_##N((T *)(void *)heap);
    SENNIT_SHMEM_RMA(CALL_NO_MOVES, )
    unsigned char here[2] = {3, 4}, *const there = (unsigned char *)heap;
    there[0] = 5;
    there[1] = 6;
    shmem_barrier_all();
#define CALL_NO_SIZES(BITS)          \
    NO_MOVES(, BITS, there, here);   \
    NO_STRIDES(, BITS, there, here); \
    NO_MOVES(, BITS, NULL, NULL);    \
    NO_STRIDES(, BITS, NULL, NULL);
    SENNIT_SHMEM_SIZES(CALL_NO_SIZES)
    NO_MOVES(, mem, there, here);
    NO_MOVES(, mem, there + 2 * sizeof *heap, here + 2); /* beyond the end */
    shmem_barrier_all();
    CHECK(here[0] == 3 && here[1] == 4 && there[0] == 5 && there[1] == 6);
    CHECK(signal_word == 2 * 2 * 5 + 4);
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_pe_quiet(ctx, NULL, 0);
    CHECK(shmem_malloc(0) == NULL && shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL);
    CHECK(shmem_align(64, 0) == NULL && shmem_malloc_with_hints(0, 0) == NULL);
    CHECK(shmem_realloc(NULL, 0) == NULL);
    shmem_free(heap);
}

/* Collective calls of length 0, by each type; all values must stay. */
#define NOTHING(N, Z, TO, FROM)                                           \
    do {                                                                  \
        for (int root = 0; root < shmem_team_n_pes(team); ++root)         \
            CHECK(shmem_##N##broadcast##Z(team, TO, FROM, 0, root) == 0); \
        CHECK(shmem_##N##collect##Z(team, TO, FROM, 0) == 0);             \
        CHECK(shmem_##N##fcollect##Z(team, TO, FROM, 0) == 0);            \
        CHECK(shmem_##N##alltoall##Z(team, TO, FROM, 0) == 0);            \
        CHECK(shmem_##N##alltoalls##Z(team, TO, FROM, 2, 3, 0) == 0);     \
    } while (0)
#define NOTHING_AT(T, N, USE)                                                        \
    static void USE##_##N(shmem_team_t team) {                                       \
        static T from[2], to[2];                                                     \
        for (int i = 0; i < 2; ++i) {                                                \
            from[i] = (T)(3 + i);                                                    \
            to[i] = (T)(5 + i);                                                      \
        }                                                                            \
        USE(N, to, from);                                                            \
        USE(N, NULL, NULL);                                                          \
        USE(N, from, from); /* in place */                                           \
        CHECK(from[0] == (T)3 && from[1] == (T)4 && to[0] == (T)5 && to[1] == (T)6); \
    }
#define no_blocks(N, TO, FROM) NOTHING(N##_, , TO, FROM)
#define no_order(N, TO, FROM)                              \
    CHECK(shmem_##N##_max_reduce(team, TO, FROM, 0) == 0); \
    CHECK(shmem_##N##_min_reduce(team, TO, FROM, 0) == 0)
#define no_sums(N, TO, FROM)                                \
    CHECK(shmem_##N##_sum_reduce(team, TO, FROM, 0) == 0);  \
    CHECK(shmem_##N##_prod_reduce(team, TO, FROM, 0) == 0); \
    CHECK(shmem_##N##_sum_inscan(team, TO, FROM, 0) == 0);  \
    CHECK(shmem_##N##_sum_exscan(team, TO, FROM, 0) == 0)
#define no_bits(N, TO, FROM)                               \
    CHECK(shmem_##N##_and_reduce(team, TO, FROM, 0) == 0); \
    CHECK(shmem_##N##_or_reduce(team, TO, FROM, 0) == 0);  \
    CHECK(shmem_##N##_xor_reduce(team, TO, FROM, 0) == 0)
SENNIT_SHMEM_RMA(NOTHING_AT, no_blocks)
SENNIT_SHMEM_RMA(NOTHING_AT, no_order)
SENNIT_SHMEM_REDUCE_SUM(NOTHING_AT, no_sums)
SENNIT_SHMEM_REDUCE_BITS(NOTHING_AT, no_bits)

static void nothing_together(void) {
    const shmem_team_t all[] = {SHMEM_TEAM_WORLD, reversed, alone, odd};
    static unsigned char from[2] = {3, 4}, to[2] = {5, 6};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        const shmem_team_t team = all[i];
        if (team == SHMEM_TEAM_INVALID) continue;
#define CALL_NOTHING(T, N, USE) USE##_##N(team);
        SENNIT_SHMEM_RMA(CALL_NOTHING, no_blocks)
        SENNIT_SHMEM_RMA(CALL_NOTHING, no_order)
        SENNIT_SHMEM_REDUCE_SUM(CALL_NOTHING, no_sums)
        SENNIT_SHMEM_REDUCE_BITS(CALL_NOTHING, no_bits)
        NOTHING(, mem, to, from);
        NOTHING(, mem, NULL, NULL);
    }
    CHECK(from[0] == 3 && from[1] == 4 && to[0] == 5 && to[1] == 6);
}

/* Only some PEs give elements: the first, the last, all but one, or every second one gives none.
 * The memory behind the result stays. */
static size_t part_of(int pe, int size, int who) {
    const int gives[] = {pe != 0, pe != size - 1, pe == size / 2, pe % 2, 0};
    return gives[who] ? (size_t)pe % 3 + 1 : 0;
}

static void some_give_nothing(void) {
    static long from[kMany], to[kMany];
    const shmem_team_t all[] = {SHMEM_TEAM_WORLD, reversed, alone};
    for (size_t k = 0; k < 5 * sizeof all / sizeof *all; ++k) {
        const shmem_team_t team = all[k / 5];
        const int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
        for (int i = 0; i < kMany; ++i) {
            from[i] = mine * 100 + i;
            to[i] = -1;
        }
        shmem_team_sync(team);
        CHECK(shmem_long_collect(team, to, from, part_of(mine, size, (int)(k % 5))) == 0);
        size_t at = 0;
        for (int pe = 0; pe < size; ++pe) {
            for (size_t i = 0; i < part_of(pe, size, (int)(k % 5)); ++i)
                CHECK(to[at++] == pe * 100 + (long)i);
        }
        CHECK(to[at] == -1);
        shmem_team_sync(team);
    }
}

/* The same with active sets: of all PEs, and of every second one. */
static long sync_a[SHMEM_SYNC_SIZE], sync_b[SHMEM_SYNC_SIZE];
#define NO_TO_ALL(T, N, V)                                                    \
    do {                                                                      \
        static T from = (T)3, to = (T)5, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE]; \
        shmem_##N##V##_to_all(&to, &from, 0, 0, log, size, work, sync_a);     \
        shmem_##N##V##_to_all(&from, &from, 0, 0, log, size, work, sync_b);   \
        CHECK(from == (T)3 && to == (T)5);                                    \
    } while (0);
#define NO_SUM_TO_ALL(T, N, ...) NO_TO_ALL(T, N, _sum) NO_TO_ALL(T, N, _prod)
#define NO_ORDER_TO_ALL(T, N, ...) NO_TO_ALL(T, N, _max) NO_TO_ALL(T, N, _min)
#define NO_BITS_TO_ALL(T, N, ...) NO_TO_ALL(T, N, _and) NO_TO_ALL(T, N, _or) NO_TO_ALL(T, N, _xor)
#define NO_ACTIVE_BLOCKS(BITS, T)                                                          \
    static void no_active_blocks_##BITS(int log, int size) {                               \
        static T from[kMany], to[kMany];                                                   \
        const int mine = me >> log;                                                        \
        for (int i = 0; i < kMany; ++i) {                                                  \
            from[i] = (T)(mine * 100 + i);                                                 \
            to[i] = (T)-1;                                                                 \
        }                                                                                  \
        shmem_barrier(0, log, size, sync_a);                                               \
        shmem_broadcast##BITS(to, from, 0, size - 1, 0, log, size, sync_b);                \
        shmem_fcollect##BITS(to, from, 0, 0, log, size, sync_a);                           \
        shmem_alltoall##BITS(to, from, 0, 0, log, size, sync_b);                           \
        shmem_alltoalls##BITS(to, from, 2, 3, 0, 0, log, size, sync_a);                    \
        CHECK(to[0] == (T)-1 && to[1] == (T)-1);                                           \
        for (int who = 0; who < 5; ++who) {                                                \
            shmem_barrier(0, log, size, sync_b);                                           \
            shmem_collect##BITS(to, from, part_of(mine, size, who), 0, log, size, sync_a); \
            size_t at = 0;                                                                 \
            for (int pe = 0; pe < size; ++pe) {                                            \
                for (size_t i = 0; i < part_of(pe, size, who); ++i)                        \
                    CHECK(to[at++] == (T)(pe * 100 + (int)i));                             \
            }                                                                              \
        }                                                                                  \
    }
NO_ACTIVE_BLOCKS(32, int32_t)
NO_ACTIVE_BLOCKS(64, int64_t)

static void active_sets(void) {
    for (int log = 0; log < 2; ++log) {
        const int size = log == 0 ? pes : (pes + 1) / 2;
        if (me % (1 << log) == 0) {
            no_active_blocks_32(log, size);
            no_active_blocks_64(log, size);
            SENNIT_SHMEM_ACTIVE_SUM(NO_SUM_TO_ALL, )
            SENNIT_SHMEM_ACTIVE_ORDER(NO_ORDER_TO_ALL, )
            SENNIT_SHMEM_ACTIVE_BITS(NO_BITS_TO_ALL, )
            shmem_barrier(0, log, size, sync_a);
            for (int i = 0; i < SHMEM_SYNC_SIZE; ++i)
                CHECK(sync_a[i] == SHMEM_SYNC_VALUE && sync_b[i] == SHMEM_SYNC_VALUE);
        }
        shmem_barrier_all();
    }
}

static void end(void) {
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(odd);
    shmem_team_destroy(alone);
    shmem_team_destroy(reversed);
}

int main(int argc, char **argv) {
    static const struct test tests[] = {
        TEST(start),       TEST(transfers), TEST(nothing_together), TEST(some_give_nothing),
        TEST(active_sets), TEST(end)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
