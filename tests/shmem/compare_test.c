/* Waits and tests: each comparison of each type with the values where types differ, every form with
 * one value and with one value for each word, empty sets, and forms that really wait. Breaks when a
 * type is compared as another (a sign, a width), a comparison is mistaken for a similar one, or a
 * word that is left out is read. */
#include "check.h"

enum { kValues = 5, kComparisons = 6, kWords = 3 };
static const int comparisons[kComparisons] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                              SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

/* The comparison's result in C, given whether the first value is less or equal. */
static int holds(int cmp, int is_less, int is_equal) {
    const int result[] = {[SHMEM_CMP_EQ] = is_equal,
                          [SHMEM_CMP_NE] = !is_equal,
                          [SHMEM_CMP_GT] = !is_less && !is_equal,
                          [SHMEM_CMP_GE] = !is_less,
                          [SHMEM_CMP_LT] = is_less,
                          [SHMEM_CMP_LE] = is_less || is_equal};
    return result[cmp];
}

/* The words for which the comparison holds, and a status array that leaves out the others. */
struct wanted {
    int has[kValues], left_out[kValues];
    int some, all;
};
static void want(struct wanted *wanted, int i, int has) {
    wanted->has[i] = has;
    wanted->left_out[i] = 3 * !has; /* any value but 0 */
    wanted->some |= has;
    wanted->all &= has;
}

static int is_one_of(size_t index, const struct wanted *wanted) {
    if (!wanted->some) return index == SIZE_MAX;
    return index < kValues && wanted->has[index];
}
/* True if the indices are exactly the wanted ones, each once. */
static int are_all_of(const size_t *indices, size_t count, const struct wanted *wanted) {
    int left[kValues];
    memcpy(left, wanted->has, sizeof left);
    for (size_t i = 0; i < count; ++i) {
        if (indices[i] >= kValues || !left[indices[i]]--) return 0;
    }
    for (int i = 0; i < kValues; ++i) {
        if (left[i]) return 0;
    }
    return 1;
}

/* Every form over all words. If no word holds, a wait would not end, except with all words left
 * out. */
#define SETS_OF(T, N, Z, VALUE)                                                                    \
    static void sets_of_##N##Z(T *words, int cmp, VALUE value, const struct wanted *wanted) {      \
        size_t found[kValues];                                                                     \
        const int *const left_out = wanted->left_out, *const out = wanted->some ? NULL : left_out; \
        CHECK(shmem_##N##_test_all##Z(words, kValues, NULL, cmp, value) == wanted->all);           \
        CHECK(shmem_##N##_test_all##Z(words, kValues, left_out, cmp, value) == 1);                 \
        shmem_##N##_wait_until_all##Z(words, kValues, left_out, cmp, value);                       \
        CHECK(is_one_of(shmem_##N##_test_any##Z(words, kValues, NULL, cmp, value), wanted));       \
        CHECK(is_one_of(shmem_##N##_test_any##Z(words, kValues, left_out, cmp, value), wanted));   \
        CHECK(is_one_of(shmem_##N##_wait_until_any##Z(words, kValues, out, cmp, value), wanted));  \
        size_t count = shmem_##N##_test_some##Z(words, kValues, found, NULL, cmp, value);          \
        CHECK(are_all_of(found, count, wanted));                                                   \
        count = shmem_##N##_test_some##Z(words, kValues, found, left_out, cmp, value);             \
        CHECK(are_all_of(found, count, wanted));                                                   \
        count = shmem_##N##_wait_until_some##Z(words, kValues, found, out, cmp, value);            \
        CHECK(are_all_of(found, count, wanted));                                                   \
    }
#define SETS(T, N, ...) SETS_OF(T, N, , T) SETS_OF(T, N, _vector, const T *)
SENNIT_SHMEM_AMO(SETS, )
#define CALL_SETS(N)                         \
    sets_of_##N(words, cmp, value, &wanted); \
    sets_of_##N##_vector(words, cmp, values, &wanted_each);
#define NO_SETS(N)

/* All words compared with one value, and each word compared with the value `behind` places further
 * on. */
#define TABLE(T, N, FORMS)                                                                      \
    static T table_words_##N[kValues];                                                          \
    static void table_of_##N(void) {                                                            \
        const T top = (T)(1ULL << (8 * sizeof(T) - 1));                                         \
        const T all[kValues] = {(T)0, (T)1, (T)-1, top, (T)~top};                               \
        T *const words = table_words_##N, values[kValues];                                      \
        memcpy(words, all, sizeof all);                                                         \
        for (int k = 0; k < kComparisons * kValues; ++k) {                                      \
            const int cmp = comparisons[k / kValues], behind = k % kValues;                     \
            const T value = all[behind];                                                        \
            struct wanted wanted = {.all = 1}, wanted_each = {.all = 1};                        \
            for (int i = 0; i < kValues; ++i) {                                                 \
                values[i] = all[(i + behind) % kValues];                                        \
                want(&wanted, i, holds(cmp, words[i] < value, words[i] == value));              \
                want(&wanted_each, i, holds(cmp, words[i] < values[i], words[i] == values[i])); \
                CHECK(shmem_##N##_test(&words[i], cmp, value) == wanted.has[i]);                \
                if (wanted.has[i]) shmem_##N##_wait_until(&words[i], cmp, value);               \
            }                                                                                   \
            FORMS(N)                                                                            \
        }                                                                                       \
    }
SENNIT_SHMEM_AMO(TABLE, CALL_SETS)
SENNIT_SHMEM_OLD_TEST(TABLE, NO_SETS)

static void each_comparison_of_each_type(void) {
#define CALL_TABLE(T, N, ...) table_of_##N();
    SENNIT_SHMEM_AMO(CALL_TABLE, )
    SENNIT_SHMEM_OLD_TEST(CALL_TABLE, )
    static uint64_t word = 7;
    for (int i = 0; i < kComparisons; ++i) {
        for (uint64_t value = 6; value <= 8; ++value) {
            if (holds(comparisons[i], word < value, word == value))
                CHECK(shmem_signal_wait_until(&word, comparisons[i], value) == 7);
        }
    }
}

/* No words at all, with and without arrays, and words that are all left out. */
#define EMPTY(T, N, Z, NO_VALUE, ...)                                                              \
    do {                                                                                           \
        CHECK(shmem_##N##_test_all##Z(words, count, status, SHMEM_CMP_EQ, NO_VALUE) == 1);         \
        CHECK(shmem_##N##_test_any##Z(words, count, status, SHMEM_CMP_EQ, NO_VALUE) == SIZE_MAX);  \
        CHECK(shmem_##N##_test_some##Z(words, count, found, status, SHMEM_CMP_EQ, NO_VALUE) == 0); \
        shmem_##N##_wait_until_all##Z(words, count, status, SHMEM_CMP_EQ, NO_VALUE);               \
        CHECK(shmem_##N##_wait_until_any##Z(words, count, status, SHMEM_CMP_EQ, NO_VALUE) ==       \
              SIZE_MAX);                                                                           \
        CHECK(shmem_##N##_wait_until_some##Z(words, count, found, status, SHMEM_CMP_EQ,            \
                                             NO_VALUE) == 0);                                      \
    } while (0)
#define EMPTY_SETS(T, N, ...)                                          \
    static void empty_##N(T *words, size_t count, const int *status) { \
        const T values[kWords] = {(T)5, (T)5, (T)5};                   \
        size_t found[kWords] = {9, 9, 9};                              \
        EMPTY(T, N, , (T)5);                                           \
        EMPTY(T, N, _vector, count == 0 ? NULL : values);              \
        CHECK(found[0] == 9 && found[kWords - 1] == 9);                \
    }                                                                  \
    static T empty_words_##N[kWords];
SENNIT_SHMEM_AMO(EMPTY_SETS, )

static void empty_sets(void) {
    const int all_out[kWords] = {1, -1, 256};
#define CALL_EMPTY(T, N, ...)                             \
    empty_##N(NULL, 0, NULL);                             \
    empty_##N(empty_words_##N, 0, all_out);               \
    for (int i = 0; i < kWords; ++i)                      \
        empty_words_##N[i] = (T)5; /* the wanted value */ \
    empty_##N(empty_words_##N, kWords, all_out);
    SENNIT_SHMEM_AMO(CALL_EMPTY, )
}

/* Words that another PE sets, the last one first; each form with a value waits for them. */
#define LATE(T, N, ...)                                                                            \
    static T late_words_##N[kWords];                                                               \
    static void send_##N(int next, int round) {                                                    \
        for (int i = kWords; i-- > 0;)                                                             \
            shmem_##N##_atomic_set(&late_words_##N[i], (T)(i + round), next);                      \
    }                                                                                              \
    static void late_##N(int next) {                                                               \
        T *const words = late_words_##N;                                                           \
        int status[kWords] = {0, 0, 0};                                                            \
        size_t found[kWords];                                                                      \
        const T values[3][kWords] = {{1, 2, 3}, {2, 3, 4}, {3, 4, 5}};                             \
        shmem_barrier_all();                                                                       \
        send_##N(next, 1);                                                                         \
        shmem_##N##_wait_until_all_vector(words, kWords, NULL, SHMEM_CMP_EQ, values[0]);           \
        CHECK(memcmp(words, values[0], sizeof values[0]) == 0);                                    \
        shmem_barrier_all();                                                                       \
        send_##N(next, 2);                                                                         \
        for (int k = 0; k < kWords; ++k) {                                                         \
            const size_t i =                                                                       \
                shmem_##N##_wait_until_any_vector(words, kWords, status, SHMEM_CMP_GE, values[1]); \
            CHECK(i < kWords && !status[i] && words[i] == values[1][i]);                           \
            if (i < kWords) status[i] = 1;                                                         \
        }                                                                                          \
        memset(status, 0, sizeof status);                                                          \
        shmem_barrier_all();                                                                       \
        send_##N(next, 3);                                                                         \
        for (size_t left = kWords; left != 0;) {                                                   \
            const size_t count = shmem_##N##_wait_until_some_vector(words, kWords, found, status,  \
                                                                    SHMEM_CMP_EQ, values[2]);      \
            CHECK(count >= 1 && count <= left);                                                    \
            for (size_t i = 0; i < count; ++i)                                                     \
                CHECK(!status[found[i]]++);                                                        \
            left -= count <= left ? count : left;                                                  \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
    }
SENNIT_SHMEM_AMO(LATE, )

static void late_words(void) {
    const int next = (shmem_my_pe() + 1) % shmem_n_pes();
#define CALL_LATE(T, N, ...) late_##N(next);
    SENNIT_SHMEM_AMO(CALL_LATE, )
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(each_comparison_of_each_type), TEST(empty_sets),
                                        TEST(late_words)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
