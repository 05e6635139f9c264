// See combine.hpp. This file alone is compiled for vectors (CMakeLists.txt says how): the loops
// below are plain, and the compiler turns them into vector code.
#include "base/combine.hpp"

#include <cstdint>
#include <type_traits>

namespace sennit {
namespace {

// Operators. Integers wrap around: they are computed without sign, and those below 32 bits would
// otherwise be widened to int, whose overflow is undefined.
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

struct Sum {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
    }
};
struct Prod {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
    }
};
// Of a number and a NaN the number: a comparison with NaN is false, and a NaN is not itself.
struct Min {
    template <class T>
    static T apply(T a, T b) {
        return a < b || b != b ? a : b;
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        return a > b || b != b ? a : b;
    }
};
struct And {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};
struct LogicalAnd {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != T(0)) & (b != T(0)));
    }
};
struct LogicalOr {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != T(0)) | (b != T(0)));
    }
};
struct LogicalXor {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((a != T(0)) ^ (b != T(0)));
    }
};

// An element at any address.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Element {
    T value;
};

// Three loops, because the compiler makes vectors of a loop only if it knows what overlaps:
// nothing, or the result one operand exactly.
template <class T, class Op>
void combine(const void *left, const void *right, void *result, std::size_t count) {
    const auto *const __restrict a = static_cast<const Element<T> *>(left);
    const auto *const __restrict b = static_cast<const Element<T> *>(right);
    auto *const __restrict out = static_cast<Element<T> *>(result);
    if (result == left) {
        for (std::size_t i = 0; i < count; ++i)
            out[i].value = Op::template apply<T>(out[i].value, b[i].value);
    } else if (result == right) {
        for (std::size_t i = 0; i < count; ++i)
            out[i].value = Op::template apply<T>(a[i].value, out[i].value);
    } else {
        for (std::size_t i = 0; i < count; ++i)
            out[i].value = Op::template apply<T>(a[i].value, b[i].value);
    }
}

template <class T>
Kernel of_type(sennit_operator op) {
    switch (op) {
        case SENNIT_SUM:
            return combine<T, Sum>;
        case SENNIT_PROD:
            return combine<T, Prod>;
        case SENNIT_MIN:
            return combine<T, Min>;
        case SENNIT_MAX:
            return combine<T, Max>;
        case SENNIT_LOGICAL_AND:
            return combine<T, LogicalAnd>;
        case SENNIT_LOGICAL_OR:
            return combine<T, LogicalOr>;
        case SENNIT_LOGICAL_XOR:
            return combine<T, LogicalXor>;
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (op == SENNIT_AND) return combine<T, And>;
        if (op == SENNIT_OR) return combine<T, Or>;
        if (op == SENNIT_XOR) return combine<T, Xor>;
    }
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

// In the order of sennit_type, which starts with 1.
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
