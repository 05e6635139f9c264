// Element types and operators of reductions, for teams and active sets.
#pragma once

#include <complex>
#include <type_traits>

#include "state.hpp"

namespace shmem {

enum class Fold { bit_and, bit_or, bit_xor, maximum, minimum, sum, product };

template <class T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, float _Complex> || std::is_same_v<T, double _Complex>;

template <class T>
constexpr sennit_type type_of() {
    if constexpr (std::is_same_v<T, float>) return SENNIT_FLOAT;
    if constexpr (std::is_same_v<T, double>) return SENNIT_DOUBLE;
    if constexpr (std::is_same_v<T, long double>) return SENNIT_LONG_DOUBLE;
    constexpr sennit_type kSigned[] = {SENNIT_INT8, SENNIT_INT16, SENNIT_INT32, SENNIT_INT64};
    constexpr sennit_type kUnsigned[] = {SENNIT_UINT8, SENNIT_UINT16, SENNIT_UINT32, SENNIT_UINT64};
    constexpr int kIndex = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kIndex] : kUnsigned[kIndex];
}

constexpr sennit_operator operator_of(Fold fold) {
    constexpr sennit_operator kOperators[] = {SENNIT_AND, SENNIT_OR,  SENNIT_XOR, SENNIT_MAX,
                                              SENNIT_MIN, SENNIT_SUM, SENNIT_PROD};
    return kOperators[static_cast<int>(fold)];
}

// The operator for complex numbers, which are not among Sennit's types.
template <class T, Fold kFold>
void combine_complex(const void *left, const void *right, void *result, size_t count, void *) {
    const auto *const a = static_cast<const T *>(left);
    const auto *const b = static_cast<const T *>(right);
    auto *const to = static_cast<T *>(result);
    for (size_t i = 0; i < count; ++i)
        to[i] = kFold == Fold::sum ? a[i] + b[i] : a[i] * b[i];
}

template <class T, Fold kFold>
sennit_reduction reduction_of(std::size_t count) {
    if constexpr (kIsComplex<T>)
        return sennit_reduction_by(count, sizeof(T), combine_complex<T, kFold>, nullptr);
    else
        return sennit_reduction_of(count, type_of<T>(), operator_of(kFold));
}

// Copies single elements. The stride is in bytes.
inline void gather_elements(char *to, const char *from, std::size_t element, std::size_t count,
                            std::ptrdiff_t stride) {
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + i * element, from + static_cast<std::ptrdiff_t>(i) * stride, element);
}
inline void scatter_elements(char *to, const char *from, std::size_t element, std::size_t count,
                             std::ptrdiff_t stride) {
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + static_cast<std::ptrdiff_t>(i) * stride, from + i * element, element);
}

}  // namespace shmem
