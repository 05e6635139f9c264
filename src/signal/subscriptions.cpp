// SPDX-License-Identifier: BSD-3-Clause
#include "signal/subscriptions.hpp"

#include <algorithm>
#include <utility>

#include "base/mutex.hpp"
#include "runtime/detector.hpp"
#include "signal/carried.hpp"

namespace sennit::signal {

namespace {

// An owner that has refused is asked again after this many more messages.
constexpr std::uint32_t kAsksAgain = 64;
constexpr std::size_t kFewestIdle = 1024;

bool is_same(const SubscriptionKey &a, const SubscriptionKey &b) {
    return a.signal.handle == b.signal.handle && a.signal.rank == b.signal.rank &&
           a.epochs == b.epochs && a.events == b.events;
}

}  // namespace

// The first place of a signal's entries: they are between this place and the next free one.
std::size_t Subscriptions::first_place(sennit_signal signal) {
    // The high bits of products with 2^64 / golden ratio (Knuth, volume 3, 6.4).
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
    const std::uint64_t name =
        std::uint64_t{static_cast<std::uint32_t>(signal.rank)} << 32 | signal.handle;
    return name * kFactor >> 32;
}

// The place of the kind, or the free place for it. At most half of the places are in use.
Subscriptions::Entry *Subscriptions::place_of(const SubscriptionKey &kind) const {
    std::size_t place = first_place(kind.signal);
    for (;; ++place) {
        Entry &entry = entries_[place & (places_ - 1)];
        if (entry.kind.signal.handle == 0 || is_same(entry.kind, kind)) return &entry;
    }
}

Subscriptions::Entry *Subscriptions::find(const SubscriptionKey &kind) const {
    Entry *const entry = places_ == 0 ? nullptr : place_of(kind);
    return entry == nullptr || entry->kind.signal.handle == 0 ? nullptr : entry;
}

// Makes room for another entry. False: no memory.
bool Subscriptions::make_room() {
    const std::size_t places = places_ == 0 ? kFirst : 2 * places_;
    Array<Entry> more(places);
    if (more == nullptr) return false;
    std::swap(entries_, more);
    const std::size_t before = std::exchange(places_, places);
    used_ = 0;
    ready_ = 0;
    for (std::size_t i = 0; i < before; ++i) {
        if (more[i].kind.signal.handle == 0 ||
            (more[i].state == State::none && !more[i].is_useless))
            continue;
        Entry &entry = *place_of(more[i].kind);
        entry = more[i];
        entry.is_listed = false;
        list_if_ready(entry);
        ++used_;
    }
    return true;
}

// Null: no memory.
Subscriptions::Entry *Subscriptions::make(const SubscriptionKey &kind) {
    Entry *entry = find(kind);
    if (entry != nullptr) return entry;
    if (2 * (used_ + 1) > places_ && !make_room()) return nullptr;
    entry = place_of(kind);
    ++used_;
    *entry = Entry{};
    entry->kind = kind;
    return entry;
}

Subscriptions::Begun Subscriptions::begin(const SubscriptionKey &kind, NumberedMessage *message) {
    const MutexLock guard(lock_);
    Entry *const entry = make(kind);
    if (entry == nullptr) return Begun::no;
    if (entry->state == State::refused && !entry->is_useless && ++entry->refusals % kAsksAgain == 0)
        entry->state = State::none;
    if (entry->state == State::none) {
        entry->state = State::asked;
        return Begun::must_subscribe;
    }
    if (!entry->is_broken) entry->is_left = false;
    entry->last_turn = ++turn_;
    if (entry->state == State::refused) return Begun::refused;
    if (entry->state != State::given || entry->is_broken ||
        !begin_message(entry->sent, entry->number_bits, &message->number))
        return Begun::no;
    message->index = entry->index;
    message->event_bits = entry->event_bits;
    message->index_bits = entry->index_bits;
    return Begun::yes;
}

void Subscriptions::undo_begin(const SubscriptionKey &kind, const NumberedMessage &message) {
    const MutexLock guard(lock_);
    Entry *const entry = find(kind);
    if (entry == nullptr || entry->index != message.index) return;
    undo_begin_message(entry->sent, entry->number_bits, message.number);
    list_if_ready(*entry);
}

void Subscriptions::learn(const SubscriptionKey &kind, const Subscription &given) {
    const MutexLock guard(lock_);
    Entry *const entry = find(kind);
    if (entry == nullptr || entry->state != State::asked) return;
    if (given.index == 0) {
        entry->state = sweep(kind.signal.rank) ? State::none : State::refused;
        return;
    }
    entry->state = State::given;
    entry->last_turn = turn_;
    entry->index = given.index;
    entry->event_bits = given.event_bits;
    entry->index_bits = given.index_bits;
    entry->number_bits =
        static_cast<std::uint8_t>(layout_of(given.event_bits, given.index_bits).number_bits);
    begin_places(entry->sent, given.use, entry->number_bits);
    list_if_ready(*entry);
}

// Leaves up to kMost idle indices of the owner. An index is idle if this rank has started more than
// kFewestIdle messages, and more than 4 for each of its subscriptions, since the index's last
// message. A call checks kPlaces places. Returns whether it left any.
bool Subscriptions::sweep(int owner) {
    constexpr std::size_t kPlaces = 256;
    constexpr unsigned kMost = 4;
    const std::size_t most_idle = std::max<std::size_t>(kFewestIdle, 4 * used_);
    unsigned left = 0;
    for (std::size_t i = 0; i < kPlaces && i < places_ && left < kMost; ++i) {
        Entry &entry = entries_[hand_++ & (places_ - 1)];
        if (entry.state != State::given || entry.kind.signal.rank != owner || entry.is_left ||
            entry.sent.busy != 0 || turn_ - entry.last_turn <= most_idle)
            continue;
        leave(entry);
        ++left;
    }
    return left != 0;
}

void Subscriptions::forget(const SubscriptionKey &kind) {
    const MutexLock guard(lock_);
    Entry *const entry = find(kind);
    if (entry != nullptr && entry->state == State::asked) entry->state = State::none;
}

Subscriptions::Entry *Subscriptions::find_given(int owner, std::uint32_t index) const {
    for (std::size_t i = 0; i < places_; ++i) {
        Entry &entry = entries_[i];
        if (entry.index == index && entry.kind.signal.rank == owner && entry.state == State::given)
            return &entry;
    }
    return nullptr;
}

void Subscriptions::end_message(int owner, std::uint32_t index, std::uint32_t number) {
    const MutexLock guard(lock_);
    Entry *const entry = find_given(owner, index);
    if (entry != nullptr) end_message(*entry, number);
}

void Subscriptions::end_message(const SubscriptionKey &kind, std::uint32_t index,
                                std::uint32_t number) {
    const MutexLock guard(lock_);
    Entry *const entry = find(kind);
    if (entry != nullptr && entry->index == index && entry->state != State::none)
        end_message(*entry, number);
}

void Subscriptions::end_message(Entry &entry, std::uint32_t number) {
    forget_message(entry.sent, entry.number_bits, number);
    list_if_ready(entry);
}

void Subscriptions::leave(Entry &entry) {
    entry.is_left = true;
    list_if_ready(entry);
}

void Subscriptions::list_if_ready(Entry &entry) {
    if (!entry.is_left || entry.is_listed || entry.state != State::given || entry.sent.busy != 0)
        return;
    entry.is_listed = true;
    entry.next_ready = std::exchange(
        ready_, static_cast<std::uint32_t>(&entry - static_cast<Entry *>(entries_) + 1));
}

void Subscriptions::leave(sennit_signal signal) {
    const MutexLock guard(lock_);
    if (places_ == 0) return;
    for (std::size_t place = first_place(signal);; ++place) {
        Entry &entry = entries_[place & (places_ - 1)];
        if (entry.kind.signal.handle == 0) return;
        if (entry.kind.signal.handle != signal.handle || entry.kind.signal.rank != signal.rank)
            continue;
        if (entry.state == State::refused) entry.state = State::none;
        entry.is_useless = false;
        if (entry.state != State::none) leave(entry);
    }
}

void Subscriptions::refuse(const SubscriptionKey &kind) {
    const MutexLock guard(lock_);
    Entry *const entry = find(kind);
    if (entry == nullptr || entry->state != State::given) return;
    entry->is_useless = entry->is_broken = true;
    leave(*entry);
}

void Subscriptions::fail_message(int owner, std::uint32_t index, std::uint32_t number) {
    const MutexLock guard(lock_);
    Entry *const entry = find_given(owner, index);
    if (entry == nullptr) return;
    forget_message(entry->sent, entry->number_bits, number);
    entry->is_broken = true;
    leave(*entry);
}

bool Subscriptions::pop_left(sennit_signal *signal, std::uint32_t *index) {
    const MutexLock guard(lock_);
    while (ready_ != 0) {
        Entry &entry = entries_[ready_ - 1];
        ready_ = entry.next_ready;
        entry.is_listed = false;
        if (!entry.is_left || entry.state != State::given || entry.sent.busy != 0) continue;
        *signal = entry.kind.signal;
        *index = entry.index;
        entry.state = entry.is_useless ? State::refused : State::none;
        entry.is_left = entry.is_broken = false;
        entry.index = 0;
        return true;
    }
    return false;
}

bool Subscribers::make_room() {
    const std::uint32_t places = places_ == 0 ? 16 : 2 * places_;
    Array<Subscriber> more(places);
    if (more == nullptr) return false;
    std::copy_n(static_cast<const Subscriber *>(entries_), places_,
                static_cast<Subscriber *>(more));
    std::swap(entries_, more);
    places_ = places;
    return true;
}

void Subscribers::free_index(std::uint32_t index) {
    entries_[index].sender = -1;
    entries_[index].next_free = 0;
    (free_last_ != 0 ? entries_[free_last_].next_free : free_first_) = index;
    free_last_ = index;
}

// Late events of lost ranks may still arrive. Their numbers are not reused soon.
void Subscribers::free_indices_of_lost(const Rank &rank) {
    for (std::uint32_t index = 1; index <= made_; ++index)
        if (entries_[index].sender >= 0 && known_gone(rank, entries_[index].sender) != Gone::no)
            free_index(index);
}

std::uint32_t Subscribers::give(const Rank &rank, int sender, const SubscriptionKey &kind,
                                std::uint32_t most, unsigned number_bits, std::uint32_t *use) {
    std::uint32_t index = 0;
    if (free_first_ == 0 && made_ == most) free_indices_of_lost(rank);
    if (free_first_ != 0 && (made_ == most || made_ + 1 == places_)) {
        index = free_first_;
        free_first_ = entries_[index].next_free;
        if (free_first_ == 0) free_last_ = 0;
        *use = next_use(entries_[index].messages, number_bits);
    } else {
        if (made_ == most || (made_ + 1 >= places_ && !make_room())) return 0;
        index = ++made_;
        *use = 0;
    }
    *use &= 0xFFFF;  // only these bits are sent
    Subscriber &it = entries_[index];
    it.sender = sender;
    it.handle = kind.signal.handle;
    it.epochs = kind.epochs;
    it.events = kind.events;
    begin_places(it.messages, *use, number_bits);
    return index;
}

}  // namespace sennit::signal
