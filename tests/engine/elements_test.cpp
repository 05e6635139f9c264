// The arithmetic of accumulate: every type with every operator, at every alignment and length, with
// and without the old elements, compared with plain arithmetic on single elements.
#include "op/elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "op/engine.hpp"

namespace sennit::test {
namespace {

template <class T>
T plain(std::uint8_t operation, T old, T value) {
    switch (operation) {
        case SENNIT_SUM:
            if constexpr (std::is_floating_point_v<T>) return old + value;
            return static_cast<T>(static_cast<__int128>(old) + static_cast<__int128>(value));
        case SENNIT_PROD:
            if constexpr (std::is_floating_point_v<T>) return old * value;
            return static_cast<T>(static_cast<unsigned __int128>(old) *
                                  static_cast<unsigned __int128>(value));
        case SENNIT_MIN:
            return std::min(old, value);
        case SENNIT_MAX:
            return std::max(old, value);
        case SENNIT_REPLACE:
            return value;
        default:
            break;
    }
    if constexpr (!std::is_floating_point_v<T>) {
        if (operation == SENNIT_AND) return static_cast<T>(old & value);
        if (operation == SENNIT_OR) return static_cast<T>(old | value);
        if (operation == SENNIT_XOR) return static_cast<T>(old ^ value);
    }
    return old;
}

template <class T>
class Elements : public testing::Test {};

using Types = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                             std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Elements, Types);

template <class T>
constexpr sennit_type type_of() {
    if (std::is_same_v<T, float>) return SENNIT_FLOAT;
    if (std::is_same_v<T, double>) return SENNIT_DOUBLE;
    const int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<sennit_type>((std::is_signed_v<T> ? SENNIT_INT8 : SENNIT_UINT8) + width);
}

constexpr std::size_t kMost = 24;  // elements: more than three containers of bytes

template <class T>
void check(std::uint8_t operation, std::size_t first, std::size_t count, std::mt19937_64 &random) {
    alignas(8) T memory[kMost];
    T expected[kMost];
    // Neither source nor result is aligned.
    std::vector<std::byte> source_bytes(sizeof(T) * kMost + 1);
    std::vector<std::byte> result_bytes(sizeof(T) * kMost + 1);
    std::byte *source = source_bytes.data() + 1;
    std::byte *result = result_bytes.data() + 1;
    for (std::size_t i = 0; i < kMost; ++i) {
        memory[i] = static_cast<T>(random() % 4 == 0 ? random() % 3 : random());
        const T value = static_cast<T>(random() % 4 == 0 ? random() % 3 : random());
        std::memcpy(source + i * sizeof(T), &value, sizeof value);
        expected[i] = memory[i];
        if (i >= first && i < first + count) {
            T operand;
            std::memcpy(&operand, source + (i - first) * sizeof(T), sizeof operand);
            expected[i] = operand;
        }
    }
    for (std::size_t i = first; i < first + count; ++i) {
        T operand;
        std::memcpy(&operand, source + (i - first) * sizeof(T), sizeof operand);
        expected[i] = plain(operation, memory[i], operand);
    }
    T old[kMost];
    std::copy(std::begin(memory), std::end(memory), std::begin(old));
    const bool keep = random() % 2 == 0;
    op::update_elements({operation, type_of<T>(), reinterpret_cast<std::byte *>(memory + first),
                         operation == SENNIT_NO_OP ? nullptr : source, keep ? result : nullptr,
                         count});
    const std::string what = "operator " + std::to_string(operation) + ", " +
                             std::to_string(count) + " elements from " + std::to_string(first);
    ASSERT_EQ(std::memcmp(memory, expected, sizeof memory), 0) << what;
    if (!keep) return;
    ASSERT_EQ(std::memcmp(result, old + first, count * sizeof(T)), 0) << what;
}

// Broken by a container that reaches beyond the array, an operator at the wrong width, or a
// compiler that mixes up the elements of a container (GCC 12 did, for one form of the source).
TYPED_TEST(Elements, every_operator_agrees_with_plain_arithmetic) {
    std::mt19937_64 random(7);
    for (std::uint8_t operation = SENNIT_SUM; operation <= SENNIT_NO_OP; ++operation) {
        if (!op::operator_fits(operation, type_of<TypeParam>())) continue;
        for (std::size_t first = 0; first < 8; ++first)
            for (std::size_t count = 0; first + count <= kMost; ++count)
                for (int round = 0; round < 8; ++round)
                    ASSERT_NO_FATAL_FAILURE(check<TypeParam>(operation, first, count, random));
    }
}

TEST(elements, operators_fit_only_the_right_types) {
    for (int type = 0; type <= SENNIT_TYPE_END; ++type) {
        const bool is_type = type >= SENNIT_INT8 && type <= SENNIT_DOUBLE;
        const bool is_float = type == SENNIT_FLOAT || type == SENNIT_DOUBLE;
        EXPECT_EQ(op::element_bytes(type) != 0, is_type) << type;
        EXPECT_EQ(op::operator_fits(SENNIT_SUM, type), is_type) << type;
        EXPECT_EQ(op::operator_fits(SENNIT_XOR, type), is_type && !is_float) << type;
        EXPECT_EQ(op::operator_fits(op::kCompareSwap, type), op::element_bytes(type) >= 4) << type;
        EXPECT_FALSE(op::operator_fits(0, type));
        EXPECT_FALSE(op::operator_fits(SENNIT_LOGICAL_AND, type));
        EXPECT_FALSE(op::operator_fits(SENNIT_OPERATOR_END, type));
    }
}

}  // namespace
}  // namespace sennit::test
