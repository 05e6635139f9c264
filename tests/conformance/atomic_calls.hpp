// The functions of sennit/atomic.h by type, for test templates. Generated from the tables of that
// header, so a missing or misnamed function does not compile here.
#pragma once

#include <sennit/atomic.h>

namespace conformance {

template <class T>
struct AtomicCalls;

#define SENNIT_TEST_WORD(T, S)                                           \
    static constexpr auto set = sennit_atomic_set_##S;                   \
    static constexpr auto set_nbi = sennit_atomic_set_##S##_nbi;         \
    static constexpr auto fetch = sennit_atomic_fetch_##S;               \
    static constexpr auto fetch_nb = sennit_atomic_fetch_##S##_nb;       \
    static constexpr auto swap = sennit_atomic_swap_##S;                 \
    static constexpr auto swap_nb = sennit_atomic_swap_##S##_nb;         \
    static constexpr auto compare_swap = sennit_atomic_compare_swap_##S; \
    static constexpr auto compare_swap_nb = sennit_atomic_compare_swap_##S##_nb;

#define SENNIT_TEST_INTEGER(T, S)                                              \
    template <>                                                                \
    struct AtomicCalls<T> {                                                    \
        SENNIT_TEST_WORD(T, S)                                                 \
        static constexpr auto add = sennit_atomic_add_##S;                     \
        static constexpr auto add_nbi = sennit_atomic_add_##S##_nbi;           \
        static constexpr auto fetch_add = sennit_atomic_fetch_add_##S;         \
        static constexpr auto fetch_add_nb = sennit_atomic_fetch_add_##S##_nb; \
        static constexpr auto inc = sennit_atomic_inc_##S;                     \
        static constexpr auto inc_nbi = sennit_atomic_inc_##S##_nbi;           \
        static constexpr auto fetch_inc = sennit_atomic_fetch_inc_##S;         \
        static constexpr auto fetch_inc_nb = sennit_atomic_fetch_inc_##S##_nb; \
        static constexpr auto and_ = sennit_atomic_and_##S;                    \
        static constexpr auto and_nbi = sennit_atomic_and_##S##_nbi;           \
        static constexpr auto fetch_and = sennit_atomic_fetch_and_##S;         \
        static constexpr auto fetch_and_nb = sennit_atomic_fetch_and_##S##_nb; \
        static constexpr auto or_ = sennit_atomic_or_##S;                      \
        static constexpr auto or_nbi = sennit_atomic_or_##S##_nbi;             \
        static constexpr auto fetch_or = sennit_atomic_fetch_or_##S;           \
        static constexpr auto fetch_or_nb = sennit_atomic_fetch_or_##S##_nb;   \
        static constexpr auto xor_ = sennit_atomic_xor_##S;                    \
        static constexpr auto xor_nbi = sennit_atomic_xor_##S##_nbi;           \
        static constexpr auto fetch_xor = sennit_atomic_fetch_xor_##S;         \
        static constexpr auto fetch_xor_nb = sennit_atomic_fetch_xor_##S##_nb; \
    };
#define SENNIT_TEST_FLOAT(T, S) \
    template <>                 \
    struct AtomicCalls<T> {     \
        SENNIT_TEST_WORD(T, S)  \
    };

SENNIT_ATOMIC_INTEGERS(SENNIT_TEST_INTEGER)
SENNIT_ATOMIC_FLOATS(SENNIT_TEST_FLOAT)

}  // namespace conformance
