// Atomic operations, also those with the older names. The nonblocking forms do the same as the
// blocking ones: they complete before they return.
#include "words.hpp"

namespace shmem {
namespace {

template <Change kChange, class T>
inline T change(const WordCall &word, shmem_ctx_t ctx, const T *dest, T value, int pe) {
    return change_word<kChange, T>(word, ctx, const_cast<T *>(dest), value, T{}, pe);
}

template <class T>
inline T swap(const WordCall &word, shmem_ctx_t ctx, T *dest, T value, int pe) {
    return swap_word<T>(word, ctx, dest, value, pe);
}

template <class T>
inline T compare_swap(const WordCall &word, shmem_ctx_t ctx, T *dest, T cond, T value, int pe) {
    return change_word<Change::compare_swap>(word, ctx, dest, value, cond, pe);
}

}  // namespace

// Defines a function whose body may use `it`. WORD is the argument with the address of the word.
#define SHMEM_BODY(RESULT, NAME, ARGUMENTS, WORD, ...) \
    SHMEM_DEFINE(RESULT, NAME, ARGUMENTS) {            \
        static constexpr WordCall it{#NAME, #WORD};    \
        __VA_ARGS__;                                   \
    }
#define SHMEM_BARE(...) __VA_ARGS__
// Defines a call with and without a context. The body may use `ctx`.
#define SHMEM_PAIR(RESULT, N, VERB, ARGUMENTS, WORD, ...)                                     \
    SHMEM_BODY(RESULT, shmem_##N##_atomic##VERB, (SHMEM_BARE ARGUMENTS), WORD,                \
               const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                                     \
               __VA_ARGS__)                                                                   \
    SHMEM_BODY(RESULT, shmem_ctx_##N##_atomic##VERB, (shmem_ctx_t ctx, SHMEM_BARE ARGUMENTS), \
               WORD, __VA_ARGS__)

#define SHMEM_CHANGE(T, N, VERB, WHAT)                                                    \
    SHMEM_PAIR(void, N, VERB, (T * dest, T value, int pe), dest,                          \
               change<Change::WHAT>(it, ctx, dest, value, pe))                            \
    SHMEM_PAIR(T, N, _fetch##VERB, (T * dest, T value, int pe), dest,                     \
               return change<Change::WHAT>(it, ctx, dest, value, pe))                     \
    SHMEM_PAIR(void, N, _fetch##VERB##_nbi, (T * fetch, T * dest, T value, int pe), dest, \
               *fetch = change<Change::WHAT>(it, ctx, dest, value, pe))

#define SHMEM_EXTENDED(T, N, ...)                                                      \
    SHMEM_PAIR(void, N, _set, (T * dest, T value, int pe), dest,                       \
               change<Change::set>(it, ctx, dest, value, pe))                          \
    SHMEM_PAIR(T, N, _fetch, (const T *source, int pe), source,                        \
               return change<Change::fetch>(it, ctx, source, static_cast<T>(0), pe))   \
    SHMEM_PAIR(void, N, _fetch_nbi, (T * fetch, const T *source, int pe), source,      \
               *fetch = change<Change::fetch>(it, ctx, source, static_cast<T>(0), pe)) \
    SHMEM_PAIR(T, N, _swap, (T * dest, T value, int pe), dest,                         \
               return swap(it, ctx, dest, value, pe))                                  \
    SHMEM_PAIR(void, N, _swap_nbi, (T * fetch, T * dest, T value, int pe), dest,       \
               *fetch = swap(it, ctx, dest, value, pe))

#define SHMEM_STANDARD(T, N, ...)                                                                \
    SHMEM_CHANGE(T, N, _add, add)                                                                \
    SHMEM_PAIR(void, N, _inc, (T * dest, int pe), dest,                                          \
               change<Change::add>(it, ctx, dest, static_cast<T>(1), pe))                        \
    SHMEM_PAIR(T, N, _fetch_inc, (T * dest, int pe), dest,                                       \
               return change<Change::add>(it, ctx, dest, static_cast<T>(1), pe))                 \
    SHMEM_PAIR(void, N, _fetch_inc_nbi, (T * fetch, T * dest, int pe), dest,                     \
               *fetch = change<Change::add>(it, ctx, dest, static_cast<T>(1), pe))               \
    SHMEM_PAIR(T, N, _compare_swap, (T * dest, T cond, T value, int pe), dest,                   \
               return compare_swap(it, ctx, dest, cond, value, pe))                              \
    SHMEM_PAIR(void, N, _compare_swap_nbi, (T * fetch, T * dest, T cond, T value, int pe), dest, \
               *fetch = compare_swap(it, ctx, dest, cond, value, pe))

#define SHMEM_BITWISE(T, N, ...)      \
    SHMEM_CHANGE(T, N, _and, bit_and) \
    SHMEM_CHANGE(T, N, _or, bit_or)   \
    SHMEM_CHANGE(T, N, _xor, bit_xor)

SENNIT_SHMEM_EXTENDED(SHMEM_EXTENDED, )
SENNIT_SHMEM_AMO(SHMEM_STANDARD, )
SENNIT_SHMEM_BITWISE(SHMEM_BITWISE, )

#define SHMEM_OLD(RESULT, N, VERB, ARGUMENTS, WORD, ...)  \
    SHMEM_BODY(RESULT, shmem_##N##VERB, ARGUMENTS, WORD,  \
               const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; \
               __VA_ARGS__)
#define SHMEM_OLD_FLOATS(T, N, ...)                                                 \
    SHMEM_OLD(void, N, _set, (T * dest, T value, int pe), dest,                     \
              change<Change::set>(it, ctx, dest, value, pe))                        \
    SHMEM_OLD(T, N, _fetch, (const T *source, int pe), source,                      \
              return change<Change::fetch>(it, ctx, source, static_cast<T>(0), pe)) \
    SHMEM_OLD(T, N, _swap, (T * dest, T value, int pe), dest, return swap(it, ctx, dest, value, pe))
#define SHMEM_OLD_INTEGERS(T, N, ...)                                           \
    SHMEM_OLD(T, N, _cswap, (T * dest, T cond, T value, int pe), dest,          \
              return compare_swap(it, ctx, dest, cond, value, pe))              \
    SHMEM_OLD(T, N, _finc, (T * dest, int pe), dest,                            \
              return change<Change::add>(it, ctx, dest, static_cast<T>(1), pe)) \
    SHMEM_OLD(void, N, _inc, (T * dest, int pe), dest,                          \
              change<Change::add>(it, ctx, dest, static_cast<T>(1), pe))        \
    SHMEM_OLD(T, N, _fadd, (T * dest, T value, int pe), dest,                   \
              return change<Change::add>(it, ctx, dest, value, pe))             \
    SHMEM_OLD(void, N, _add, (T * dest, T value, int pe), dest,                 \
              change<Change::add>(it, ctx, dest, value, pe))

SENNIT_SHMEM_OLD_EXTENDED(SHMEM_OLD_FLOATS, )
SENNIT_SHMEM_OLD_AMO(SHMEM_OLD_INTEGERS, )

}  // namespace shmem
