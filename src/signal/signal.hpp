// SPDX-License-Identifier: BSD-3-Clause
// The state of signals at their owner and at senders, and the inline functions that count an event
// and poll for it by load and store.
//
// Senders only add to the slots, and only the owner writes the epoch. So the owner can end an epoch
// with one store, which overwrites nothing of a sender.
#pragma once

#include <sennit/signal.h>

#include <bit>

#include "rank/process.hpp"
#include "runtime/wait.hpp"
#include "signal/counters.hpp"
#include "signal/known_epochs.hpp"
#include "signal/subscriptions.hpp"
#include "signal/words.hpp"

namespace sennit::signal {
struct Signals;
}
template <>
struct sennit::PartType<sennit::Part::signals> {
    using Type = sennit::signal::Signals;
};

namespace sennit::signal {

struct Attached;
struct AttachedBlocks;
struct Waitsets;

// Bits of Own::state; if it is 0, a reset is one store.
inline constexpr std::uint32_t kInSet = 1;
inline constexpr std::uint32_t kExchanges = 2;   // several threads may reset at once
inline constexpr std::uint32_t kStrict = 4;      // constant while the handle lives
inline constexpr std::uint32_t kReadsFirst = 8;  // a reset first reads events, see reset()

// Which list of its waitset has the signal.
enum class Listed : std::uint8_t { none, fired, faulty };

// The owner's private state of one signal, on a line that no sender reads.
struct alignas(64) Own {
    SignalRecord *record;
    // Equals the record's epoch, or is briefly ahead of it if threads reset at the same time. SYNC
    // signal-epoch.
    std::atomic<std::uint64_t> epoch;
    // The program's name of the signal (name_of()), or 0, or kNoName. SYNC handle.
    std::atomic<std::uint64_t> handle;
    std::atomic<std::uint32_t> state;  // kInSet under Waitsets::lock
    // Constant while the handle lives.
    std::uint32_t events;
    std::uint8_t event_bits;
    // Under Waitsets::lock.
    Listed listed;
    std::uint16_t set;   // 0: none
    std::uint32_t next;  // index + 1, in a list of its set
    std::uint32_t previous;
    // For a strict signal: mark_of_epoch() of the last epoch in which an event of the next one was
    // reported; 0: none.
    std::atomic<std::uint32_t> reported_early;
    std::uint64_t cookie;  // the program's, while it is in `set`
};
static_assert(sizeof(Own) == 64);

constexpr std::uint64_t name_of(sennit_signal signal) {
    return std::bit_cast<std::uint64_t>(signal);
}
inline constexpr std::uint64_t kNoName = UINT64_MAX;  // of no rank

// 0: none.
constexpr std::uint32_t handle_in(std::uint64_t name) {
    return name == kNoName ? 0 : std::bit_cast<sennit_signal>(name).handle;
}
inline std::uint32_t handle_of(const Own &own) {
    // relaxed: the caller has found the signal.
    return handle_in(own.handle.load(std::memory_order_relaxed));
}

// How this rank reaches a peer's chunk.
struct ChunkView {
    std::atomic<std::uint32_t> segment{0};  // 0: not opened; SYNC signal-view
    std::uint32_t live_value = 0;
    const std::atomic<std::uint32_t> *live = nullptr;  // null: the peer's record is out of reach
    std::byte *base = nullptr;                         // null: by messages
    std::uint64_t mapped_bytes = 0;  // not 0: mapped only for this view, besides the peer's path
};

using SignalTable = HandleTable<Own, SignalHandles, kSignalShape>;

// A rank's signals and blocks. Made at the first use.
struct Signals {
    SignalTable table;
    std::atomic<std::byte *> chunks[kSignalChunks] = {};  // of records; SYNC signal-chunk
    std::atomic<ChunkView *> *views = nullptr;  // [size], each [kSignalChunks]; SYNC signal-view
    Waitsets *sets = nullptr;                   // exists as long as this object
    AttachedBlocks *blocks = nullptr;           // null until one is attached; under the cold mutex
    KnownEpochs known;
    Subscriptions subscriptions;      // of this rank at others
    Subscribers subscribers;          // of others at this rank; under the engine's mutex
    bool resets_by_exchange = false;  // several threads may reset
};

// The rank's signals, or null.
inline Signals *signals_of(const Rank &rank) {
    // SYNC signal-table: pairs with the release in make_signals(); the empty tables come before.
    return rank.signals.load(std::memory_order_acquire);
}

// The caller's own signal, or null.
inline Own *find_own(const Rank &rank, sennit_signal signal) {
    const Signals *all = signals_of(rank);
    if (all == nullptr) [[unlikely]]
        return nullptr;
    return all->table.find(signal.handle, name_of(signal));
}

// As find_own() for the calling thread's rank, but faster. Null also if the thread has no rank, if
// the rank has an observer (SENNIT_TRACE, SENNIT_STATS), and for a signal beyond the first chunk.
inline Own *find_first(sennit_signal signal) {
    return SignalTable::hot_find(current_table<&HotTables::signal_table>(), signal.handle,
                                 name_of(signal));
}

inline std::uint64_t own_epoch(const Own &own) {
    // relaxed: stored by this thread, or by one that the program has ordered before.
    return own.epoch.load(std::memory_order_relaxed);
}

inline std::uint64_t own_value(const Own &own) {
    const std::uint64_t epoch = own_epoch(own);
    // SYNC signal-count: pairs with the releases in count_whole(); the data comes before its event.
    const std::uint64_t counter = own.record->slot[slot_of(epoch)].load(std::memory_order_acquire);
    return value_of(counter, own.events, epoch);
}

// Whether an event was not counted and no call has reported it yet.
inline bool has_refused(const Own &own) {
    // relaxed: no data depends on it.
    return own.record->refused.load(std::memory_order_relaxed) != 0;
}

inline bool has_fired(const Own &own) {
    return own_value(own) == 0;
}

inline bool is_strict(const Own &own) {
    // relaxed: constant while the handle lives.
    return (own.state.load(std::memory_order_relaxed) & kStrict) != 0;
}

// Whether a strict signal has received an event of the next epoch that no call has reported yet.
[[gnu::cold]] bool arrived_before_reset(const Own &own, std::uint64_t epoch);
inline bool has_early(const Own &own) {
    return is_strict(own) && arrived_before_reset(own, own_epoch(own));
}

// Whether a wait for the signal ends with an error because of its events.
inline bool is_faulty(const Own &own) {
    const std::uint64_t value = own_value(own);
    return is_overflown(value, own.event_bits) || has_refused(own) ||
           (value != 0 && has_early(own));
}

// A signal to which this rank may send.
struct RemoteSignal {
    SignalRecord *record = nullptr;  // null: by messages, or no signal
    ControlBlock *control = nullptr;
    std::byte *chunk = nullptr;                        // with `record`
    const std::atomic<std::uint32_t> *live = nullptr;  // null: nothing to check
    std::uint32_t live_value = 0;
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    sennit_gptr gptr = SENNIT_GPTR_NULL;  // of the record

    bool is_none() const { return signal.handle == 0; }
    // If false, the memory of the record may be gone.
    bool is_alive() const {
        // relaxed: only equality matters; freeing during a use is the program's error.
        return live == nullptr || live->load(std::memory_order_relaxed) == live_value;
    }
};

// The properties of a signal that a sender stores, so that it need not read the signal's record.
struct Expected {
    std::uint32_t events;
    std::uint8_t event_bits;
    std::uint8_t most_ahead = 1;  // 0: strict
};

// Whether a message of the epoch may be counted now and the signal lives. The result may be
// outdated when the message is counted; that does no harm (docs/design/signals.md).
inline bool accepts(const SignalRecord &record, std::uint32_t handle, std::uint64_t epoch,
                    std::uint8_t most_ahead) {
    // SYNC signal-epoch: pairs with the release in advance(), of the owner; its use of the data of
    // earlier epochs comes before this rank's next data.
    const std::uint64_t receivers = record.epoch.load(std::memory_order_acquire);
    // relaxed: destroying a signal that others still use is the program's error in any order.
    return is_counted(epoch, receivers, most_ahead) &&
           record.handle.load(std::memory_order_relaxed) == handle;
}

// Sets the marks of a signal that has fired, for the sets of its owner.
[[gnu::cold, gnu::noinline]] void mark_fired(std::byte *chunk, std::uint32_t handle);

// Messages that are counted together, at most as many as an epoch expects.
struct Messages {
    std::uint64_t epoch;
    std::uint32_t count;
};

// Reports to the owner that an event was not counted.
[[gnu::cold]] void report_to_owner(const RemoteSignal &to, std::uint64_t epoch,
                                   Uncounted what = Uncounted::surplus);

// Undoes surplus messages; `before` was the value of the epoch before they were added. Sets the
// thread's error, and SignalRecord::refused for the owner.
[[gnu::cold, gnu::noinline]] void undo_surplus(const RemoteSignal &to, const Expected &expected,
                                               const Messages &messages, std::uint64_t before);

// Counts whole messages, at most as many as an epoch expects. False: too many, and undone; the
// thread's error is SIGNAL_OVERFLOW.
inline bool count_whole(const RemoteSignal &to, const Expected &expected, std::uint64_t epoch,
                        std::uint32_t messages = 1) {
    SignalRecord &record = *to.record;
    // SYNC signal-count: pairs with the acquires in own_value() and poll(), of the owner; the data
    // comes before its event. SYNC signal-set: pairs with the fence in set_add(); the add is also a
    // full fence between the count and the load of in_set. SYNC doorbell: pairs with the fence in
    // announce_sleep(); the count comes before the load of sleepers.
    const std::uint64_t counter =
        add_at_once(record.slot[slot_of(epoch)], kWholeMessage * messages);
    const std::uint64_t before = value_of(counter, expected.events, epoch);
    if (is_surplus(before, messages, expected.events, expected.event_bits)) [[unlikely]] {
        undo_surplus(to, expected, {epoch, messages}, before);
        return false;
    }
    // All relaxed: the add is a full fence, so the owner sees the count if a load misses its store.
    if (before == messages && record.in_set.load(std::memory_order_relaxed) != 0) [[unlikely]]
        mark_fired(to.chunk, to.signal.handle);
    if (to.control->doorbell.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
        ring_sleepers(to.control->doorbell);
    return true;
}

// The same for an unchecked signal, whose messages may be of any epoch: a message that is neither
// of the owner's epoch nor of the next one is reported to the owner and not counted.
bool count_unchecked(const RemoteSignal &to, const Expected &expected, const Messages &messages);

// The same for messages of the owner's current epoch. False: the epoch has no room for them, and
// nothing was added; the thread's error is SIGNAL_OVERFLOW.
[[gnu::cold]] bool count_current(const RemoteSignal &to, const Expected &expected,
                                 std::uint32_t messages = 1);

// The same for accepted messages, of any signal and epoch: calls one of the above.
bool count_accepted(const RemoteSignal &to, const Expected &expected, const Messages &messages);

// Starts the next epoch, if a store is enough: the signal has fired, is in no set, no other thread
// resets, and there is nothing to report.
inline bool reset_at_once(Own &own) {
    const std::uint64_t epoch = own_epoch(own);
    SignalRecord &record = *own.record;
    // SYNC signal-count: pairs with the releases in count_whole(); the data comes before its event.
    const std::uint64_t counter = record.slot[slot_of(epoch)].load(std::memory_order_acquire);
    // relaxed twice: no data depends on them. One test for all three values.
    const std::uint64_t state = own.state.load(std::memory_order_relaxed);
    const std::uint64_t refused = record.refused.load(std::memory_order_relaxed);
    if ((value_of(counter, own.events, epoch) | state | refused) != 0) [[unlikely]]
        return false;
    // relaxed: no other thread resets.
    own.epoch.store(epoch + 1, std::memory_order_relaxed);
    // SYNC signal-epoch: pairs with the acquires in accepts() and read_by_pointer(), of senders,
    // and count_in_epoch() and add_part_to_signal(); this rank's use of the data of the epoch comes
    // before.
    record.epoch.store(epoch + 1, std::memory_order_release);
    return true;
}

// Polls for the last event of the epoch, about as long as a wait polls before it yields. True: the
// signal has fired. The pauses between the first polls are short, as in a hand-over of a channel.
inline bool poll(const Rank &rank, const Own &own) {
    constexpr unsigned kFastPolls = 6;
    const std::uint64_t epoch = own_epoch(own);
    const std::uint64_t wanted = 0 - armed(own.events, epoch);
    const std::atomic<std::uint64_t> &slot = own.record->slot[slot_of(epoch)];
    const auto has_ended = [&] {
        // SYNC signal-count: pairs with the releases in count_whole(); the data comes before.
        return slot.load(std::memory_order_acquire) == wanted;
    };
    if (has_ended()) return true;
    if (rank.spins == 0) return false;
    for (unsigned poll = 0; poll < kFastPolls; ++poll) {
        cpu_pause_briefly();
        if (has_ended()) return true;
    }
    for (unsigned left = rank.spins; left != 0; --left) {
        cpu_pause();
        if (has_ended()) return true;
    }
    return false;
}

}  // namespace sennit::signal
