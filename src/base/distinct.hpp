// SPDX-License-Identifier: BSD-3-Clause
// Stores equal values once: the ranks of a node have most values in common. The search starts at
// the newest value. One owner, no lock.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace sennit {

template <class T>
class Distinct {
    static_assert(std::has_unique_object_representations_v<T>);

  public:
    Distinct() = default;
    ~Distinct() { std::free(values_); }
    Distinct(const Distinct &) = delete;
    Distinct &operator=(const Distinct &) = delete;

    // False: no memory. *index is the argument for at().
    bool add(const T &value, std::uint32_t *index) {
        for (*index = count_; *index > 0;)
            if (std::memcmp(&values_[--*index], &value, sizeof value) == 0) return true;
        if (count_ == room_ && !grow()) return false;
        *index = count_;
        values_[count_++] = value;
        return true;
    }
    const T &at(std::uint32_t index) const { return values_[index]; }

  private:
    bool grow() {
        const std::uint32_t room = room_ == 0 ? 4 : 2 * room_;
        auto *grown = static_cast<T *>(std::realloc(values_, room * sizeof(T)));
        if (grown == nullptr) return false;
        values_ = grown;
        room_ = room;
        return true;
    }

    T *values_ = nullptr;  // [room_]
    std::uint32_t count_ = 0;
    std::uint32_t room_ = 0;
};

}  // namespace sennit
