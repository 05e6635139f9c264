// SPDX-License-Identifier: BSD-3-Clause
#include "signal/known_epochs.hpp"

#include <algorithm>
#include <utility>

#include "base/mutex.hpp"
#include "signal/counters.hpp"

namespace sennit::signal {

// The signal's place, or the free place for it. At most half of the places are in use.
KnownEpochs::Entry *KnownEpochs::place_of(sennit_signal signal) const {
    // The high bits of a product with 2^64 / golden ratio (Knuth, volume 3, 6.4).
    const std::uint64_t name =
        std::uint64_t{static_cast<std::uint32_t>(signal.rank)} << 32 | signal.handle;
    std::size_t place = (name * 0x9E3779B97F4A7C15u) >> 32;
    for (;; ++place) {
        Entry &entry = entries_[place & (places_ - 1)];
        if (entry.signal.handle == 0 ||
            (entry.signal.handle == signal.handle && entry.signal.rank == signal.rank))
            return &entry;
    }
}

// Makes room for another entry; drops all entries if the table cannot grow. False: no memory.
bool KnownEpochs::make_room() {
    const std::size_t places = places_ == 0 ? kFirst : 2 * places_;
    Array<Entry> more = places <= kMost ? Array<Entry>(places) : Array<Entry>();
    if (more == nullptr) {
        std::fill_n(static_cast<Entry *>(entries_), places_, Entry{});
        used_ = 0;
        return places_ != 0;
    }
    std::swap(entries_, more);
    const std::size_t before = std::exchange(places_, places);
    for (std::size_t i = 0; i < before; ++i)
        if (more[i].is_known) *place_of(more[i].signal) = more[i];
    used_ = static_cast<std::size_t>(
        std::count_if(static_cast<Entry *>(entries_), entries_ + places_,
                      [](const Entry &entry) { return entry.signal.handle != 0; }));
    return true;
}

// Null: no memory.
KnownEpochs::Entry *KnownEpochs::make(sennit_signal signal) {
    if (2 * (used_ + 1) > places_ && !make_room()) return nullptr;
    Entry *const entry = place_of(signal);
    if (entry->signal.handle == 0) ++used_;
    return entry;
}

bool KnownEpochs::find(sennit_signal signal, KnownEpoch *known) {
    const MutexLock guard(lock_);
    if (places_ == 0) return false;
    const Entry &entry = *place_of(signal);
    *known = entry.known;
    return entry.is_known;
}

void KnownEpochs::learn(sennit_signal signal, KnownEpoch answered) {
    const MutexLock guard(lock_);
    Entry *const entry = make(signal);
    if (entry == nullptr) return;
    if (!entry->is_known || is_early(answered.epoch, entry->known.epoch))
        *entry = {signal, answered, true};
}

void KnownEpochs::begin(sennit_signal signal, KnownEpoch answered) {
    const MutexLock guard(lock_);
    Entry *const entry = make(signal);
    if (entry != nullptr) *entry = {signal, answered, true};
}

void KnownEpochs::forget(sennit_signal signal) {
    const MutexLock guard(lock_);
    if (places_ != 0) place_of(signal)->is_known = false;
}

}  // namespace sennit::signal
