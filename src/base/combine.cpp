// SPDX-License-Identifier: BSD-3-Clause
// The build compiles this file with options for vector code (CMakeLists.txt), so plain loops are
// enough.
#include "base/combine.hpp"

#include <cstdint>
#include <type_traits>

namespace sennit {
namespace {

// Operators. Integer arithmetic is unsigned, so it wraps around; types below 32 bits are widened to
// an unsigned type first, since promotion to int would make an overflow undefined.
template <class T, bool = std::is_integral_v<T>>
struct Wrapping {
    using Type = T;
};
template <class T>
struct Wrapping<T, true> {
    using Type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
};
template <class T>
using Wrap = typename Wrapping<T>::Type;

constexpr auto kSum = []<class T>(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
};
constexpr auto kProd = []<class T>(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
};
// If one operand is NaN, the result is the other: a comparison with NaN is false, and a NaN differs
// from itself.
constexpr auto kMin = []<class T>(T a, T b) { return a < b || b != b ? a : b; };
constexpr auto kMax = []<class T>(T a, T b) { return a > b || b != b ? a : b; };
constexpr auto kAnd = []<class T>(T a, T b) { return static_cast<T>(a & b); };
constexpr auto kOr = []<class T>(T a, T b) { return static_cast<T>(a | b); };
constexpr auto kXor = []<class T>(T a, T b) { return static_cast<T>(a ^ b); };
constexpr auto kLogicalAnd = []<class T>(T a, T b) {
    return static_cast<T>((a != T(0)) & (b != T(0)));
};
constexpr auto kLogicalOr = []<class T>(T a, T b) {
    return static_cast<T>((a != T(0)) | (b != T(0)));
};
constexpr auto kLogicalXor = []<class T>(T a, T b) {
    return static_cast<T>((a != T(0)) ^ (b != T(0)));
};

// An element at any address.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Element {
    T value;
};

// Three loops, because the compiler vectorizes a loop only if it knows whether the result overlaps
// no operand or is exactly one of the two.
template <class T, auto kOperator>
void combine(const void *left, const void *right, void *result, std::size_t count) {
    const auto *const __restrict a = static_cast<const Element<T> *>(left);
    const auto *const __restrict b = static_cast<const Element<T> *>(right);
    auto *const __restrict out = static_cast<Element<T> *>(result);
    if (result == left) {
        for (std::size_t i = 0; i < count; ++i)
            out[i].value = kOperator(out[i].value, b[i].value);
    } else if (result == right) {
        for (std::size_t i = 0; i < count; ++i)
            out[i].value = kOperator(a[i].value, out[i].value);
    } else {
        for (std::size_t i = 0; i < count; ++i)
            out[i].value = kOperator(a[i].value, b[i].value);
    }
}

template <class T>
Kernel of_type(sennit_operator op) {
    if constexpr (std::is_integral_v<T>) {
        if (op == SENNIT_AND) return combine<T, kAnd>;
        if (op == SENNIT_OR) return combine<T, kOr>;
        if (op == SENNIT_XOR) return combine<T, kXor>;
    }
    if (op == SENNIT_SUM) return combine<T, kSum>;
    if (op == SENNIT_PROD) return combine<T, kProd>;
    if (op == SENNIT_MIN) return combine<T, kMin>;
    if (op == SENNIT_MAX) return combine<T, kMax>;
    if (op == SENNIT_LOGICAL_AND) return combine<T, kLogicalAnd>;
    if (op == SENNIT_LOGICAL_OR) return combine<T, kLogicalOr>;
    if (op == SENNIT_LOGICAL_XOR) return combine<T, kLogicalXor>;
    return nullptr;
}

struct TypeRow {
    std::size_t bytes;
    Kernel (*kernel)(sennit_operator op);
};

template <class T>
constexpr TypeRow row() {
    return {sizeof(T), of_type<T>};
}

// In the order of sennit_type, whose first value is 1.
constexpr TypeRow kTypes[] = {
    row<std::int8_t>(),  row<std::int16_t>(),  row<std::int32_t>(),  row<std::int64_t>(),
    row<std::uint8_t>(), row<std::uint16_t>(), row<std::uint32_t>(), row<std::uint64_t>(),
    row<float>(),        row<double>(),        row<long double>(),
};
static_assert(sizeof kTypes / sizeof kTypes[0] == SENNIT_TYPE_END - 1);

const TypeRow *row_of(int type) {
    const auto index = static_cast<std::uint32_t>(type) - 1u;
    return index < SENNIT_TYPE_END - 1 ? &kTypes[index] : nullptr;
}

}  // namespace

Kernel find_kernel(sennit_type type, sennit_operator op) {
    const TypeRow *found = row_of(type);
    return found == nullptr ? nullptr : found->kernel(op);
}

std::size_t type_bytes(int type) {
    const TypeRow *found = row_of(type);
    return found == nullptr ? 0 : found->bytes;
}

}  // namespace sennit
