// SPDX-License-Identifier: BSD-3-Clause
// A queue of objects, linked by one of their fields. Owns none of them. Zeroed memory is an empty
// queue.
#pragma once

namespace sennit {

template <class Object, Object *Object::*kNext>
class LinkedQueue {
  public:
    bool is_empty() const { return first_ == nullptr; }
    // Null if empty.
    Object *first() const { return first_; }
    Object *last() const { return last_; }

    void push(Object *object) {
        object->*kNext = nullptr;
        (last_ != nullptr ? last_->*kNext : first_) = object;
        last_ = object;
    }
    void push_front(Object *object) {
        object->*kNext = first_;
        if (first_ == nullptr) last_ = object;
        first_ = object;
    }
    // Null if empty.
    Object *pop() {
        Object *object = first_;
        if (object == nullptr) return nullptr;
        first_ = object->*kNext;
        if (first_ == nullptr) last_ = nullptr;
        object->*kNext = nullptr;
        return object;
    }

  private:
    Object *first_ = nullptr;
    Object *last_ = nullptr;
};

}  // namespace sennit
