// SPDX-License-Identifier: BSD-3-Clause
// Opaque pointers from a rank to its parts in other folders. rank/ only knows that a part exists;
// the folder that owns the part declares its type:
//
//     template <>
//     struct sennit::PartType<sennit::Part::engine> {
//         using Type = sennit::op::Engine;
//     };
//
// Where this declaration is visible, a PartPointer works like a pointer to that type and accepts no
// other.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace sennit {

enum class Part {
    entry,
    segments,
    transport,
    router,
    domains,
    observer,
    engine,
    team,
    team_registry,
    groups,
    collectives,
    channels,
    signals,
    plans,
    queues,
    watch,
};

template <Part kPart>
struct PartType;

template <Part kPart>
using PartOf = typename PartType<kPart>::Type;

// kIsPart: T is the type of the part. kFitsPart: a T * converts to a pointer to the part. Both are
// evaluated where a PartPointer is used, not where it is declared.
template <class T, Part kPart>
inline constexpr bool kIsPart = std::is_same_v<std::remove_const_t<T>, PartOf<kPart>>;
template <class T, Part kPart>
inline constexpr bool kFitsPart = std::is_convertible_v<T *, PartOf<kPart> *>;
template <class T, Part kPart>
concept IsPart = kIsPart<T, kPart>;
template <class T, Part kPart>
concept FitsPart = kFitsPart<T, kPart>;

// A pointer that is set during start-up, or under a lock.
template <Part kPart>
class PartPointer {
  public:
    constexpr PartPointer() = default;
    constexpr PartPointer(std::nullptr_t) {}

    template <FitsPart<kPart> T>
    PartPointer(T *part) : part_(static_cast<PartOf<kPart> *>(part)) {}

    auto *get() const { return static_cast<PartOf<kPart> *>(part_); }
    auto *operator->() const { return get(); }
    auto &operator*() const { return *get(); }
    template <IsPart<kPart> T>
    operator T *() const {
        return get();
    }

    friend bool operator==(const PartPointer &one, std::nullptr_t) { return one.part_ == nullptr; }
    friend bool operator==(const PartPointer &one, const PartPointer &other) {
        return one.part_ == other.part_;
    }
    template <IsPart<kPart> T>
    bool operator==(T *part) const {
        return part_ == part;
    }

  private:
    void *part_ = nullptr;
};

// A pointer that several threads may load and store at the same time, like a std::atomic.
template <Part kPart>
class AtomicPartPointer {
  public:
    auto *load(std::memory_order order) const { return as_part(part_.load(order)); }
    template <IsPart<kPart> T>
    void store(T *part, std::memory_order order) {
        part_.store(part, order);
    }
    void store(std::nullptr_t, std::memory_order order) { part_.store(nullptr, order); }
    auto *exchange(std::nullptr_t, std::memory_order order) {
        return as_part(part_.exchange(nullptr, order));
    }

  private:
    static auto *as_part(void *part) { return static_cast<PartOf<kPart> *>(part); }

    std::atomic<void *> part_{nullptr};
};

}  // namespace sennit
