// SPDX-License-Identifier: BSD-3-Clause
// A zeroed array of plain objects whose number is known at run time. Its destructor frees it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace sennit {

template <class T>
class Array {
  public:
    Array() = default;
    // Converts to a pointer; null if there was no memory.
    explicit Array(std::size_t count)
        : items_(static_cast<T *>(std::calloc(count == 0 ? 1 : count, sizeof(T)))) {
        static_assert(std::is_trivially_destructible_v<T> &&
                      alignof(T) <= alignof(std::max_align_t));
    }
    Array(Array &&other) noexcept : items_(other.release()) {}
    Array &operator=(Array &&other) noexcept {
        std::swap(items_, other.items_);
        return *this;
    }
    ~Array() { std::free(items_); }

    operator T *() const { return items_; }
    // Hands the memory to a new owner, who frees it.
    T *release() { return std::exchange(items_, nullptr); }

  private:
    T *items_ = nullptr;
};

}  // namespace sennit
