// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of accumulate. Each atomic step changes one container: one element or, at an
// address aligned to 8 bytes, all elements in 8 bytes, which together need only one locked
// instruction. Processors order atomic operations of different sizes on the same bytes.
#include "op/elements.hpp"

#include <atomic>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "base/combine.hpp"
#include "op/engine.hpp"
#include "transport/word_copy.hpp"

namespace sennit::op {
namespace {

static_assert(std::atomic_ref<std::uint8_t>::is_always_lock_free &&
              std::atomic_ref<std::uint16_t>::is_always_lock_free &&
              std::atomic_ref<std::uint32_t>::is_always_lock_free &&
              std::atomic_ref<std::uint64_t>::is_always_lock_free);

// Integer sums and products wrap around, so 64-bit unsigned arithmetic gives the right low bits for
// every size and sign.
template <class T>
T combine(std::uint8_t operation, T old, T value) {
    if (operation == SENNIT_MIN || operation == SENNIT_MAX) {
        // If one value is a NaN, the other one is the result.
        if (std::is_floating_point_v<T> && old != old) return value;
        const bool is_new = operation == SENNIT_MIN ? value < old : value > old;
        return is_new ? value : old;
    }
    if constexpr (std::is_floating_point_v<T>) {
        return operation == SENNIT_SUM ? old + value : old * value;
    } else {
        const auto a = static_cast<std::uint64_t>(old);
        const auto b = static_cast<std::uint64_t>(value);
        return static_cast<T>(operation == SENNIT_SUM ? a + b : a * b);
    }
}

// Combines all elements of type T in one container.
template <class T, class Container>
Container combine_all(std::uint8_t operation, Container old, Container value) {
    constexpr std::size_t kElements = sizeof(Container) / sizeof(T);
    T olds[kElements];
    T values[kElements];
    std::memcpy(olds, &old, sizeof old);
    std::memcpy(values, &value, sizeof value);
    for (std::size_t i = 0; i < kElements; ++i)
        olds[i] = combine(operation, olds[i], values[i]);
    Container made;
    std::memcpy(&made, olds, sizeof made);
    return made;
}

template <class T, class Container>
Container combine_by_compare(std::atomic_ref<Container> word, std::uint8_t operation,
                             Container value) {
    // SYNC atomic-word: pairs with the releases below and in update_bits(), also in other ranks.
    Container old = word.load(std::memory_order_acquire);
    for (;;) {
        const Container made = combine_all<T>(operation, old, value);
        // Often a minimum changes nothing: do not write, so that the cache line stays shared.
        if (made == old) return old;
        // SYNC atomic-word: release and acquire in one, with update_bits() of other ranks; a rank
        // that sees a change also sees everything before it.
        if (word.compare_exchange_weak(old, made, std::memory_order_acq_rel,
                                       std::memory_order_acquire))
            return old;
    }
}

// Executes operators without arithmetic, which are the same for every type, in one atomic step per
// container. Returns the old value if `keep`.
template <class Container>
[[gnu::noinline]] Container update_bits(Container *place, std::uint8_t operation, Container value,
                                        bool keep) {
    const std::atomic_ref<Container> word(*place);
    // Without `keep` the compiler can use an instruction that does not return the old value.
    const auto change = [&](auto step) {
        if (keep) return step();
        (void)step();
        return value;
    };
    // SYNC atomic-word: each of these is release and acquire in one, and pairs with the same in
    // another rank; a rank that sees a change also sees everything before it.
    switch (operation) {
        case SENNIT_AND:
            // SYNC atomic-word: pairs with itself in another rank.
            return change([&] { return word.fetch_and(value, std::memory_order_acq_rel); });
        case SENNIT_OR:
            // SYNC atomic-word: pairs with itself in another rank.
            return change([&] { return word.fetch_or(value, std::memory_order_acq_rel); });
        case SENNIT_XOR:
            // SYNC atomic-word: pairs with itself in another rank.
            return change([&] { return word.fetch_xor(value, std::memory_order_acq_rel); });
        case SENNIT_REPLACE:
            // SYNC atomic-word: pairs with itself in another rank; the store has nothing to
            // acquire.
            if (keep) return word.exchange(value, std::memory_order_acq_rel);
            word.store(value, std::memory_order_release);
            return value;
        default:
            // SYNC atomic-word: pairs with the releases in another rank; the load has nothing to
            // release.
            return word.load(std::memory_order_acquire);
    }
}

// Executes operators with arithmetic on elements of type T.
template <class T, class Container>
Container update_numbers(Container *place, std::uint8_t operation, Container value) {
    const std::atomic_ref<Container> word(*place);
    if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(Container)) {
        // SYNC atomic-word: pairs with itself in another rank.
        if (operation == SENNIT_SUM) return word.fetch_add(value, std::memory_order_acq_rel);
    }
    return combine_by_compare<T>(word, operation, value);
}

constexpr bool is_arithmetic(std::uint8_t operation) {
    return operation >= SENNIT_SUM && operation <= SENNIT_MAX;
}

template <class T, class Container>
void step(const ElementsArgs &args, std::size_t at) {
    Container value{};
    if (args.source != nullptr) std::memcpy(&value, args.source + at, sizeof value);
    auto *place = reinterpret_cast<Container *>(args.memory + at);
    const bool keep = args.result != nullptr;
    const Container old = is_arithmetic(args.operation)
                              ? update_numbers<T>(place, args.operation, value)
                              : update_bits(place, args.operation, value, keep);
    if (keep) std::memcpy(args.result + at, &old, sizeof old);
}

template <class T>
void update(const ElementsArgs &args) {
    const std::size_t bytes = args.count * sizeof(T);
    std::size_t at = 0;
    while (at < bytes) {
        const bool whole = reinterpret_cast<std::uintptr_t>(args.memory + at) % 8 == 0;
        if (whole && bytes - at >= 8) {
            step<T, std::uint64_t>(args, at);
            at += 8;
        } else {
            step<T, BitsOf<T>>(args, at);
            at += sizeof(T);
        }
    }
}

template <class Word>
void compare_swap(const ElementsArgs &args) {
    Word operands[2];
    std::memcpy(operands, args.source, sizeof operands);
    const std::atomic_ref<Word> word(*reinterpret_cast<Word *>(args.memory));
    // SYNC atomic-word: pairs with itself in another rank.
    (void)word.compare_exchange_strong(operands[0], operands[1], std::memory_order_acq_rel,
                                       std::memory_order_acquire);
    if (args.result != nullptr) std::memcpy(args.result, &operands[0], sizeof(Word));
}

void compare_swap_alone(const ElementsArgs &args, std::size_t bytes) {
    std::uint64_t old = 0;
    std::memcpy(&old, args.memory, bytes);
    if (std::memcmp(&old, args.source, bytes) == 0)
        transport::copy_to_shared(args.memory, args.source + bytes, bytes);
    if (args.result != nullptr) std::memcpy(args.result, &old, bytes);
}

bool is_float(int type) {
    return type == SENNIT_FLOAT || type == SENNIT_DOUBLE;
}

// In the order of sennit_type, whose first value is 1.
constexpr void (*kUpdates[])(const ElementsArgs &) = {
    update<std::int8_t>,  update<std::int16_t>,  update<std::int32_t>,  update<std::int64_t>,
    update<std::uint8_t>, update<std::uint16_t>, update<std::uint32_t>, update<std::uint64_t>,
    update<float>,        update<double>,
};
static_assert(std::size(kUpdates) == SENNIT_DOUBLE);

}  // namespace

std::size_t element_bytes(int type) {
    return type == SENNIT_LONG_DOUBLE ? 0 : type_bytes(type);
}

bool operator_fits(int operation, int type) {
    const std::size_t bytes = element_bytes(type);
    if (operation == kCompareSwap) return bytes == 4 || bytes == 8;
    if (bytes == 0 || operation < SENNIT_SUM || operation > SENNIT_NO_OP) return false;
    const bool bitwise =
        operation == SENNIT_AND || operation == SENNIT_OR || operation == SENNIT_XOR;
    return !bitwise || !is_float(type);
}

void update_elements(const ElementsArgs &args) {
    if (args.operation == kCompareSwap) {
        if (element_bytes(args.type) == 4) {
            compare_swap<std::uint32_t>(args);
        } else {
            compare_swap<std::uint64_t>(args);
        }
        return;
    }
    kUpdates[args.type - 1](args);
}

void update_elements_alone(const ElementsArgs &args) {
    const std::size_t element = element_bytes(args.type);
    if (args.operation == kCompareSwap) return compare_swap_alone(args, element);
    const std::size_t bytes = element * args.count;
    if (args.result != nullptr) transport::copy_from_shared(args.result, args.memory, bytes);
    if (args.operation == SENNIT_NO_OP) return;
    if (args.operation == SENNIT_REPLACE)
        return transport::copy_to_shared(args.memory, args.source, bytes);
    const auto op = static_cast<sennit_operator>(args.operation);
    find_kernel(args.type, op)(args.memory, args.source, args.memory, args.count);
}

}  // namespace sennit::op
