/* Calls that PEs make together: heap, teams, contexts, collective calls, waiting, locks, queries.
 */
#include "check.h"

enum { kCount = 9 };

static int me, pes;

static void queries(void) {
    int major = 0, minor = 0, there = 0, level = -1;
    char name[SHMEM_MAX_NAME_LEN];
    me = shmem_my_pe();
    pes = shmem_n_pes();
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    shmem_query_initialized(&there);
    shmem_query_thread(&level);
    CHECK(major == 1 && minor == 6 && strcmp(name, SHMEM_VENDOR_STRING) == 0 && there != 0);
    CHECK(level == SHMEM_THREAD_SERIALIZED);
    CHECK(shmem_pe_accessible(0) == 1 && shmem_pe_accessible(pes) == 0);
    CHECK(shmem_pe_accessible(-1) == 0);
    CHECK(shmem_addr_accessible(&me, 0) == 1); /* a static variable */
    CHECK(shmem_addr_accessible(&major, 0) == 0);
    CHECK(shmem_ptr(&major, 0) == NULL && shmem_ptr(&me, pes) == NULL);
    CHECK(shmem_ptr(&me, me) == &me);
    shmem_init();
    shmem_finalize();
    shmem_query_initialized(&there);
    CHECK(there != 0);
}

/* All PEs get the same places, and freed parts are reused. */
static void heap(void) {
    char *first = shmem_malloc(1000);
    CHECK(first != NULL && shmem_malloc(0) == NULL);
    for (size_t alignment = 8; alignment <= 1u << 22; alignment *= 2) {
        char *aligned = shmem_align(alignment, 24);
        CHECK(aligned != NULL && (uintptr_t)aligned % alignment == 0);
        shmem_free(aligned);
    }
    long *zeros = shmem_calloc(50, sizeof *zeros);
    for (int i = 0; i < 50; ++i)
        CHECK(zeros[i] == 0);
    memset(first, me + 1, 1000);
    char *grown = shmem_realloc(first, 1 << 20);
    for (int i = 0; i < 1000; ++i)
        CHECK(grown[i] == (char)(me + 1));
    char seen = 0;
    shmem_getmem(&seen, grown + 999, 1, (me + 1) % pes);
    CHECK(seen == (char)((me + 1) % pes + 1));
    CHECK(shmem_malloc((size_t)1 << 60) == NULL);
    /* An allocation that finds no room leaves the old one where it was. */
    CHECK(shmem_realloc(grown, (size_t)1 << 60) == NULL && grown[999] == (char)(me + 1));
    grown = shmem_realloc(grown, 10);
    CHECK(grown[9] == (char)(me + 1));
    CHECK(shmem_realloc(grown, 0) == NULL);
    shmem_free(zeros);
    void *hinted = shmem_malloc_with_hints(64, SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(hinted != NULL && shmem_addr_accessible(hinted, 0));
    shmem_free(hinted);
    shmem_free(NULL);
    /* The same calls by their older names. */
    char *old = shmalloc(100);
    CHECK(old != NULL && shmem_addr_accessible(old, pes - 1));
    old = shrealloc(old, 5000);
    CHECK(old != NULL);
    char *aligned = shmemalign(1024, 100);
    CHECK(aligned != NULL && (uintptr_t)aligned % 1024 == 0 && aligned != old);
    shfree(aligned);
    shfree(old);
    CHECK(_my_pe() == me && _num_pes() == pes);
}

static void teams(void) {
    shmem_team_t evens = SHMEM_TEAM_WORLD, part = SHMEM_TEAM_WORLD;
    shmem_team_config_t config = {3};
    CHECK(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_WORLD) == pes);
    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &part) != 0);
    CHECK(part == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes + 1, NULL, 0, &part) != 0);
    const int half = (pes + 1) / 2;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, half, &config, SHMEM_TEAM_NUM_CONTEXTS,
                                   &evens) == 0);
    CHECK((evens != SHMEM_TEAM_INVALID) == (me % 2 == 0));
    if (evens != SHMEM_TEAM_INVALID) {
        config.num_contexts = 0;
        CHECK(shmem_team_get_config(evens, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0);
        CHECK(config.num_contexts == 3);
        CHECK(shmem_team_my_pe(evens) == me / 2 && shmem_team_n_pes(evens) == half);
        CHECK(shmem_team_translate_pe(evens, half - 1, SHMEM_TEAM_WORLD) == 2 * (half - 1));
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes > 1 ? 1 : 0, evens) ==
              (pes > 1 ? -1 : 0));
        /* A team within the team, and a context that ends before its team. */
        CHECK(shmem_team_split_strided(evens, half - 1, -1, half, NULL, 0, &part) == 0);
        CHECK(shmem_team_my_pe(part) == half - 1 - me / 2);
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        shmem_team_t of = SHMEM_TEAM_INVALID;
        CHECK(shmem_team_create_ctx(part, SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &ctx) == 0);
        CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == part);
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
        static int word;
        word = -1;
        shmem_team_sync(part);
        const int last = half - 1;
        shmem_ctx_int_p(ctx, &word, me, (shmem_team_my_pe(part) + 1) % half);
        shmem_ctx_quiet(ctx);
        shmem_ctx_session_stop(ctx);
        shmem_team_sync(part);
        CHECK(word == shmem_team_translate_pe(part, (shmem_team_my_pe(part) + last) % half,
                                              SHMEM_TEAM_WORLD));
        shmem_ctx_destroy(ctx);
        /* A context ends with its team if threads may share it; its slot is reused. */
        shmem_ctx_t shared = SHMEM_CTX_INVALID;
        CHECK(shmem_team_create_ctx(part, 0, &shared) == 0);
        shmem_team_destroy(part);
        CHECK(shmem_ctx_get_team(shared, &of) != 0 && of == SHMEM_TEAM_INVALID);
        CHECK(shmem_team_create_ctx(evens, 0, &ctx) == 0 && ctx == shared);
        CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == evens);
        shmem_team_destroy(evens);
    }
    shmem_team_t row, column;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, NULL, 0, &row, NULL, 0, &column) == 0);
    const int range = pes < 3 ? pes : 3;
    CHECK(shmem_team_my_pe(row) == me % range && shmem_team_my_pe(column) == me / range);
    shmem_team_destroy(column);
    shmem_team_destroy(row);
    CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) >= 1);
    CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, &me, shmem_team_my_pe(SHMEM_TEAM_SHARED)) == &me);
    shmem_ctx_t none;
    shmem_team_t of;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &none) != 0 && none == SHMEM_CTX_INVALID);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &of) != 0 && of == SHMEM_TEAM_INVALID);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &of) == 0 && of == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &none) == 0);
    CHECK(shmem_ctx_get_team(none, &of) == 0 && of == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(none);
}

/* Collective calls of each type, on the world and on a smaller team. */
static shmem_team_t some;
#define COLL_TEST(T, N, ...)                                                    \
    static T N##_from[16 * kCount * 2], N##_to[16 * kCount * 2];                \
    static void coll_##N(shmem_team_t team) {                                   \
        T *from = N##_from, *to = N##_to;                                       \
        const int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team); \
        for (int i = 0; i < size * kCount * 2; ++i) {                           \
            from[i] = (T)(mine * 5 + i);                                        \
            to[i] = (T)0;                                                       \
        }                                                                       \
        shmem_team_sync(team);                                                  \
        CHECK(shmem_##N##_broadcast(team, to, from, kCount, size - 1) == 0);    \
        for (int i = 0; i < kCount; ++i)                                        \
            CHECK(to[i] == (T)((size - 1) * 5 + i));                            \
        shmem_team_sync(team);                                                  \
        CHECK(shmem_##N##_fcollect(team, to, from, kCount) == 0);               \
        for (int i = 0; i < size * kCount; ++i)                                 \
            CHECK(to[i] == (T)(i / kCount * 5 + i % kCount));                   \
        shmem_team_sync(team);                                                  \
        /* PE i gives i + 1 elements. */                                        \
        CHECK(shmem_##N##_collect(team, to, from, (size_t)mine + 1) == 0);      \
        for (int pe = 0, at = 0; pe < size; at += ++pe) {                       \
            for (int i = 0; i <= pe; ++i)                                       \
                CHECK(to[at + i] == (T)(pe * 5 + i));                           \
        }                                                                       \
        shmem_team_sync(team);                                                  \
        CHECK(shmem_##N##_alltoall(team, to, from, 2) == 0);                    \
        for (int i = 0; i < 2 * size; ++i)                                      \
            CHECK(to[i] == (T)(i / 2 * 5 + 2 * mine + i % 2));                  \
        shmem_team_sync(team);                                                  \
        CHECK(shmem_##N##_alltoalls(team, to, from, 3, 2, 2) == 0);             \
        for (int i = 0; i < 2 * size; ++i)                                      \
            CHECK(to[3 * i] == (T)(i / 2 * 5 + 2 * (2 * mine + i % 2)));        \
        shmem_team_sync(team);                                                  \
        CHECK(shmem_##N##_max_reduce(team, to, from, kCount) == 0);             \
        for (int i = 0; i < kCount; ++i)                                        \
            CHECK(to[i] == (T)((size - 1) * 5 + i));                            \
        CHECK(shmem_##N##_min_reduce(team, from, from, kCount) == 0);           \
        for (int i = 0; i < kCount; ++i)                                        \
            CHECK(from[i] == (T)i);                                             \
        shmem_team_sync(team);                                                  \
    }
SENNIT_SHMEM_RMA(COLL_TEST, )

#define SUM_TEST(T, N, ...)                                                     \
    static void sum_##N(shmem_team_t team) {                                    \
        static T from[kCount], to[kCount];                                      \
        const int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team); \
        for (int i = 0; i < kCount; ++i)                                        \
            from[i] = (T)(mine + 1);                                            \
        shmem_team_sync(team);                                                  \
        CHECK(shmem_##N##_sum_reduce(team, to, from, kCount) == 0);             \
        CHECK(to[0] == (T)(size * (size + 1) / 2) && to[kCount - 1] == to[0]);  \
        CHECK(shmem_##N##_prod_reduce(team, to, from, kCount) == 0);            \
        T product = (T)1;                                                       \
        for (int i = 2; i <= size; ++i)                                         \
            product = (T)(product * (T)i);                                      \
        CHECK(to[0] == product && to[kCount - 1] == product);                   \
        CHECK(shmem_##N##_sum_inscan(team, to, from, kCount) == 0);             \
        CHECK(to[1] == (T)((mine + 1) * (mine + 2) / 2));                       \
        CHECK(shmem_##N##_sum_exscan(team, from, from, kCount) == 0);           \
        CHECK(from[1] == (T)(mine * (mine + 1) / 2));                           \
        shmem_team_sync(team);                                                  \
    }
SENNIT_SHMEM_REDUCE_SUM(SUM_TEST, )

#define BITS_TEST(T, N, ...)                                                    \
    static void bits_##N(shmem_team_t team) {                                   \
        static T from[kCount], to[kCount];                                      \
        const int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team); \
        for (int i = 0; i < kCount; ++i)                                        \
            from[i] = (T)(1 << mine % 7);                                       \
        T all = (T)0;                                                           \
        for (int i = 0; i < size; ++i)                                          \
            all = (T)(all ^ (T)(1 << i % 7));                                   \
        shmem_team_sync(team);                                                  \
        CHECK(shmem_##N##_or_reduce(team, to, from, kCount) == 0);              \
        CHECK(to[3] == (T)((1 << (size < 7 ? size : 7)) - 1));                  \
        CHECK(shmem_##N##_and_reduce(team, to, from, kCount) == 0);             \
        CHECK(to[3] == (size == 1 ? from[3] : (T)0));                           \
        CHECK(shmem_##N##_xor_reduce(team, to, from, kCount) == 0);             \
        CHECK(to[3] == all);                                                    \
        shmem_team_sync(team);                                                  \
    }
SENNIT_SHMEM_REDUCE_BITS(BITS_TEST, )

static void collectives(void) {
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (pes + 1) / 2, NULL, 0, &some) == 0);
    for (int k = 0; k < 2; ++k) {
        const shmem_team_t team = k == 0 ? SHMEM_TEAM_WORLD : some;
        if (team == SHMEM_TEAM_INVALID) continue;
#define COLL_CALL(T, N, ...) coll_##N(team);
#define SUM_CALL(T, N, ...) sum_##N(team);
#define BITS_CALL(T, N, ...) bits_##N(team);
        SENNIT_SHMEM_RMA(COLL_CALL, )
        SENNIT_SHMEM_REDUCE_SUM(SUM_CALL, )
        SENNIT_SHMEM_REDUCE_BITS(BITS_CALL, )
    }
    shmem_team_destroy(some);
    shmem_sync_all();
}

/* The collective calls for bytes. */
static void byte_collectives(void) {
    enum { kBytes = 5, kAll = 16 * kBytes * 3 };
    static unsigned char from[kAll], to[kAll];
    const shmem_team_t team = SHMEM_TEAM_WORLD;
    for (int i = 0; i < kAll; ++i)
        from[i] = (unsigned char)(me * 31 + i);
    shmem_sync_all();
    CHECK(shmem_broadcastmem(team, to, from, kBytes, pes - 1) == 0);
    for (int i = 0; i < kBytes; ++i)
        CHECK(to[i] == (unsigned char)((pes - 1) * 31 + i));
    shmem_sync_all();
    CHECK(shmem_fcollectmem(team, to, from, kBytes) == 0);
    for (int i = 0; i < pes * kBytes; ++i)
        CHECK(to[i] == (unsigned char)(i / kBytes * 31 + i % kBytes));
    shmem_sync_all();
    CHECK(shmem_collectmem(team, to, from, (size_t)me + 1) == 0);
    for (int pe = 0, at = 0; pe < pes; at += ++pe)
        CHECK(to[at + pe] == (unsigned char)(pe * 31 + pe));
    shmem_sync_all();
    CHECK(shmem_alltoallmem(team, to, from, kBytes) == 0);
    for (int i = 0; i < pes * kBytes; ++i)
        CHECK(to[i] == (unsigned char)(i / kBytes * 31 + me * kBytes + i % kBytes));
    shmem_sync_all();
    CHECK(shmem_alltoallsmem(team, to, from, 3, 2, 2) == 0);
    for (int i = 0; i < 2 * pes; ++i)
        CHECK(to[3 * i] == (unsigned char)(i / 2 * 31 + 2 * (2 * me + i % 2)));
    shmem_sync_all();
}

/* Active sets: PEs `first`, `first` + 2^`log` and so on, with the same work arrays again and
 * again. */
static long sync_a[SHMEM_SYNC_SIZE], sync_b[SHMEM_SYNC_SIZE];
struct active {
    int start, log, size, me;
};
#define THE_SET set.start, set.log, set.size

#define SET_TEST(BITS, T)                                                          \
    static T set_from_##BITS[64], set_to_##BITS[64];                               \
    static void active_set_##BITS(struct active set) {                             \
        T *const from = set_from_##BITS, *const to = set_to_##BITS;                \
        const int size = set.size, last = size - 1;                                \
        for (int round = 0; round < 10; ++round) {                                 \
            for (int i = 0; i < 64; ++i) {                                         \
                from[i] = (T)(set.me * 100 + i + round);                           \
                to[i] = (T)-1;                                                     \
            }                                                                      \
            shmem_barrier(THE_SET, sync_a);                                        \
            shmem_broadcast##BITS(to, from, 5, last, THE_SET, sync_b);             \
            for (int i = 0; i < 5; ++i)                                            \
                CHECK(to[i] == (T)(set.me == last ? -1 : last * 100 + i + round)); \
            shmem_sync(THE_SET, sync_a);                                           \
            shmem_fcollect##BITS(to, from, 2, THE_SET, sync_b);                    \
            for (int i = 0; i < 2 * size; ++i)                                     \
                CHECK(to[i] == (T)(i / 2 * 100 + i % 2 + round));                  \
            shmem_sync(THE_SET, sync_a);                                           \
            shmem_collect##BITS(to, from, (size_t)set.me + 1, THE_SET, sync_b);    \
            for (int pe = 0, at = 0; pe < size; at += ++pe)                        \
                CHECK(to[at + pe] == (T)(pe * 100 + pe + round));                  \
            shmem_sync(THE_SET, sync_a);                                           \
            shmem_alltoall##BITS(to, from, 1, THE_SET, sync_b);                    \
            for (int i = 0; i < size; ++i)                                         \
                CHECK(to[i] == (T)(i * 100 + set.me + round));                     \
            shmem_sync(THE_SET, sync_a);                                           \
            shmem_alltoalls##BITS(to, from, 2, 3, 1, THE_SET, sync_b);             \
            for (int i = 0; i < size; ++i)                                         \
                CHECK(to[2 * i] == (T)(i * 100 + 3 * set.me + round));             \
            shmem_sync(THE_SET, sync_a);                                           \
            for (int i = 0; i < SHMEM_SYNC_SIZE; ++i)                              \
                CHECK(sync_b[i] == SHMEM_SYNC_VALUE);                              \
        }                                                                          \
    }
SET_TEST(32, int32_t)
SET_TEST(64, int64_t)

/* Reductions: into another array, and into the source. The members' values are 1, 2, 3 and so on.
 */
#define TO_ALL(N, V, WANTED)                                         \
    do {                                                             \
        for (int i = 0; i < 4; ++i)                                  \
            from[i] = to[i] = MINE;                                  \
        shmem_barrier(THE_SET, sync_a);                              \
        shmem_##N##V##_to_all(to, from, 3, THE_SET, work, sync_b);   \
        shmem_barrier(THE_SET, sync_a);                              \
        shmem_##N##V##_to_all(from, from, 3, THE_SET, work, sync_b); \
        for (int i = 0; i < 3; ++i)                                  \
            CHECK(to[i] == (WANTED) && from[i] == (WANTED));         \
        CHECK(to[3] == MINE && from[3] == MINE);                     \
    } while (0)
#define TO_ALL_ARRAYS(T, N, KIND)                                     \
    static T from[4], to[4], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 4]; \
    const int size = set.size;
#define ACTIVE_BITS_TEST(T, N, ...)                                \
    static void active_bits_##N(struct active set) {               \
        TO_ALL_ARRAYS(T, N, bits)                                  \
        T parity = (T)0;                                           \
        for (int i = 0; i < size; ++i)                             \
            parity = (T)(parity ^ (1 << i | 1 << 12));             \
        TO_ALL(N, _or, (T)((1 << size) - 1 + (1 << 12)));          \
        TO_ALL(N, _and, (T)(size == 1 ? 1 + (1 << 12) : 1 << 12)); \
        TO_ALL(N, _xor, parity);                                   \
    }
#define ACTIVE_ORDER_TEST(T, N, ...)                  \
    static void active_order_##N(struct active set) { \
        TO_ALL_ARRAYS(T, N, order)                    \
        TO_ALL(N, _max, (T)size);                     \
        TO_ALL(N, _min, (T)1);                        \
    }
#define ACTIVE_SUM_TEST(T, N, ...)                   \
    static void active_sum_##N(struct active set) {  \
        TO_ALL_ARRAYS(T, N, sum)                     \
        T product = (T)1;                            \
        for (int i = 2; i <= size; ++i)              \
            product = (T)(product * (T)i);           \
        TO_ALL(N, _sum, (T)(size * (size + 1) / 2)); \
        TO_ALL(N, _prod, product);                   \
    }
#define MINE ((__typeof__(*to))(1 << set.me | 1 << 12))
SENNIT_SHMEM_ACTIVE_BITS(ACTIVE_BITS_TEST, )
#undef MINE
#define MINE ((__typeof__(*to))(set.me + 1))
SENNIT_SHMEM_ACTIVE_ORDER(ACTIVE_ORDER_TEST, )
SENNIT_SHMEM_ACTIVE_SUM(ACTIVE_SUM_TEST, )

static void active_set(int start, int log, int size) {
    const struct active set = {start, log, size, (me - start) >> log};
    if (me < start || (me - start) % (1 << log) != 0 || set.me >= size) return;
    active_set_32(set);
    active_set_64(set);
#define ACTIVE_BITS_CALL(T, N, ...) active_bits_##N(set);
#define ACTIVE_ORDER_CALL(T, N, ...) active_order_##N(set);
#define ACTIVE_SUM_CALL(T, N, ...) active_sum_##N(set);
    SENNIT_SHMEM_ACTIVE_BITS(ACTIVE_BITS_CALL, )
    SENNIT_SHMEM_ACTIVE_ORDER(ACTIVE_ORDER_CALL, )
    SENNIT_SHMEM_ACTIVE_SUM(ACTIVE_SUM_CALL, )
}

/* All PEs; all but the first; every second one, from the first and from the second; every fourth.
 */
static void active_sets(void) {
    active_set(0, 0, pes);
    shmem_barrier_all();
    active_set(1, 0, pes - 1);
    shmem_barrier_all();
    active_set(0, 1, (pes + 1) / 2);
    active_set(1, 1, pes / 2);
    shmem_barrier_all();
    active_set(0, 2, (pes + 3) / 4);
}

/* Each comparison and type, by the change that makes it true. */
#define WAIT_TEST(T, N, ...)                                                                     \
    static T N##_words[6];                                                                       \
    static void wait_##N(void) {                                                                 \
        static const struct {                                                                    \
            int cmp, from, to, value;                                                            \
        } cases[] = {{SHMEM_CMP_EQ, 0, 5, 5}, {SHMEM_CMP_NE, 5, 6, 5}, {SHMEM_CMP_GT, 6, 9, 6},  \
                     {SHMEM_CMP_GE, 6, 7, 7}, {SHMEM_CMP_LT, 9, 7, 9}, {SHMEM_CMP_LE, 8, 7, 7}}; \
        const int next = (me + 1) % pes;                                                         \
        for (int i = 0; i < 6; ++i) {                                                            \
            N##_words[i] = (T)cases[i].from;                                                     \
            CHECK(shmem_##N##_test(&N##_words[i], cases[i].cmp, (T)cases[i].value) == 0);        \
        }                                                                                        \
        shmem_barrier_all();                                                                     \
        for (int i = 0; i < 6; ++i)                                                              \
            shmem_##N##_atomic_set(&N##_words[i], (T)cases[i].to, next);                         \
        for (int i = 0; i < 6; ++i) {                                                            \
            shmem_##N##_wait_until(&N##_words[i], cases[i].cmp, (T)cases[i].value);              \
            CHECK(shmem_##N##_test(&N##_words[i], cases[i].cmp, (T)cases[i].value) == 1);        \
        }                                                                                        \
        shmem_barrier_all();                                                                     \
        sets_##N(N##_words, next);                                                               \
    }
/* Sets: six words, the third one left out; they arrive one by one. */
#define SETS_TEST(T, N, ...)                                                                       \
    static void sets_##N(T *words, int next) {                                                     \
        const int status[6] = {0, 0, 1, 0, 0, 0};                                                  \
        const T values[6] = {(T)1, (T)2, (T)3, (T)4, (T)5, (T)6};                                  \
        int seen[6] = {0, 0, 0, 0, 0, 0};                                                          \
        size_t indices[6], count = 0;                                                              \
        memset(words, 0, 6 * sizeof *words);                                                       \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##N##_test_any(words, 6, status, SHMEM_CMP_NE, (T)0) == SIZE_MAX);             \
        CHECK(shmem_##N##_test_some(words, 6, indices, NULL, SHMEM_CMP_NE, (T)0) == 0);            \
        CHECK(shmem_##N##_test_all(words, 6, status, SHMEM_CMP_EQ, (T)0) == 1);                    \
        CHECK(shmem_##N##_wait_until_any(words, 0, NULL, SHMEM_CMP_EQ, (T)1) == SIZE_MAX);         \
        CHECK(shmem_##N##_wait_until_some(words, 0, indices, NULL, SHMEM_CMP_EQ, (T)1) == 0);      \
        shmem_barrier_all();                                                                       \
        for (int i = 0; i < 6; ++i)                                                                \
            if (i != 2) shmem_##N##_atomic_set(&words[i], values[i], next);                        \
        int status_left[6] = {0, 0, 1, 0, 0, 0};                                                   \
        for (int k = 0; k < 5; ++k) {                                                              \
            const size_t i =                                                                       \
                shmem_##N##_wait_until_any(words, 6, status_left, SHMEM_CMP_NE, (T)0);             \
            CHECK(i < 6 && i != 2 && !seen[i] && words[i] == values[i]);                           \
            if (i < 6) status_left[i] = seen[i] = 1;                                               \
        }                                                                                          \
        shmem_##N##_wait_until_all_vector(words, 6, status, SHMEM_CMP_EQ, values);                 \
        CHECK(shmem_##N##_test_all_vector(words, 6, status, SHMEM_CMP_EQ, values) == 1);           \
        CHECK(shmem_##N##_test_all_vector(words, 6, NULL, SHMEM_CMP_EQ, values) == 0);             \
        count = shmem_##N##_wait_until_some_vector(words, 6, indices, NULL, SHMEM_CMP_EQ, values); \
        CHECK(count == 5 && indices[2] == 3);                                                      \
        count = shmem_##N##_test_some_vector(words, 6, indices, status, SHMEM_CMP_LT, values);     \
        CHECK(count == 0);                                                                         \
        CHECK(shmem_##N##_test_any_vector(words, 6, NULL, SHMEM_CMP_NE, values) == 2);             \
        CHECK(shmem_##N##_wait_until_any_vector(words, 6, NULL, SHMEM_CMP_LT, values) == 2);       \
        shmem_##N##_wait_until_all(words, 6, status, SHMEM_CMP_GE, (T)1);                          \
        count = shmem_##N##_wait_until_some(words, 6, indices, status, SHMEM_CMP_GE, (T)5);        \
        CHECK(count == 2 && indices[0] == 4 && indices[1] == 5);                                   \
        shmem_barrier_all();                                                                       \
    }
SENNIT_SHMEM_AMO(SETS_TEST, )
SENNIT_SHMEM_AMO(WAIT_TEST, )

/* The older functions: for 16 bits, and those that wait for a change. */
#define OLD_TEST_TEST(T, N, ...)                                                       \
    static T old_##N;                                                                  \
    static void old_test_##N(void) {                                                   \
        old_##N = (T)3;                                                                \
        CHECK(shmem_##N##_test(&old_##N, SHMEM_CMP_GT, (T)3) == 0);                    \
        shmem_barrier_all();                                                           \
        shmem_##N##_p(&old_##N, (T)7, (me + 1) % pes);                                 \
        shmem_##N##_wait_until(&old_##N, SHMEM_CMP_GT, (T)3);                          \
        CHECK(old_##N == (T)7 && shmem_##N##_test(&old_##N, SHMEM_CMP_LE, (T)7) == 1); \
        shmem_barrier_all();                                                           \
    }
#define OLD_WAIT_TEST(T, N, ...)                                 \
    static T old_wait_word_##N;                                  \
    static void old_wait_##N(void) {                             \
        shmem_##N##_p(&old_wait_word_##N, (T)9, (me + 1) % pes); \
        shmem_##N##_wait(&old_wait_word_##N, (T)0);              \
        CHECK(old_wait_word_##N == (T)9);                        \
    }
SENNIT_SHMEM_OLD_TEST(OLD_TEST_TEST, )
SENNIT_SHMEM_OLD_WAIT(OLD_WAIT_TEST, )

static void old_waits(void) {
    static long first, second;
#define OLD_TEST_CALL(T, N, ...) old_test_##N();
#define OLD_WAIT_CALL(T, N, ...) old_wait_##N();
    SENNIT_SHMEM_OLD_TEST(OLD_TEST_CALL, )
    SENNIT_SHMEM_OLD_WAIT(OLD_WAIT_CALL, )
    shmem_long_p(&first, 4, (me + 1) % pes);
    shmem_wait(&first, 0);
    CHECK(first == 4);
    shmem_long_p(&second, 5, (me + 1) % pes);
    (shmem_wait_until)(&second, SHMEM_CMP_EQ, 5); /* the function, not the macro */
    CHECK(second == 5);
    shmem_pcontrol(0);
    shmem_pcontrol(2, "more", 1.5);
}

static void waits(void) {
#define WAIT_CALL(T, N, ...) wait_##N();
    SENNIT_SHMEM_AMO(WAIT_CALL, )
}

/* Additions that only the lock protects. */
static long lock_word, lock_sum;

static void locks(void) {
    enum { kTurns = 60 };
    /* Both 32-bit counts of the lock overflow during the test: a carry of the served count must
     * not reach the tickets. */
    if (me == 0) lock_word = (long)0xfffffff0fffffff0;
    shmem_barrier_all();
    for (int i = 0; i < kTurns; ++i) {
        if (i % 3 == 2) {
            while (shmem_test_lock(&lock_word) != 0) {
            }
        } else {
            shmem_set_lock(&lock_word);
        }
        const long sum = shmem_long_g(&lock_sum, pes - 1);
        shmem_long_p(&lock_sum, sum + 1, pes - 1);
        shmem_clear_lock(&lock_word);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&lock_sum, pes - 1) == (long)kTurns * pes);
    shmem_set_lock(&lock_word);
    CHECK(shmem_test_lock(&lock_word) == 1);
    shmem_clear_lock(&lock_word);
}

/* Blocks of several elements in calls of active sets, which copy a block at once. Breaks when a
 * block's length or place is wrong. In the values every byte is set. */
#define BLOCKS_TEST(BITS, T)                                                          \
    static void blocks_##BITS(void) {                                                 \
        enum { kBlock = 5, kPes = 16 };                                               \
        static T from[kBlock * kPes], to[kBlock * (kPes + 1)];                        \
        const T unit = (T)(UINT64_C(0x0101010101010101) >> (64 - BITS));              \
        for (int i = 0; i < kBlock * kPes; ++i)                                       \
            from[i] = unit * (T)(me * kBlock * kPes + i) + 1;                         \
        for (int i = 0; i < kBlock * (kPes + 1); ++i)                                 \
            to[i] = 0;                                                                \
        shmem_barrier_all();                                                          \
        shmem_alltoall##BITS(to, from, kBlock, 0, 0, pes, sync_b);                    \
        for (int i = 0; i < kBlock * (pes + 1); ++i) {                                \
            const int pe = i / kBlock, at = me * kBlock + i % kBlock;                 \
            CHECK(to[i] == (pe < pes ? unit * (T)(pe * kBlock * kPes + at) + 1 : 0)); \
        }                                                                             \
        shmem_barrier_all();                                                          \
    }
BLOCKS_TEST(32, uint32_t)
BLOCKS_TEST(64, uint64_t)

static void blocks(void) {
    blocks_32();
    blocks_64();
}

int main(int argc, char **argv) {
    static const struct test tests[] = {
        TEST(queries),     TEST(heap),   TEST(teams), TEST(collectives), TEST(byte_collectives),
        TEST(active_sets), TEST(blocks), TEST(waits), TEST(old_waits),   TEST(locks)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
