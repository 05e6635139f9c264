// Waits and tests on one or several words of this PE. A wait makes progress, yields the processor,
// and ends the job when a PE has died.
#include <cstdio>

#include "state.hpp"

namespace shmem {
namespace {

template <class T>
T load_word(const T *word) {
    // SYNC shmem-word: an acquire; pairs with the releases in words.hpp and order.cpp, with those
    // of Sennit, and with releases of the program itself.
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

// Reports an invalid comparison. If checks are off, the comparison counts as true, so that the call
// returns at once.
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

// Describes the condition of a wait, for messages.
struct Awaited {
    const char *call;
    const void *word;   // the first one if there are several
    std::size_t words;  // number of words; one must satisfy the condition
    int cmp;
    std::uint64_t wanted;
    std::string (*text)(std::uint64_t value);
    std::uint64_t (*read)(const void *word);
};

template <class T>
Awaited awaited(const char *call, const T *word, int cmp, T value) {
    return {call,
            word,
            1,
            cmp,
            static_cast<std::uint64_t>(value),
            [](std::uint64_t bits) { return std::to_string(static_cast<T>(bits)); },
            [](const void *at) {
                return static_cast<std::uint64_t>(load_word(static_cast<const T *>(at)));
            }};
}

std::string text_of(const Awaited &one, std::uint64_t value) {
    constexpr const char *kSigns[] = {"==", "!=", ">", "<=", "<", ">="};
    static_assert(SHMEM_CMP_EQ == 1 && SHMEM_CMP_GE == 6);
    const std::string word = one.words == 1 ? "the word at " + place_of(one.word)
                                            : "none of " + std::to_string(one.words) +
                                                  " words is as wanted; the first, at " +
                                                  place_of(one.word) + ',';
    return word + " is " + one.text(value) + ", wanted " + kSigns[one.cmp - 1] + ' ' +
           one.text(one.wanted);
}

// A condition that adds the word and each new value to the trace, for `sennit trace where`.
struct Noted {
    const Awaited *one;
    sennit_condition ready;
    void *context;
    bool has_noted = false;
    std::uint64_t noted = 0;
};
int note_and_check(void *context) {
    Noted &to = *static_cast<Noted *>(context);
    if (to.ready(to.context) != 0) return 1;
    const std::uint64_t value = to.one->read(to.one->word);
    if (to.has_noted && value == to.noted) return 0;
    const std::string text = "PE " + std::to_string(state.me) + " waits in " + to.one->call + ": " +
                             text_of(*to.one, value);
    (void)sennit_trace_note(text.c_str());
    to.has_noted = true;
    to.noted = value;
    return 0;
}

[[gnu::cold]] void sleep_until(const Awaited &one, sennit_condition ready, void *context) {
    Noted noted{&one, ready, context};
    const sennit_status status = state.traces
                                     ? sennit_wait_until(note_and_check, &noted, state.limit_ns)
                                     : sennit_wait_until(ready, context, state.limit_ns);
    if (status == SENNIT_ERR_TIMEOUT) fail_timeout(one.call, text_of(one, one.read(one.word)));
    must(one.call, status);
}

// A store to a word wakes no sleeper, and a sleeping wait polls only after a millisecond or more.
// So the wait first polls for 20 ms; it yields the processor if there are more PEs than processors.
template <class Ready>
[[gnu::noinline]] void wait_long(Ready &ready, const Awaited &one) {
    constexpr int kPolls = 1000;
    constexpr double kAwakeSeconds = 0.02;
    const double begin = sennit_wtime();
    do {
        for (int i = 0; i < kPolls; ++i) {
            if (ready()) return;
            if (state.crowded || i + 1 == kPolls) take_turns();
        }
    } while (sennit_wtime() < begin + kAwakeSeconds);
    sleep_until(one, call_ready<Ready>, &ready);
}

// `find_awaited` returns an Awaited.
template <class Ready, class FindAwaited>
inline void wait(Ready ready, FindAwaited find_awaited) {
    if (!ready()) wait_long(ready, find_awaited());
}

// Makes progress after a failed test, because the program will likely repeat it.
inline bool tested(bool result) {
    if (!result) take_turns();
    return result;
}

template <class T>
void wait_until(const char *call, const T *word, int cmp, T value) {
    wait([=] { return compare(call, load_word(word), cmp, value); },
         [=] { return awaited(call, word, cmp, value); });
}
template <class T>
int test(const char *call, const T *word, int cmp, T value) {
    return tested(compare(call, load_word(word), cmp, value)) ? 1 : 0;
}

// A set of words; `values` has one value for each, or one for all.
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
        return compare(call, load_word(&words[i]), cmp, values[has_many ? i : 0]);
    }
    Awaited awaited_at(std::size_t i) const {
        return awaited(call, &words[i], cmp, values[has_many ? i : 0]);
    }
    // Only for a set that is not empty.
    Awaited any_awaited() const {
        std::size_t first = 0;
        while (!has(first))
            ++first;
        Awaited one = awaited_at(first);
        for (std::size_t i = first + 1; i < count; ++i)
            one.words += has(i) ? 1 : 0;
        return one;
    }
    bool is_empty() const {
        for (std::size_t i = 0; i < count; ++i) {
            if (has(i)) return false;
        }
        return true;
    }
    // The first word that satisfies the condition, cyclically from `from` on; `count` if there is
    // none.
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

// A random start for a search by `any`. So no word of a set is skipped for ever, whatever other
// sets the thread searches in between. Marsaglia's xorshift generator (2003).
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
    // Waits for one word after another, since a word may change again after it has satisfied the
    // condition.
    for (std::size_t i = 0; i < set.count; ++i) {
        if (set.has(i)) wait([&] { return set.holds(i); }, [&] { return set.awaited_at(i); });
    }
}
template <class T>
std::size_t wait_any(const Set<T> &set) {
    if (set.is_empty()) return SIZE_MAX;
    std::size_t found = SIZE_MAX;
    wait([&] { return (found = find_any(set)) != SIZE_MAX; }, [&] { return set.any_awaited(); });
    return found;
}
template <class T>
std::size_t wait_some(const Set<T> &set, std::size_t *indices) {
    if (set.is_empty()) return 0;
    std::size_t noted = 0;
    wait([&] { return (noted = set.note(indices)) != 0; }, [&] { return set.any_awaited(); });
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

std::string address_text(const void *address) {
    char text[32];
    (void)std::snprintf(text, sizeof text, "%p", address);
    return text;
}

}  // namespace

std::string place_of(const void *address) {
    for (const Area &area : state.areas) {
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - area.base;
        if (offset >= area.bytes) continue;
        const std::string text = "symmetric offset " + std::to_string(offset);
        if (&area == &state.areas[kHeap]) return text + " (symmetric heap)";
        return address_text(address) + " (variables of the program, " + text + ')';
    }
    return address_text(address);
}

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
// The body may use `set`. OF is the type, the values, and whether each word has a value of its own.
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
    const std::uint64_t value = load_word(sig_addr);
    take_turns();
    return value;
}
SHMEM_DEFINE(uint64_t, shmem_signal_wait_until,
             (uint64_t * sig_addr, int cmp, uint64_t cmp_value)) {
    std::uint64_t value = 0;
    const char *const call = "shmem_signal_wait_until";
    wait([&] { return compare(call, value = load_word(sig_addr), cmp, cmp_value); },
         [&] { return awaited<std::uint64_t>(call, sig_addr, cmp, cmp_value); });
    return value;
}

}  // namespace shmem
