// Collective calls of active sets. Only the members make the call, so no team can be created for
// the set. The set of all PEs uses the world's team, unless several threads may use it at the same
// time. Other sets synchronise by the program's work array: pSync[0] of the first member counts the
// members that have arrived; pSync[1] of each other member releases that member; pSync[2] passes
// the offset of a part on to the next member. All words are SHMEM_SYNC_VALUE again when a call
// returns.
#include <cstdio>
#include <memory>

#include "coll.hpp"
#include "words.hpp"

namespace shmem {
namespace {

static_assert(SHMEM_SYNC_VALUE == 0 && SHMEM_SYNC_SIZE >= 3);

const char *plural(int count) {
    return count == 1 ? "" : "s";
}

struct ActiveSet {
    const char *call;
    int start;
    int log_stride;
    int pes;
    long *sync;
    int me = 0;
    bool is_right =
        true;  // false: checks are off, and the set is invalid or does not contain this PE

    ActiveSet(const char *name, int first, int log, int size, long *work)
        : call(name), start(first), log_stride(log), pes(size), sync(work) {
        // In 64 bits, because the unchecked arguments may overflow 32.
        constexpr int kMostLog = 30;
        const auto behind = std::int64_t{state.me} - first;
        const bool has_stride = log >= 0 && log <= kMostLog;
        const std::int64_t stride = std::int64_t{1} << (has_stride ? log : 0);
        const bool is_set = has_stride && first >= 0 && size >= 1 &&
                            first + (std::int64_t{size} - 1) * stride < state.pes;
        me = static_cast<int>(behind / stride);
        is_right = is_set && behind >= 0 && behind % stride == 0 && me < size;
        if (is_right) return;
        char why[64];
        const std::int64_t last = first + (std::int64_t{size} - 1) * stride;
        if (!has_stride || size < 1)
            (void)std::snprintf(why, sizeof why, "is invalid");
        else if (first < 0 || last >= state.pes)
            (void)std::snprintf(why, sizeof why, "needs PE %lld, but there %s %d PE%s",
                                static_cast<long long>(first < 0 ? first : last),
                                state.pes == 1 ? "is" : "are", state.pes, plural(state.pes));
        else
            (void)std::snprintf(why, sizeof why, "does not contain PE %d, the caller", state.me);
        wrong(name,
              "arguments PE_start, logPE_stride and PE_size: an active set of %d PE%s from %d by "
              "2^%d %s",
              size, plural(size), first, log, why);
    }
    int world(int pe) const { return start + pe * (1 << log_stride); }
    bool is_world() const {
        return start == 0 && log_stride == 0 && pes == state.pes && !state.has_threads;
    }
};

void raise(const ActiveSet &set, int word, long by, int pe) {
    change_word<Change::add, long>({set.call, "pSync"}, SHMEM_CTX_DEFAULT, &set.sync[word], by, 0,
                                   set.world(pe));
}
void lower(const ActiveSet &set, int word, long by) {
    raise(set, word, -by, set.me);
}
// Waits until this member's word is at least `least`.
void await(const ActiveSet &set, int word, long least) {
    wait_for_least(set.call, &set.sync[word], least);
}

// Waits until all members have arrived and their earlier operations are complete. Each member
// resets its word before any other member can raise it again, so the array can be reused at once.
void synchronise(const ActiveSet &set) {
    quiet(set.call);
    if (set.is_world()) return barrier_all(set.call);
    if (set.me != 0) {
        raise(set, 0, 1, 0);
        await(set, 1, 1);
        lower(set, 1, 1);
        return;
    }
    if (set.pes > 1) await(set, 0, set.pes - 1);
    if (set.pes > 1) lower(set, 0, set.pes - 1);
    for (int pe = 1; pe < set.pes; ++pe)
        raise(set, 1, 1, pe);
}

void broadcast(const ActiveSet &set, void *dest, const void *source, std::size_t bytes, int root) {
    if (root < 0 || root >= set.pes)
        return wrong(set.call, "argument PE_root: there is no PE %d in an active set of %d", root,
                     set.pes);
    if (set.me == root) {
        for (int pe = 0; pe < set.pes; ++pe) {
            if (pe != root) put_bytes(set.call, dest, source, bytes, set.world(pe));
        }
    }
    synchronise(set);
}

// Puts this member's part to the same offset in the memory of all members.
void put_to_all(const ActiveSet &set, void *dest, const void *source, std::size_t bytes,
                std::size_t offset) {
    for (int pe = 0; pe < set.pes; ++pe)
        put_bytes(set.call, static_cast<char *>(dest) + offset, source, bytes, set.world(pe));
    synchronise(set);
}

void fcollect(const ActiveSet &set, void *dest, const void *source, std::size_t bytes) {
    put_to_all(set, dest, source, bytes, bytes * static_cast<std::size_t>(set.me));
}

void collect(const ActiveSet &set, void *dest, const void *source, std::size_t bytes) {
    // The value passed on is the offset plus one, since 0 means that no offset has arrived.
    std::size_t offset = 0;
    if (set.me > 0) {
        await(set, 2, 1);
        const long word = pshmem_long_atomic_fetch(&set.sync[2], state.me);
        lower(set, 2, word);
        offset = static_cast<std::size_t>(word - 1);
    }
    if (set.me + 1 < set.pes) raise(set, 2, static_cast<long>(offset + bytes + 1), set.me + 1);
    put_to_all(set, dest, source, bytes, offset);
}

void alltoalls(const ActiveSet &set, void *dest, const void *source, const Elements &elements) {
    const auto element = static_cast<std::ptrdiff_t>(elements.element);
    const auto count = static_cast<std::ptrdiff_t>(elements.count);
    for (int pe = 0; pe < set.pes; ++pe) {
        const char *const from =
            static_cast<const char *>(source) + pe * count * elements.sst * element;
        char *const to = static_cast<char *>(dest) + set.me * count * elements.dst * element;
        // One copy is much faster than copying element by element.
        if (elements.dst == 1 && elements.sst == 1) {
            put_bytes(set.call, to, from, elements.count * elements.element, set.world(pe));
        } else {
            put_elements(set.call, to, from, elements, set.world(pe));
        }
    }
    synchronise(set);
}

template <class T, Fold kFold>
T combine(T left, T right) {
    if constexpr (kFold == Fold::bit_and) return static_cast<T>(left & right);
    if constexpr (kFold == Fold::bit_or) return static_cast<T>(left | right);
    if constexpr (kFold == Fold::bit_xor) return static_cast<T>(left ^ right);
    if constexpr (kFold == Fold::maximum) return left < right ? right : left;
    if constexpr (kFold == Fold::minimum) return right < left ? right : left;
    if constexpr (kFold == Fold::sum) return static_cast<T>(left + right);
    if constexpr (kFold == Fold::product) return static_cast<T>(left * right);
}

// Each member reads the data of all members, in their order. `dest` may be `source`, so no member
// writes before all have read.
template <class T, Fold kFold>
void reduce(const ActiveSet &set, T *dest, const T *source, int nreduce) {
    if (nreduce < 0) return wrong(set.call, "argument nreduce: %d is negative", nreduce);
    const auto count = static_cast<std::size_t>(nreduce);
    if (set.is_world()) {
        must(set.call, sennit_allreduce(SENNIT_TEAM_WORLD, source, dest,
                                        reduction_of<T, kFold>(count), state.limit_ns));
        return;
    }
    const auto result = std::make_unique<T[]>(count);
    const auto next = std::make_unique<T[]>(count);
    synchronise(set);
    get_bytes(set.call, result.get(), source, count * sizeof(T), set.world(0));
    for (int pe = 1; pe < set.pes; ++pe) {
        get_bytes(set.call, next.get(), source, count * sizeof(T), set.world(pe));
        for (std::size_t i = 0; i < count; ++i)
            result[i] = combine<T, kFold>(result[i], next[i]);
    }
    synchronise(set);
    std::memcpy(dest, result.get(), count * sizeof(T));
}

}  // namespace

#define SHMEM_SET_ARGUMENTS int PE_start, int logPE_stride, int PE_size, long *pSync
#define SHMEM_SET_BODY(NAME, ARGUMENTS, ...)                                \
    SHMEM_DEFINE(void, NAME, ARGUMENTS) {                                   \
        const ActiveSet set(#NAME, PE_start, logPE_stride, PE_size, pSync); \
        if (!set.is_right) return;                                          \
        __VA_ARGS__;                                                        \
    }

SHMEM_SET_BODY(shmem_barrier, (SHMEM_SET_ARGUMENTS), synchronise(set))
SHMEM_SET_BODY(shmem_sync, (SHMEM_SET_ARGUMENTS), synchronise(set))

#define SHMEM_SIZED(BITS)                                                                        \
    SHMEM_SET_BODY(                                                                              \
        shmem_broadcast##BITS,                                                                   \
        (void *dest, const void *source, size_t nelems, int PE_root, SHMEM_SET_ARGUMENTS),       \
        broadcast(set, dest, source, nelems *(BITS / 8), PE_root))                               \
    SHMEM_SET_BODY(shmem_collect##BITS,                                                          \
                   (void *dest, const void *source, size_t nelems, SHMEM_SET_ARGUMENTS),         \
                   collect(set, dest, source, nelems *(BITS / 8)))                               \
    SHMEM_SET_BODY(shmem_fcollect##BITS,                                                         \
                   (void *dest, const void *source, size_t nelems, SHMEM_SET_ARGUMENTS),         \
                   fcollect(set, dest, source, nelems *(BITS / 8)))                              \
    SHMEM_SET_BODY(shmem_alltoall##BITS,                                                         \
                   (void *dest, const void *source, size_t nelems, SHMEM_SET_ARGUMENTS),         \
                   alltoalls(set, dest, source, {1, 1, BITS / 8, nelems}))                       \
    SHMEM_SET_BODY(shmem_alltoalls##BITS,                                                        \
                   (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                    SHMEM_SET_ARGUMENTS),                                                        \
                   alltoalls(set, dest, source, {dst, sst, BITS / 8, nelems}))
SHMEM_SIZED(32)
SHMEM_SIZED(64)

#define SHMEM_TO_ALL(T, N, V, FOLD)                                                         \
    SHMEM_SET_BODY(shmem_##N##V##_to_all,                                                   \
                   (T * dest, const T *source, int nreduce, int PE_start, int logPE_stride, \
                    int PE_size, T *, long *pSync),                                         \
                   reduce<T, Fold::FOLD>(set, dest, source, nreduce))
#define SHMEM_BITS(T, N, ...)         \
    SHMEM_TO_ALL(T, N, _and, bit_and) \
    SHMEM_TO_ALL(T, N, _or, bit_or)   \
    SHMEM_TO_ALL(T, N, _xor, bit_xor)
#define SHMEM_ORDER(T, N, ...)        \
    SHMEM_TO_ALL(T, N, _max, maximum) \
    SHMEM_TO_ALL(T, N, _min, minimum)
#define SHMEM_SUM(T, N, ...)      \
    SHMEM_TO_ALL(T, N, _sum, sum) \
    SHMEM_TO_ALL(T, N, _prod, product)

SENNIT_SHMEM_ACTIVE_BITS(SHMEM_BITS, )
SENNIT_SHMEM_ACTIVE_ORDER(SHMEM_ORDER, )
SENNIT_SHMEM_ACTIVE_SUM(SHMEM_SUM, )

}  // namespace shmem
