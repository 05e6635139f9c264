// SPDX-License-Identifier: BSD-3-Clause
// Makes, finds and frees worlds of the path sim, and owns the heap of due parts.
#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/mutex.hpp"
#include "transport/sim/world.hpp"

namespace sennit::transport::sim {
namespace {

// Process-wide: the worlds that a rank or a test holds. Ranks find the world of their job by its
// number, so they never use a stale address.
pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
World *all_worlds = nullptr;
std::uint64_t last_id = 0;

}  // namespace

World::World(const SimSettings &settings, int size)
    : settings_(settings), size_(size), random_(mix(settings.seed)) {}

bool World::allocate() {
    const std::size_t entries =
        static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_) * settings_.rails;
    last_end_ = Array<std::uint64_t>(entries);
    last_number_ = Array<std::uint64_t>(entries);
    return last_end_ != nullptr && last_number_ != nullptr;
}

World *World::make(const SimSettings &settings, int size) {
    if (size > kMostMembers) return nullptr;
    auto *world = new (std::nothrow) World(settings, size);
    if (world == nullptr) return nullptr;
    if (!world->allocate()) {
        delete world;
        return nullptr;
    }
    const MutexLock locked(list_lock);
    world->id_ = ++last_id;
    world->next_ = all_worlds;
    all_worlds = world;
    return world;
}

World *World::find(std::uint64_t id) {
    const MutexLock locked(list_lock);
    World *world = all_worlds;
    while (world != nullptr && world->id_ != id)
        world = world->next_;
    if (world != nullptr) ++world->references_;
    return world;
}

World *World::find_of(const Rank &rank) {
    const MutexLock locked(list_lock);
    World *found = nullptr;
    for (World *world = all_worlds; world != nullptr && found == nullptr; world = world->next_) {
        for (const Rank *object : world->objects_)
            if (object == &rank) found = world;
    }
    if (found != nullptr) ++found->references_;
    return found;
}

void World::name_object(int rank, const Rank *object) {
    const MutexLock locked(list_lock);
    objects_[rank] = object;
}

void World::release() {
    {
        const MutexLock locked(list_lock);
        if (--references_ != 0) return;
        World **link = &all_worlds;
        while (*link != this)
            link = &(*link)->next_;
        *link = next_;
    }
    delete this;
}

World::~World() {
    for (Member &member : members_)
        std::free(member.attachments);
    while (chunks_ != nullptr) {
        FlightChunk *chunk = chunks_;
        chunks_ = chunk->next;
        std::free(chunk);
    }
    heap_.close();
    (void)pthread_mutex_destroy(&lock_);
}

bool DueHeap::reserve(std::size_t more) {
    if (count_ + more <= capacity_) return true;
    const std::size_t wanted = capacity_ == 0 ? 256 : capacity_ * 2;
    auto *grown = static_cast<Due *>(std::realloc(dues_, wanted * sizeof(Due)));
    if (grown == nullptr) return false;
    dues_ = grown;
    capacity_ = wanted;
    return true;
}

void DueHeap::push(const Due &due) {
    dues_[count_++] = due;
    std::push_heap(dues_, dues_ + count_, is_later);
}

Due DueHeap::pop() {
    std::pop_heap(dues_, dues_ + count_, is_later);
    return dues_[--count_];
}

void DueHeap::close() {
    std::free(dues_);
    *this = DueHeap();
}

}  // namespace sennit::transport::sim
