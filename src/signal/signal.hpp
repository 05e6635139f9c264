// SPDX-License-Identifier: BSD-3-Clause
// A signal as its owner and its senders use it. Everything that counting an event and waiting for
// it cost where load and store reach the record stands in this file.
//
// Senders change the slots and nothing else, the owner everything else and no slot. So an epoch
// ends by one store of the owner, over nothing that a sender has written.
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

// Bits of Own::state; where it is 0, a reset is a store.
inline constexpr std::uint32_t kInSet = 1;
inline constexpr std::uint32_t kExchanges = 2;   // several threads may reset at once
inline constexpr std::uint32_t kStrict = 4;      // constant while the handle lives
inline constexpr std::uint32_t kReadsFirst = 8;  // a reset reads events that have come, see reset()

// The list of its set that a signal is in.
enum class Listed : std::uint8_t { none, fired, faulty };

// What the owner keeps of one signal for itself, on a line that no sender reads.
struct alignas(64) Own {
    SignalRecord *record;
    // As the record's; where threads reset at once, ahead of it for an instant. SYNC signal-epoch.
    std::atomic<std::uint64_t> epoch;
    // The signal as the program names it (name_of()), or 0, or kNoName. SYNC handle.
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
    // Of a strict signal: mark_of_epoch() of the last epoch in which an event of the next one was
    // told of; 0: none.
    std::atomic<std::uint32_t> told_early;
    std::uint64_t cookie;  // the program's, for as long as it is in `set`
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
    // relaxed: of this rank, which knows of the signal.
    return handle_in(own.handle.load(std::memory_order_relaxed));
}

// A peer's chunk as it is reached from here.
struct ChunkView {
    std::atomic<std::uint32_t> segment{0};  // 0: not opened; SYNC signal-view
    std::uint32_t live_value = 0;
    const std::atomic<std::uint32_t> *live = nullptr;  // null: the peer's record is out of sight
    std::byte *base = nullptr;                         // null: by messages
    std::uint64_t mapped_bytes = 0;  // not 0: mapped for this view, beside the peer's path
};

using SignalTable = HandleTable<Own, SignalHandles, kSignalShape>;

// All that a rank has of signals and blocks. Made when the first is used.
struct Signals {
    SignalTable table;
    std::atomic<std::byte *> chunks[kSignalChunks] = {};  // of records; SYNC signal-chunk
    std::atomic<ChunkView *> *views = nullptr;  // [size], each [kSignalChunks]; SYNC signal-view
    Waitsets *sets = nullptr;                   // made with this
    AttachedBlocks *blocks = nullptr;           // null until the first is attached; under `cold`
    KnownEpochs known;
    Subscriptions subscriptions;      // of this rank at others
    Subscribers subscribers;          // of others at this rank; under the engine's mutex
    bool resets_by_exchange = false;  // several threads may reset
};

// The rank's signals if it has any, else null.
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

// The same for one of the first signals of the calling thread's rank, if the rank has no observer;
// else null, as for a thread that is no rank.
inline Own *find_first(sennit_signal signal) {
    return SignalTable::hot_find(current_table<&HotTables::signal_table>(), signal.handle,
                                 name_of(signal));
}

inline std::uint64_t own_epoch(const Own &own) {
    // relaxed: of this rank, or of a thread that the program has ordered before.
    return own.epoch.load(std::memory_order_relaxed);
}

inline std::uint64_t own_value(const Own &own) {
    const std::uint64_t epoch = own_epoch(own);
    // SYNC signal-count: pairs with the releases in count_whole(); the data comes before its event.
    const std::uint64_t counter = own.record->slot[slot_of(epoch)].load(std::memory_order_acquire);
    return value_of(counter, own.events, epoch);
}

// An event was not counted by its sender or for it, and nobody was told yet.
inline bool has_refused(const Own &own) {
    // relaxed: no data hangs on it.
    return own.record->refused.load(std::memory_order_relaxed) != 0;
}

inline bool has_fired(const Own &own) {
    return own_value(own) == 0;
}

inline bool is_strict(const Own &own) {
    // relaxed: constant while the handle lives.
    return (own.state.load(std::memory_order_relaxed) & kStrict) != 0;
}

// A strict signal that is in this epoch has got an event of the next one, and nobody was told yet.
[[gnu::cold]] bool came_before_reset(const Own &own, std::uint64_t epoch);
inline bool has_early(const Own &own) {
    return is_strict(own) && came_before_reset(own, own_epoch(own));
}

// What came for it is no good: a wait for it ends with an error.
inline bool is_faulty(const Own &own) {
    const std::uint64_t value = own_value(own);
    return is_overflown(value, own.event_bits) || has_refused(own) ||
           (value != 0 && has_early(own));
}

// A signal that this rank may send to.
struct RemoteSignal {
    SignalRecord *record = nullptr;  // null: by messages, or no signal
    ControlBlock *control = nullptr;
    std::byte *chunk = nullptr;                        // with `record`
    const std::atomic<std::uint32_t> *live = nullptr;  // null: nothing to look at
    std::uint32_t live_value = 0;
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    sennit_gptr gptr = SENNIT_GPTR_NULL;  // of the record

    bool is_none() const { return signal.handle == 0; }
    // The memory of the record may be gone where this is false.
    bool is_alive() const {
        // relaxed: only equality counts, as in memory::is_live().
        return live == nullptr || live->load(std::memory_order_relaxed) == live_value;
    }
};

// What a sender knows of a signal without looking at its record.
struct Expected {
    std::uint32_t events;
    std::uint8_t event_bits;
    std::uint8_t most_ahead = 1;  // 0: strict
};

// Whether a message of the epoch may be counted now, and the signal lives. What it says may be old
// when the message is counted; that does no harm (docs/design/signals.md).
inline bool takes(const SignalRecord &record, std::uint32_t handle, std::uint64_t epoch,
                  std::uint8_t most_ahead) {
    // SYNC signal-epoch: pairs with the release in advance(), of the owner; what it did with the
    // data of earlier epochs comes before this rank's next data.
    const std::uint64_t receivers = record.epoch.load(std::memory_order_acquire);
    // relaxed: a program that destroys a signal which others still use is wrong in any order.
    return is_counted(epoch, receivers, most_ahead) &&
           record.handle.load(std::memory_order_relaxed) == handle;
}

// Sets the marks of a signal that has fired, for the sets of its owner.
[[gnu::cold, gnu::noinline]] void mark_fired(std::byte *chunk, std::uint32_t handle);

// Messages that are counted at once, at most as many as an epoch expects.
struct Messages {
    std::uint64_t epoch;
    std::uint32_t count;
};

// The owner is to be told, once, of an event that is not counted.
[[gnu::cold]] void tell_refused(const RemoteSignal &to, std::uint64_t epoch,
                                Uncounted what = Uncounted::surplus);

// Messages came on top of all that were expected, when the epoch had this value: they are taken
// back, which is the thread's error, and the owner finds out by SignalRecord::refused.
[[gnu::cold, gnu::noinline]] void take_back(const RemoteSignal &to, const Expected &expected,
                                            const Messages &messages, std::uint64_t before);

// Counts messages that came whole, at most as many as an epoch expects. False: they were too many,
// and were taken back. SIGNAL_OVERFLOW, which is the thread's error then.
inline bool count_whole(const RemoteSignal &to, const Expected &expected, std::uint64_t epoch,
                        std::uint32_t messages = 1) {
    SignalRecord &record = *to.record;
    // SYNC signal-count: pairs with the acquires in own_value() and poll(), of the owner; the data
    // comes before its event. SYNC signal-set: pairs with the fence in set_add(); a full fence too,
    // between the count and the look at in_set. SYNC doorbell: pairs with the fence in
    // announce_sleep(); the same for sleepers.
    const std::uint64_t counter =
        add_at_once(record.slot[slot_of(epoch)], kWholeMessage * messages);
    const std::uint64_t before = value_of(counter, expected.events, epoch);
    if (is_surplus(before, messages, expected.events, expected.event_bits)) [[unlikely]] {
        take_back(to, expected, {epoch, messages}, before);
        return false;
    }
    // All relaxed: the add is a full fence. An owner that is missed looks itself, after its own
    // fence.
    if (before == messages && record.in_set.load(std::memory_order_relaxed) != 0) [[unlikely]]
        mark_fired(to.chunk, to.signal.handle);
    if (to.control->doorbell.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
        ring_sleepers(to.control->doorbell);
    return true;
}

// The same for an unchecked signal, whose messages may be of any epoch: of one that is neither the
// owner's nor the next nothing is counted, and the owner hears of it.
bool count_unchecked(const RemoteSignal &to, const Expected &expected, const Messages &messages);

// The same for one message of the epoch that the owner is in, which has at most one that is
// complete. False: the signal has fired. Errors as above.
[[gnu::cold]] bool count_current(const RemoteSignal &to, const Expected &expected,
                                 std::uint32_t messages = 1);

// Whichever of these the signal and the epoch ask for, of messages that are let in.
bool count_let_in(const RemoteSignal &to, const Expected &expected, const Messages &messages);

// Begins the next epoch, if that takes no more than a store: the signal has fired, is in no set,
// no other thread resets, and there is nothing to tell.
inline bool reset_at_once(Own &own) {
    const std::uint64_t epoch = own_epoch(own);
    SignalRecord &record = *own.record;
    // SYNC signal-count: pairs with the releases in count_whole(); the data comes before its event.
    const std::uint64_t counter = record.slot[slot_of(epoch)].load(std::memory_order_acquire);
    // relaxed twice: of this rank; no data hangs on it. One test for all three.
    const std::uint64_t state = own.state.load(std::memory_order_relaxed);
    const std::uint64_t refused = record.refused.load(std::memory_order_relaxed);
    if ((value_of(counter, own.events, epoch) | state | refused) != 0) [[unlikely]]
        return false;
    // relaxed: no other thread resets.
    own.epoch.store(epoch + 1, std::memory_order_relaxed);
    // SYNC signal-epoch: pairs with the acquires in takes() and look_by_pointer(), of senders, and
    // count_judged() and take_addend(); what this rank did with the data of the epoch comes
    // before.
    record.epoch.store(epoch + 1, std::memory_order_release);
    return true;
}

// Looks for the end of the epoch for as long as a wait polls. True if it came. The first looks come
// fast, as in a hand-over of a channel.
inline bool poll(const Rank &rank, const Own &own) {
    constexpr unsigned kFastLooks = 6;
    const std::uint64_t epoch = own_epoch(own);
    const std::uint64_t wanted = 0 - armed(own.events, epoch);
    const std::atomic<std::uint64_t> &slot = own.record->slot[slot_of(epoch)];
    const auto is_met = [&] {
        // SYNC signal-count: pairs with the releases in count_whole(); the data comes before.
        return slot.load(std::memory_order_acquire) == wanted;
    };
    if (is_met()) return true;
    if (rank.spins == 0) return false;
    for (unsigned look = 0; look < kFastLooks; ++look) {
        cpu_pause_briefly();
        if (is_met()) return true;
    }
    for (unsigned left = rank.spins; left != 0; --left) {
        cpu_pause();
        if (is_met()) return true;
    }
    return false;
}

}  // namespace sennit::signal
