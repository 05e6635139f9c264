// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations. One template for each shape of call; the tables of sennit/atomic.h make the
// functions. The first lines of each are the hot path; other cases go to op::atomic.
#include <sennit/atomic.h>

#include <type_traits>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "op/atomic.hpp"
#include "op/put_word.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

using Mode = op::Completion::Mode;
using op::Look;

template <class T>
constexpr sennit_type kTypeOf = std::is_same_v<T, float>           ? SENNIT_FLOAT
                                : std::is_same_v<T, double>        ? SENNIT_DOUBLE
                                : std::is_same_v<T, std::int32_t>  ? SENNIT_INT32
                                : std::is_same_v<T, std::uint32_t> ? SENNIT_UINT32
                                : std::is_same_v<T, std::int64_t>  ? SENNIT_INT64
                                                                   : SENNIT_UINT64;

// The operation of a function, for the cold path. One constant per function.
struct AtomicCall {
    std::uint8_t operation;
    sennit_type type;
    Mode mode;
    bool fetches;
    const char *name;
};

template <class T>
BitsOf<T> bits_of(T value) {
    BitsOf<T> bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <class T>
T value_of(BitsOf<T> bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// The cold path. `operands`: the bits of the value, or of the expected and the new value.
[[gnu::cold, gnu::noinline]] sennit_status cold(const AtomicCall &call, sennit_gptr target,
                                                const void *operands, void *old,
                                                sennit_request *request) {
    return api::call(call.name, [&](Rank &rank) {
        if (call.fetches && old == nullptr) return null_argument("the place of the old value");
        if (call.mode == Mode::request && request == nullptr) return null_argument("request");
        const ObservedAccess observed(rank, call.name, target, op::element_bytes(call.type));
        const op::AtomicArgs args{call.operation, call.type, target, operands, old, 1};
        return op::atomic(rank, args, {call.mode, request});
    });
}

template <class T>
[[gnu::cold, gnu::noinline]] sennit_status cold_one(const AtomicCall &call, sennit_gptr target,
                                                    BitsOf<T> value, T *old,
                                                    sennit_request *request = nullptr) {
    return cold(call, target, &value, old, request);
}

template <class T>
[[gnu::cold, gnu::noinline]] sennit_status cold_two(const AtomicCall &call, sennit_gptr target,
                                                    BitsOf<T> expected, BitsOf<T> value, T *old,
                                                    sennit_request *request) {
    const BitsOf<T> operands[2] = {expected, value};
    return cold(call, target, operands, old, request);
}

template <class T, Look kLook>
inline BitsOf<T> *place_of(sennit_gptr target) {
    return op::direct_word<BitsOf<T>, kLook>(*current_rank(), target);
}

// One atomic step on a word. Returns the old value.
template <class T, std::uint8_t kOperator>
inline BitsOf<T> change(BitsOf<T> *place, BitsOf<T> value) {
    const std::atomic_ref<BitsOf<T>> word(*place);
    // SYNC atomic-word: each is release and acquire in one, and pairs with the same in another rank
    // or with update_bits(); a rank that sees a change also sees everything that the changing rank
    // did before.
    if constexpr (kOperator == SENNIT_SUM) return word.fetch_add(value, std::memory_order_acq_rel);
    if constexpr (kOperator == SENNIT_AND) return word.fetch_and(value, std::memory_order_acq_rel);
    if constexpr (kOperator == SENNIT_OR) return word.fetch_or(value, std::memory_order_acq_rel);
    if constexpr (kOperator == SENNIT_XOR) return word.fetch_xor(value, std::memory_order_acq_rel);
    if constexpr (kOperator == SENNIT_NO_OP) return word.load(std::memory_order_acquire);
    if constexpr (kOperator == SENNIT_REPLACE)
        return word.exchange(value, std::memory_order_acq_rel);
}

// The shapes of calls. A call first tries the near entries inline, then the far entries in a
// function of its own, then takes the cold path.

template <auto kShape, class... Args>
[[gnu::noinline]] sennit_status far(const AtomicCall &call, sennit_gptr target, Args... args) {
    return kShape(call, target, args...);
}

// A change without the old value: a set is a store, and an add is an instruction without a result.
template <class T, std::uint8_t kOperator, Look kLook = Look::near>
inline sennit_status change_only(const AtomicCall &call, sennit_gptr target, T value) {
    BitsOf<T> *place = place_of<T, kLook>(target);
    if (place == nullptr) [[unlikely]] {
        if constexpr (kLook == Look::near)
            return far<change_only<T, kOperator, Look::far>>(call, target, value);
        return cold_one<T>(call, target, bits_of(value), nullptr);
    }
    if constexpr (kOperator == SENNIT_REPLACE) {
        // SYNC atomic-word: pairs with the acquires in change() and update_bits().
        std::atomic_ref<BitsOf<T>>(*place).store(bits_of(value), std::memory_order_release);
    } else {
        (void)change<T, kOperator>(place, bits_of(value));
    }
    return SENNIT_OK;
}

template <class T, std::uint8_t kOperator, Look kLook = Look::near>
inline sennit_status change_and_fetch(const AtomicCall &call, sennit_gptr target, T value, T *old) {
    BitsOf<T> *place = place_of<T, kLook>(target);
    if (place == nullptr || old == nullptr) [[unlikely]] {
        if constexpr (kLook == Look::near)
            return far<change_and_fetch<T, kOperator, Look::far>>(call, target, value, old);
        return cold_one<T>(call, target, bits_of(value), old);
    }
    *old = value_of<T>(change<T, kOperator>(place, bits_of(value)));
    return SENNIT_OK;
}

template <class T, std::uint8_t kOperator, Look kLook = Look::near>
inline sennit_status change_and_fetch_nb(const AtomicCall &call, sennit_gptr target, T value,
                                         T *old, sennit_request *request) {
    BitsOf<T> *place = place_of<T, kLook>(target);
    if (place == nullptr || old == nullptr || request == nullptr) [[unlikely]] {
        if constexpr (kLook == Look::near)
            return far<change_and_fetch_nb<T, kOperator, Look::far>>(call, target, value, old,
                                                                     request);
        return cold_one<T>(call, target, bits_of(value), old, request);
    }
    *old = value_of<T>(change<T, kOperator>(place, bits_of(value)));
    *request = SENNIT_REQUEST_NULL;
    return SENNIT_OK;
}

template <class T>
struct Comparison {
    T expected;
    T value;
};

template <class T, Look kLook = Look::near>
inline sennit_status compare_swap(const AtomicCall &call, sennit_gptr target, Comparison<T> by,
                                  T *old, sennit_request *request) {
    BitsOf<T> *place = place_of<T, kLook>(target);
    BitsOf<T> expected = bits_of(by.expected);
    if (place == nullptr || old == nullptr || (call.mode == Mode::request && request == nullptr))
        [[unlikely]] {
        if constexpr (kLook == Look::near)
            return far<compare_swap<T, Look::far>>(call, target, by, old, request);
        return cold_two<T>(call, target, expected, bits_of(by.value), old, request);
    }
    // SYNC atomic-word: pairs with the acquires and releases in change() and update_bits(), at
    // other ranks.
    (void)std::atomic_ref<BitsOf<T>>(*place).compare_exchange_strong(
        expected, bits_of(by.value), std::memory_order_acq_rel, std::memory_order_acquire);
    *old = value_of<T>(expected);
    if (call.mode == Mode::request) *request = SENNIT_REQUEST_NULL;
    return SENNIT_OK;
}

sennit_status accumulate(const char *name, const op::AtomicArgs &args,
                         const op::Completion &completion) {
    return api::call(name, [&](Rank &rank) {
        if (completion.mode == Mode::request && completion.request == nullptr)
            return null_argument("request");
        const ObservedAccess observed(rank, name, args.target,
                                      op::element_bytes(args.type) * args.count);
        return op::atomic(rank, args, completion);
    });
}

// accumulate() with the old values as result.
sennit_status get_accumulate(const char *name, const op::AtomicArgs &args, Mode mode) {
    if (args.result == nullptr && args.count != 0) return null_argument("the result", name);
    return accumulate(name, args, {mode, nullptr});
}

// The stored form of an operator. An invalid operator becomes 0, which is invalid, too.
std::uint8_t operation_of(sennit_operator op) {
    const auto number = static_cast<unsigned>(op);
    return number < SENNIT_OPERATOR_END ? static_cast<std::uint8_t>(number) : std::uint8_t{0};
}

sennit_status put_word(const char *name, const op::PutWordArgs &args) {
    return api::call(name, [&](Rank &rank) {
        const ObservedAccess observed(rank, name, args.destination, args.bytes);
        return op::put_word(rank, args);
    });
}

}  // namespace

extern "C" {

#define SENNIT_CALL(T, OPERATION, MODE, FETCHES, NAME)   \
    static constexpr AtomicCall kCall {                  \
        OPERATION, kTypeOf<T>, Mode::MODE, FETCHES, NAME \
    }

// A change, and its _nbi form, which flush completes.
#define SENNIT_DEFINE_CHANGE(T, NAME, OPERATION, VALUE, ...)                  \
    sennit_status NAME(sennit_gptr target __VA_OPT__(, ) __VA_ARGS__) {       \
        SENNIT_CALL(T, OPERATION, blocking, false, #NAME);                    \
        return change_only<T, OPERATION>(kCall, target, VALUE);               \
    }                                                                         \
    sennit_status NAME##_nbi(sennit_gptr target __VA_OPT__(, ) __VA_ARGS__) { \
        SENNIT_CALL(T, OPERATION, implicit, false, #NAME "_nbi");             \
        return change_only<T, OPERATION>(kCall, target, VALUE);               \
    }

// A change that fetches the old value, and its _nb form, which has a request.
#define SENNIT_DEFINE_FETCH(T, NAME, OPERATION, VALUE, OLD, ...)                        \
    sennit_status NAME(sennit_gptr target, __VA_ARGS__) {                               \
        SENNIT_CALL(T, OPERATION, blocking, true, #NAME);                               \
        return change_and_fetch<T, OPERATION>(kCall, target, VALUE, OLD);               \
    }                                                                                   \
    sennit_status NAME##_nb(sennit_gptr target, __VA_ARGS__, sennit_request *request) { \
        SENNIT_CALL(T, OPERATION, request, true, #NAME "_nb");                          \
        return change_and_fetch_nb<T, OPERATION>(kCall, target, VALUE, OLD, request);   \
    }

#define SENNIT_DEFINE_WORD(T, S)                                                                 \
    SENNIT_DEFINE_CHANGE(T, sennit_atomic_set_##S, SENNIT_REPLACE, value, T value)               \
    SENNIT_DEFINE_FETCH(T, sennit_atomic_fetch_##S, SENNIT_NO_OP, T{}, value, T *value)          \
    SENNIT_DEFINE_FETCH(T, sennit_atomic_swap_##S, SENNIT_REPLACE, value, old, T value, T *old)  \
    sennit_status sennit_atomic_compare_swap_##S(sennit_gptr target, T expected, T value,        \
                                                 T *old) {                                       \
        SENNIT_CALL(T, op::kCompareSwap, blocking, true, "sennit_atomic_compare_swap_" #S);      \
        return compare_swap<T>(kCall, target, {expected, value}, old, nullptr);                  \
    }                                                                                            \
    sennit_status sennit_atomic_compare_swap_##S##_nb(sennit_gptr target, T expected, T value,   \
                                                      T *old, sennit_request *request) {         \
        SENNIT_CALL(T, op::kCompareSwap, request, true, "sennit_atomic_compare_swap_" #S "_nb"); \
        return compare_swap<T>(kCall, target, {expected, value}, old, request);                  \
    }

#define SENNIT_DEFINE_OPERATOR(T, S, V, OPERATION)                             \
    SENNIT_DEFINE_CHANGE(T, sennit_atomic##V##_##S, OPERATION, value, T value) \
    SENNIT_DEFINE_FETCH(T, sennit_atomic_fetch##V##_##S, OPERATION, value, old, T value, T *old)

#define SENNIT_DEFINE_INTEGER(T, S)                                  \
    SENNIT_DEFINE_OPERATOR(T, S, _add, SENNIT_SUM)                   \
    SENNIT_DEFINE_OPERATOR(T, S, _and, SENNIT_AND)                   \
    SENNIT_DEFINE_OPERATOR(T, S, _or, SENNIT_OR)                     \
    SENNIT_DEFINE_OPERATOR(T, S, _xor, SENNIT_XOR)                   \
    SENNIT_DEFINE_CHANGE(T, sennit_atomic_inc_##S, SENNIT_SUM, T{1}) \
    SENNIT_DEFINE_FETCH(T, sennit_atomic_fetch_inc_##S, SENNIT_SUM, T{1}, old, T *old)

SENNIT_ATOMIC_INTEGERS(SENNIT_DEFINE_WORD)
SENNIT_ATOMIC_INTEGERS(SENNIT_DEFINE_INTEGER)
SENNIT_ATOMIC_FLOATS(SENNIT_DEFINE_WORD)

sennit_status sennit_accumulate(sennit_gptr target, const void *source, size_t count,
                                sennit_type type, sennit_operator op) {
    return accumulate(__func__, {operation_of(op), type, target, source, nullptr, count},
                      {Mode::blocking, nullptr});
}

sennit_status sennit_accumulate_nb(sennit_gptr target, const void *source, size_t count,
                                   sennit_type type, sennit_operator op, sennit_request *request) {
    return accumulate(__func__, {operation_of(op), type, target, source, nullptr, count},
                      {Mode::request, request});
}

sennit_status sennit_accumulate_nbi(sennit_gptr target, const void *source, size_t count,
                                    sennit_type type, sennit_operator op) {
    return accumulate(__func__, {operation_of(op), type, target, source, nullptr, count},
                      {Mode::implicit, nullptr});
}

sennit_status sennit_get_accumulate(sennit_gptr target, const void *source, void *result,
                                    size_t count, sennit_type type, sennit_operator op) {
    return get_accumulate(__func__, {operation_of(op), type, target, source, result, count},
                          Mode::blocking);
}

sennit_status sennit_get_accumulate_nbi(sennit_gptr target, const void *source, void *result,
                                        size_t count, sennit_type type, sennit_operator op) {
    return get_accumulate(__func__, {operation_of(op), type, target, source, result, count},
                          Mode::implicit);
}

sennit_status sennit_put_word(sennit_gptr destination, const void *source, size_t bytes,
                              sennit_gptr word, sennit_operator op, uint64_t value) {
    return put_word(__func__, {destination, source, bytes, word, op, value, Mode::local});
}

sennit_status sennit_put_word_nbi(sennit_gptr destination, const void *source, size_t bytes,
                                  sennit_gptr word, sennit_operator op, uint64_t value) {
    return put_word(__func__, {destination, source, bytes, word, op, value, Mode::implicit});
}

}  // extern "C"
