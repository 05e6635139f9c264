// SPDX-License-Identifier: BSD-3-Clause
#include "signal/sets.hpp"

#include <bit>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/handle_table.hpp"
#include "base/mutex.hpp"
#include "signal/signals.hpp"

namespace sennit::signal {

namespace {

struct SignalList {
    std::uint32_t count;
    std::uint32_t first;  // index + 1
    std::uint32_t last;
};

struct Waitset {
    std::atomic<std::uint32_t> handle;
    std::uint32_t members;
    SignalList fired;
    SignalList faulty;
};

using SetHandles = HandleLayout<std::uint32_t, 12, 19>;
using SetTable = HandleTable<Waitset, SetHandles, TableShape{4096, 4096}>;

std::uint16_t place_of(sennit_waitset set) {
    return static_cast<std::uint16_t>(SetHandles::place_of(set.handle));
}

}  // namespace

struct Waitsets {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    SetTable table;
};

namespace {

Waitset *find(const Waitsets &sets, sennit_waitset set) {
    return sets.table.find(set.handle);
}

sennit_status no_set(sennit_waitset handle) {
    return fail(SENNIT_ERR_ARG, "%#x is no set of signals of this rank", handle.handle);
}

Waitset &set_of(Waitsets &sets, const Own &own) {
    return sets.table[own.set];
}

SignalList &list_of(Waitset &set, Listed listed) {
    return listed == Listed::fired ? set.fired : set.faulty;
}

void link_last(Signals &all, Waitset &set, Listed listed, std::uint32_t index) {
    Own &own = own_at(all, index);
    SignalList &list = list_of(set, listed);
    own.listed = listed;
    own.next = 0;
    own.previous = list.last;
    (list.last != 0 ? own_at(all, list.last - 1).next : list.first) = index + 1;
    list.last = index + 1;
    ++list.count;
}

void unlink(Signals &all, Waitset &set, std::uint32_t index) {
    Own &own = own_at(all, index);
    if (own.listed == Listed::none) return;
    SignalList &list = list_of(set, own.listed);
    own.listed = Listed::none;
    (own.previous != 0 ? own_at(all, own.previous - 1).next : list.first) = own.next;
    (own.next != 0 ? own_at(all, own.next - 1).previous : list.last) = own.previous;
    own.next = own.previous = 0;
    --list.count;
}

// Lists the signal in its set by its state, not by the mark, which may be of another epoch.
void list_by_state(Signals &all, std::uint32_t index) {
    const Own &own = own_at(all, index);
    if (own.set == 0) return;
    Listed listed = has_fired(own) ? Listed::fired : Listed::none;
    if (is_faulty(own)) listed = Listed::faulty;
    if (listed == own.listed) return;
    Waitset &set = set_of(*all.sets, own);
    unlink(all, set, index);
    if (listed != Listed::none) link_last(all, set, listed, index);
}

void collect_word(Signals &all, std::uint32_t chunk, std::uint32_t word) {
    // relaxed: collect() has done the acquire.
    std::byte *base = all.chunks[chunk].load(std::memory_order_relaxed);
    auto *marks = reinterpret_cast<MarkWord *>(base + marks_offset(chunk));
    // SYNC signal-mark: pairs with the releases in mark_fired(); the count comes before the mark.
    std::uint64_t bits = marks[word].exchange(0, std::memory_order_acquire);
    for (; bits != 0; bits &= bits - 1)
        list_by_state(all, first_index(chunk) + word * 64 +
                               static_cast<std::uint32_t>(std::countr_zero(bits)));
}

// Lists all marked signals and clears their marks. Needs the lock.
void collect(Signals &all) {
    for (std::uint32_t chunk = 0; chunk < kSignalChunks; ++chunk) {
        // SYNC signal-chunk: pairs with the release in add_chunk(); the head comes before.
        std::byte *base = all.chunks[chunk].load(std::memory_order_acquire);
        if (base == nullptr) return;
        auto *summary = reinterpret_cast<MarkWord *>(base + kSummaryOffset);
        for (std::uint32_t word = 0; word < summary_words(chunk); ++word) {
            // relaxed: the exchange reads the marks.
            if (summary[word].load(std::memory_order_relaxed) == 0) continue;
            // SYNC signal-mark: pairs with the releases in mark_fired(); the marks come before.
            std::uint64_t bits = summary[word].exchange(0, std::memory_order_acquire);
            for (; bits != 0; bits &= bits - 1)
                collect_word(all, chunk,
                             word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
        }
    }
}

// Reports fired signals, the longest unreported first; they move to the end of the list.
void report(const Rank &rank, Signals &all, Waitset &set, Some *some) {
    const std::size_t count = some->most < set.fired.count ? some->most : set.fired.count;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t index = set.fired.first - 1;
        const Own &own = own_at(all, index);
        some->fired[i] = {sennit_signal{rank.world_rank, handle_of(own)}, own.cookie};
        unlink(all, set, index);
        link_last(all, set, Listed::fired, index);
    }
    some->count = count;
}

// The error of the faulty signal that was reported longest ago; OK if none is faulty.
sennit_status report_faults(Signals &all, Waitset &set) {
    while (set.faulty.count != 0) {
        const std::uint32_t index = set.faulty.first - 1;
        unlink(all, set, index);
        const sennit_status status = report_fault(own_at(all, index));
        // A signal that is still faulty moves to the end.
        list_by_state(all, index);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// Waits until `is_over(set, &status)`, or until an error of the set ends the wait.
template <class IsOver>
sennit_status wait_in_set(Rank &rank, Signals &all, sennit_waitset handle, const Deadline &deadline,
                          IsOver is_over) {
    sennit_status status = SENNIT_OK;
    const sennit_status waited = wait_until(rank, deadline, kAnyPeer, [&] {
        const MutexLock lock(all.sets->lock);
        Waitset *set = find(*all.sets, handle);
        if (set == nullptr) {
            status = no_set(handle);
            return true;
        }
        // Also if signals are listed already, so that newly fired ones get their turn.
        collect(all);
        status = report_faults(all, *set);
        return status != SENNIT_OK || is_over(*set, &status);
    });
    return waited != SENNIT_OK ? waited : status;
}

void remove_from_set(Signals &all, Waitset &set, std::uint32_t index) {
    unlink(all, set, index);
    Own &own = own_at(all, index);
    own.set = 0;
    // relaxed twice: a mark too many does no harm.
    own.state.fetch_and(~kInSet, std::memory_order_relaxed);
    own.record->in_set.store(0, std::memory_order_relaxed);
    --set.members;
}

}  // namespace

Waitsets *sets_open() {
    return new (std::nothrow) Waitsets;
}

void sets_close(Waitsets *sets) {
    (void)pthread_mutex_destroy(&sets->lock);
    sets->table.close();
    delete sets;
}

sennit_status set_create(Waitsets &sets, sennit_waitset *set) {
    const MutexLock lock(sets.lock);
    Waitset *made = sets.table.take();
    if (made == nullptr)
        return fail_no_place(sets.table.is_full(), SetTable::kMost, "sets of signals");
    made->members = 0;
    made->fired = made->faulty = SignalList{};
    set->handle = sets.table.publish(*made);
    return SENNIT_OK;
}

sennit_status set_destroy(Signals &all, sennit_waitset handle) {
    const MutexLock lock(all.sets->lock);
    Waitset *set = find(*all.sets, handle);
    if (set == nullptr) return no_set(handle);
    const std::uint16_t place = place_of(handle);
    for (std::uint32_t chunk = 0; set->members != 0 && chunk < kSignalChunks; ++chunk) {
        const std::uint32_t first = first_index(chunk);
        for (std::uint32_t i = 0; set->members != 0 && i < signals_in(chunk); ++i)
            if (own_at(all, first + i).set == place) remove_from_set(all, *set, first + i);
    }
    all.sets->table.give_back(*set);
    return SENNIT_OK;
}

sennit_status set_add(Signals &all, sennit_waitset handle, sennit_signal signal,
                      std::uint64_t cookie) {
    const MutexLock lock(all.sets->lock);
    Waitset *set = find(*all.sets, handle);
    if (set == nullptr) return no_set(handle);
    const std::uint32_t index = index_of(signal.handle);
    Own &own = own_at(all, index);
    if (own.set != 0)
        return fail(SENNIT_ERR_STATE, "signal %#x is in a set already", signal.handle);
    own.set = place_of(handle);
    own.cookie = cookie;
    ++set->members;
    // relaxed: only this rank changes it.
    own.state.fetch_or(kInSet, std::memory_order_relaxed);
    // relaxed: the fence below orders it before the load of the slot.
    own.record->in_set.store(1, std::memory_order_relaxed);
    // SYNC signal-set: pairs with the count in count_whole(), which is a fence; either the sender
    // that fires the signal sees that it is in a set, or this rank sees that it has fired.
    store_load_fence();
    list_by_state(all, index);
    return SENNIT_OK;
}

sennit_status set_remove(Signals &all, sennit_waitset handle, sennit_signal signal) {
    const MutexLock lock(all.sets->lock);
    Waitset *set = find(*all.sets, handle);
    if (set == nullptr) return no_set(handle);
    const std::uint32_t index = index_of(signal.handle);
    if (own_at(all, index).set != place_of(handle))
        return fail(SENNIT_ERR_ARG, "signal %#x is not in set %#x", signal.handle, handle.handle);
    remove_from_set(all, *set, index);
    return SENNIT_OK;
}

void leave_set(Signals &all, Own &own) {
    const MutexLock lock(all.sets->lock);
    if (own.set != 0) remove_from_set(all, set_of(*all.sets, own), index_of(handle_of(own)));
}

bool advance_in_set(Signals &all, Own &own, std::uint64_t epoch) {
    const MutexLock lock(all.sets->lock);
    if (!advance(own, epoch)) return false;
    if (own.set == 0) return true;
    const std::uint32_t index = index_of(handle_of(own));
    unlink(all, set_of(*all.sets, own), index);
    // All events of the new epoch may be here already, with their mark cleared by collect().
    list_by_state(all, index);
    return true;
}

sennit_status wait_some(Rank &rank, Signals &all, sennit_waitset handle, const Deadline &deadline,
                        Some *some) {
    return wait_in_set(rank, all, handle, deadline, [&](Waitset &set, sennit_status *status) {
        if (set.members == 0) {
            *status =
                fail(SENNIT_ERR_STATE, "set %#x is empty: nothing in it will fire", handle.handle);
            return true;
        }
        if (set.fired.count == 0) return false;
        report(rank, all, set, some);
        return true;
    });
}

sennit_status wait_all(Rank &rank, Signals &all, sennit_waitset handle, const Deadline &deadline) {
    return wait_in_set(rank, all, handle, deadline, [](const Waitset &set, sennit_status *) {
        return set.fired.count == set.members;
    });
}

}  // namespace sennit::signal
