// Waiting for words of this PE, testing them, and both for several. A wait is Sennit's: it makes
// progress, gives up the processor, and ends when a PE has died.
#include "state.hpp"

namespace shmem {
namespace {

template <class T>
T look(const T *word) {
    // SYNC shmem-word: an acquire; pairs with the releases in words.hpp and order.cpp, with those
    // of Sennit, and with a program's own.
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

// With checks off there is nothing to wait for.
[[gnu::cold, gnu::noinline]] bool is_no_comparison(const char *call, int cmp) {
    wrong(call, "argument cmp: there is no comparison %d", cmp);
    return true;
}

template <class T>
bool compare(const char *call, T word, int cmp, T value) {
    switch (cmp) {
        case SHMEM_CMP_EQ:
            return word == value;
        case SHMEM_CMP_NE:
            return word != value;
        case SHMEM_CMP_GT:
            return word > value;
        case SHMEM_CMP_GE:
            return word >= value;
        case SHMEM_CMP_LT:
            return word < value;
        case SHMEM_CMP_LE:
            return word <= value;
        default:
            return is_no_comparison(call, cmp);
    }
}

template <class Ready>
int call_ready(void *context) {
    return (*static_cast<Ready *>(context))() ? 1 : 0;
}

// A change of a word rings no bell, and a wait that sleeps looks again after a millisecond or more.
// So it stays awake for a while, and gives way to others if there are more PEs than processors.
template <class Ready>
[[gnu::noinline]] void wait_long(const char *call, Ready &ready) {
    constexpr int kLooks = 1000;
    constexpr double kAwakeSeconds = 0.02;
    const double begin = sennit_wtime();
    do {
        for (int i = 0; i < kLooks; ++i) {
            if (ready()) return;
            if (state.crowded || i + 1 == kLooks) take_turns();
        }
    } while (sennit_wtime() < begin + kAwakeSeconds);
    must(call, sennit_wait_until(call_ready<Ready>, &ready, SENNIT_FOREVER));
}

template <class Ready>
inline void wait(const char *call, Ready ready) {
    if (!ready()) wait_long(call, ready);
}

// A test that fails is likely made again soon.
inline bool tested(bool result) {
    if (!result) take_turns();
    return result;
}

template <class T>
void wait_until(const char *call, const T *word, int cmp, T value) {
    wait(call, [=] { return compare(call, look(word), cmp, value); });
}
template <class T>
int test(const char *call, const T *word, int cmp, T value) {
    return tested(compare(call, look(word), cmp, value)) ? 1 : 0;
}

// Words of which some are waited for; `values` has one for each, or one for all.
template <class T>
struct Set {
    const char *call;
    const T *words;
    std::size_t count;
    const int *status;
    int cmp;
    const T *values;
    bool has_many;

    bool has(std::size_t i) const { return status == nullptr || status[i] == 0; }
    bool holds(std::size_t i) const {
        return compare(call, look(&words[i]), cmp, values[has_many ? i : 0]);
    }
    bool is_empty() const {
        for (std::size_t i = 0; i < count; ++i) {
            if (has(i)) return false;
        }
        return true;
    }
    // The first at or behind `from`, round about, that holds; `count` if none does.
    std::size_t find(std::size_t from) const {
        for (std::size_t step = 0; step < count; ++step) {
            const std::size_t i = from + step < count ? from + step : from + step - count;
            if (has(i) && holds(i)) return i;
        }
        return count;
    }
    bool all_hold() const {
        for (std::size_t i = 0; i < count; ++i) {
            if (has(i) && !holds(i)) return false;
        }
        return true;
    }
    std::size_t note(std::size_t *indices) const {
        std::size_t noted = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (has(i) && holds(i)) indices[noted++] = i;
        }
        return noted;
    }
};

// Where a search by `any` begins: anywhere, so that no word of a set is passed over for ever,
// whatever other sets the thread looks through between. A generator of Marsaglia (xorshift, 2003).
std::size_t any_place(std::size_t count) {
    thread_local std::uint32_t random = 0x9e3779b9;
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return random % count;
}

template <class T>
std::size_t find_any(const Set<T> &set) {
    if (set.count == 0) return SIZE_MAX;
    const std::size_t found = set.find(any_place(set.count));
    return found != set.count ? found : SIZE_MAX;
}

template <class T>
void wait_all(const Set<T> &set) {
    // One after the other: a word that held may have changed again, which nobody asks for.
    for (std::size_t i = 0; i < set.count; ++i) {
        if (set.has(i)) wait(set.call, [&set, i] { return set.holds(i); });
    }
}
template <class T>
std::size_t wait_any(const Set<T> &set) {
    if (set.is_empty()) return SIZE_MAX;
    std::size_t found = SIZE_MAX;
    wait(set.call, [&] { return (found = find_any(set)) != SIZE_MAX; });
    return found;
}
template <class T>
std::size_t wait_some(const Set<T> &set, std::size_t *indices) {
    if (set.is_empty()) return 0;
    std::size_t noted = 0;
    wait(set.call, [&] { return (noted = set.note(indices)) != 0; });
    return noted;
}
template <class T>
std::size_t test_any(const Set<T> &set) {
    const std::size_t found = find_any(set);
    tested(found != SIZE_MAX);
    return found;
}
template <class T>
std::size_t test_some(const Set<T> &set, std::size_t *indices) {
    const std::size_t noted = set.note(indices);
    tested(noted != 0);
    return noted;
}

}  // namespace

void wait_for_least(const char *call, const long *word, long least) {
    wait_until<long>(call, word, SHMEM_CMP_GE, least);
}

#define SHMEM_TEST(T, N, ...)                                                      \
    SHMEM_DEFINE(void, shmem_##N##_wait_until, (T * ivar, int cmp, T cmp_value)) { \
        wait_until<T>("shmem_" #N "_wait_until", ivar, cmp, cmp_value);            \
    }                                                                              \
    SHMEM_DEFINE(int, shmem_##N##_test, (T * ivar, int cmp, T cmp_value)) {        \
        return test<T>("shmem_" #N "_test", ivar, cmp, cmp_value);                 \
    }
// `set` is known in the body; OF is the type, the values, and whether there is one for each word.
#define SHMEM_SET_BODY(RESULT, NAME, ARGUMENTS, OF, ...) \
    SHMEM_DEFINE(RESULT, NAME, ARGUMENTS) {              \
        const SHMEM_SET_OF(NAME, SHMEM_BARE OF);         \
        __VA_ARGS__;                                     \
    }
#define SHMEM_BARE(...) __VA_ARGS__
#define SHMEM_SET_OF(NAME, ...) SHMEM_NAMED_SET(NAME, __VA_ARGS__)
#define SHMEM_NAMED_SET(NAME, T, VALUES, HAS_MANY)          \
    Set<T> set {                                            \
#NAME, ivars, nelems, status, cmp, VALUES, HAS_MANY \
    }
#define SHMEM_SETS(T, N, Z, VALUE, OF)                                                       \
    SHMEM_SET_BODY(void, shmem_##N##_wait_until_all##Z,                                      \
                   (T * ivars, size_t nelems, const int *status, int cmp, VALUE), OF,        \
                   wait_all(set))                                                            \
    SHMEM_SET_BODY(size_t, shmem_##N##_wait_until_any##Z,                                    \
                   (T * ivars, size_t nelems, const int *status, int cmp, VALUE), OF,        \
                   return wait_any(set))                                                     \
    SHMEM_SET_BODY(                                                                          \
        size_t, shmem_##N##_wait_until_some##Z,                                              \
        (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, VALUE), OF, \
        return wait_some(set, indices))                                                      \
    SHMEM_SET_BODY(int, shmem_##N##_test_all##Z,                                             \
                   (T * ivars, size_t nelems, const int *status, int cmp, VALUE), OF,        \
                   return tested(set.all_hold()) ? 1 : 0)                                    \
    SHMEM_SET_BODY(size_t, shmem_##N##_test_any##Z,                                          \
                   (T * ivars, size_t nelems, const int *status, int cmp, VALUE), OF,        \
                   return test_any(set))                                                     \
    SHMEM_SET_BODY(                                                                          \
        size_t, shmem_##N##_test_some##Z,                                                    \
        (T * ivars, size_t nelems, size_t * indices, const int *status, int cmp, VALUE), OF, \
        return test_some(set, indices))
#define SHMEM_STANDARD(T, N, ...)                           \
    SHMEM_TEST(T, N)                                        \
    SHMEM_SETS(T, N, , T cmp_value, (T, &cmp_value, false)) \
    SHMEM_SETS(T, N, _vector, const T *cmp_values, (T, cmp_values, true))
#define SHMEM_OLD_WAIT(T, N, ...)                                          \
    SHMEM_DEFINE(void, shmem_##N##_wait, (T * ivar, T cmp_value)) {        \
        wait_until<T>("shmem_" #N "_wait", ivar, SHMEM_CMP_NE, cmp_value); \
    }

SENNIT_SHMEM_AMO(SHMEM_STANDARD, )
SENNIT_SHMEM_OLD_TEST(SHMEM_TEST, )
SENNIT_SHMEM_OLD_WAIT(SHMEM_OLD_WAIT, )

SHMEM_DEFINE(void, shmem_wait, (long *ivar, long cmp_value)) {
    wait_until<long>("shmem_wait", ivar, SHMEM_CMP_NE, cmp_value);
}
SHMEM_DEFINE(void, shmem_wait_until, (long *ivar, int cmp, long cmp_value)) {
    wait_until<long>("shmem_wait_until", ivar, cmp, cmp_value);
}
SHMEM_DEFINE(uint64_t, shmem_signal_fetch, (const uint64_t *sig_addr)) {
    const std::uint64_t value = look(sig_addr);
    take_turns();
    return value;
}
SHMEM_DEFINE(uint64_t, shmem_signal_wait_until,
             (uint64_t * sig_addr, int cmp, uint64_t cmp_value)) {
    std::uint64_t value = 0;
    const char *const call = "shmem_signal_wait_until";
    wait(call, [&] { return compare(call, value = look(sig_addr), cmp, cmp_value); });
    return value;
}

}  // namespace shmem
