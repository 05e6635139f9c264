// A table of objects by handle, for what a rank creates and destroys: plans, queues, producers.
// Owned by the rank's part of the folder whose objects it holds, which is made with the first of
// them by make_once(). The table does not own the objects.
//
// A handle is generation (19 bits, never 0) | place (12 bits), 0 at the top. Each use of a place
// has the next generation, so a handle of an object that is gone, or one that is made up, leads to
// null. Any thread may find; changes come one at a time, under a lock of the owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

namespace sennit {

template <class Object>
class HandleTable {
  public:
    static constexpr std::uint32_t kMost = (1u << 12) - 1;

    Object *find(std::uint32_t handle) const {
        // SYNC handle-table: pairs with the release in put(); the object comes before.
        Object *it = places_[handle % kPlaces].load(std::memory_order_acquire);
        return it != nullptr && it->handle == handle ? it : nullptr;
    }

    // Gives the object a place and its handle. False: it has kMost of them.
    bool put(Object *object) {
        std::uint32_t place = 1;
        // relaxed: under the lock.
        while (place < kPlaces && places_[place].load(std::memory_order_relaxed) != nullptr)
            ++place;
        if (place == kPlaces) return false;
        generations_[place] = generations_[place] % kGenerations + 1;
        object->handle = generations_[place] * kPlaces + place;
        // SYNC handle-table: pairs with the acquire in find(); the object comes before.
        places_[place].store(object, std::memory_order_release);
        return true;
    }

    void remove(const Object &object) {
        // relaxed: a call that finds the object still is made at the same time, which is wrong.
        places_[object.handle % kPlaces].store(nullptr, std::memory_order_relaxed);
    }

    // Those in the table, while nobody else uses it.
    template <class Call>
    void each(Call call) const {
        for (const std::atomic<Object *> &place : places_) {
            // relaxed: there is one thread.
            Object *it = place.load(std::memory_order_relaxed);
            if (it != nullptr) call(it);
        }
    }

  private:
    static constexpr std::uint32_t kPlaces = kMost + 1;  // place 0 is never used
    static constexpr std::uint32_t kGenerations = (1u << 19) - 1;

    std::atomic<Object *> places_[kPlaces] = {};  // SYNC handle-table
    std::uint32_t generations_[kPlaces] = {};     // of the last handle of each place
};

// What `made` points to, which the first call makes; null: no memory. One call at a time.
template <class Tables>
Tables *make_once(std::atomic<Tables *> &made) {
    // relaxed: only these calls change it.
    Tables *it = made.load(std::memory_order_relaxed);
    if (it != nullptr) return it;
    it = new (std::nothrow) Tables;
    // SYNC handle-table: pairs with the acquire in made_once(); the empty tables come before.
    if (it != nullptr) made.store(it, std::memory_order_release);
    return it;
}

// The same where it is made already, else null.
template <class Tables>
Tables *made_once(const std::atomic<Tables *> &made) {
    // SYNC handle-table: pairs with the release in make_once(); the empty tables come before.
    return made.load(std::memory_order_acquire);
}

}  // namespace sennit
