// Atomic operations, also those with the older names. What is there is done at once, so the forms
// that need not wait do not differ.
#include "words.hpp"

namespace shmem {
namespace {

template <class T>
inline T change(const char *call, Change what, shmem_ctx_t ctx, const T *dest, T value, int pe) {
    return change_word<T>(call, what, const_cast<T *>(dest), value, T{}, world_pe(ctx, pe));
}

template <class T>
inline T swap(const char *call, shmem_ctx_t ctx, T *dest, T value, int pe) {
    return swap_word<T>(call, dest, value, world_pe(ctx, pe));
}

template <class T>
inline T compare_swap(const char *call, shmem_ctx_t ctx, T *dest, T cond, T value, int pe) {
    return change_word<T>(call, Change::compare_swap, dest, value, cond, world_pe(ctx, pe));
}

}  // namespace

#define SHMEM_BODY(RESULT, NAME, ARGUMENTS, ...) \
    SHMEM_DEFINE(RESULT, NAME, ARGUMENTS) {      \
        const char *const call = #NAME;          \
        __VA_ARGS__;                             \
    }
#define SHMEM_BARE(...) __VA_ARGS__
// With and without a context; `ctx` is known in the body.
#define SHMEM_PAIR(RESULT, N, VERB, ARGUMENTS, ...)                                           \
    SHMEM_BODY(RESULT, shmem_##N##_atomic##VERB, (SHMEM_BARE ARGUMENTS),                      \
               const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                                     \
               __VA_ARGS__)                                                                   \
    SHMEM_BODY(RESULT, shmem_ctx_##N##_atomic##VERB, (shmem_ctx_t ctx, SHMEM_BARE ARGUMENTS), \
               __VA_ARGS__)

#define SHMEM_CHANGE(T, N, VERB, WHAT)                                              \
    SHMEM_PAIR(void, N, VERB, (T * dest, T value, int pe),                          \
               change(call, Change::WHAT, ctx, dest, value, pe))                    \
    SHMEM_PAIR(T, N, _fetch##VERB, (T * dest, T value, int pe),                     \
               return change(call, Change::WHAT, ctx, dest, value, pe))             \
    SHMEM_PAIR(void, N, _fetch##VERB##_nbi, (T * fetch, T * dest, T value, int pe), \
               *fetch = change(call, Change::WHAT, ctx, dest, value, pe))

#define SHMEM_EXTENDED(T, N, ...)                                                                 \
    SHMEM_PAIR(void, N, _set, (T * dest, T value, int pe),                                        \
               change(call, Change::set, ctx, dest, value, pe))                                   \
    SHMEM_PAIR(T, N, _fetch, (const T *source, int pe),                                           \
               return change(call, Change::fetch, ctx, source, static_cast<T>(0), pe))            \
    SHMEM_PAIR(void, N, _fetch_nbi, (T * fetch, const T *source, int pe),                         \
               *fetch = change(call, Change::fetch, ctx, source, static_cast<T>(0), pe))          \
    SHMEM_PAIR(T, N, _swap, (T * dest, T value, int pe), return swap(call, ctx, dest, value, pe)) \
    SHMEM_PAIR(void, N, _swap_nbi, (T * fetch, T * dest, T value, int pe),                        \
               *fetch = swap(call, ctx, dest, value, pe))

#define SHMEM_STANDARD(T, N, ...)                                                          \
    SHMEM_CHANGE(T, N, _add, add)                                                          \
    SHMEM_PAIR(void, N, _inc, (T * dest, int pe),                                          \
               change(call, Change::add, ctx, dest, static_cast<T>(1), pe))                \
    SHMEM_PAIR(T, N, _fetch_inc, (T * dest, int pe),                                       \
               return change(call, Change::add, ctx, dest, static_cast<T>(1), pe))         \
    SHMEM_PAIR(void, N, _fetch_inc_nbi, (T * fetch, T * dest, int pe),                     \
               *fetch = change(call, Change::add, ctx, dest, static_cast<T>(1), pe))       \
    SHMEM_PAIR(T, N, _compare_swap, (T * dest, T cond, T value, int pe),                   \
               return compare_swap(call, ctx, dest, cond, value, pe))                      \
    SHMEM_PAIR(void, N, _compare_swap_nbi, (T * fetch, T * dest, T cond, T value, int pe), \
               *fetch = compare_swap(call, ctx, dest, cond, value, pe))

#define SHMEM_BITWISE(T, N, ...)      \
    SHMEM_CHANGE(T, N, _and, bit_and) \
    SHMEM_CHANGE(T, N, _or, bit_or)   \
    SHMEM_CHANGE(T, N, _xor, bit_xor)

SENNIT_SHMEM_EXTENDED(SHMEM_EXTENDED, )
SENNIT_SHMEM_AMO(SHMEM_STANDARD, )
SENNIT_SHMEM_BITWISE(SHMEM_BITWISE, )

#define SHMEM_OLD(RESULT, N, VERB, ARGUMENTS, ...)                                            \
    SHMEM_BODY(RESULT, shmem_##N##VERB, ARGUMENTS, const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; \
               __VA_ARGS__)
#define SHMEM_OLD_FLOATS(T, N, ...)                                                   \
    SHMEM_OLD(void, N, _set, (T * dest, T value, int pe),                             \
              change(call, Change::set, ctx, dest, value, pe))                        \
    SHMEM_OLD(T, N, _fetch, (const T *source, int pe),                                \
              return change(call, Change::fetch, ctx, source, static_cast<T>(0), pe)) \
    SHMEM_OLD(T, N, _swap, (T * dest, T value, int pe), return swap(call, ctx, dest, value, pe))
#define SHMEM_OLD_INTEGERS(T, N, ...)                                             \
    SHMEM_OLD(T, N, _cswap, (T * dest, T cond, T value, int pe),                  \
              return compare_swap(call, ctx, dest, cond, value, pe))              \
    SHMEM_OLD(T, N, _finc, (T * dest, int pe),                                    \
              return change(call, Change::add, ctx, dest, static_cast<T>(1), pe)) \
    SHMEM_OLD(void, N, _inc, (T * dest, int pe),                                  \
              change(call, Change::add, ctx, dest, static_cast<T>(1), pe))        \
    SHMEM_OLD(T, N, _fadd, (T * dest, T value, int pe),                           \
              return change(call, Change::add, ctx, dest, value, pe))             \
    SHMEM_OLD(void, N, _add, (T * dest, T value, int pe),                         \
              change(call, Change::add, ctx, dest, value, pe))

SENNIT_SHMEM_OLD_EXTENDED(SHMEM_OLD_FLOATS, )
SENNIT_SHMEM_OLD_AMO(SHMEM_OLD_INTEGERS, )

}  // namespace shmem
