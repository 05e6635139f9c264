// SPDX-License-Identifier: BSD-3-Clause
// Which callback of the program the calling thread is in. The thread's record in base/fail.cpp has
// this value, since thread-local storage is scarce.
#pragma once

#include <cstdint>

namespace sennit {

enum class Callback : std::uint8_t { none, log, combine };

// Null: no memory for the thread's record.
Callback *thread_callback();

// Marks the thread as inside such a callback while the object lives.
class InCallback {
  public:
    explicit InCallback(Callback kind) : word_(thread_callback()) {
        if (word_ == nullptr) return;
        outer_ = *word_;
        *word_ = kind;
    }
    ~InCallback() {
        if (word_ != nullptr) *word_ = outer_;
    }
    InCallback(const InCallback &) = delete;
    InCallback &operator=(const InCallback &) = delete;

    // Whether the directly enclosing callback is of that kind. Callbacks further out do not count.
    bool was_in(Callback kind) const { return word_ != nullptr && outer_ == kind; }

  private:
    Callback *word_;
    Callback outer_ = Callback::none;
};

}  // namespace sennit
