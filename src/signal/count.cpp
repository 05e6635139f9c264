// SPDX-License-Identifier: BSD-3-Clause
// Counts events that the inline functions of signal.hpp do not: errors, and signals by messages.
#include <cstdio>

#include "base/fail.hpp"
#include "op/rma.hpp"
#include "runtime/detector.hpp"
#include "signal/carried.hpp"
#include "signal/event_task.hpp"

namespace sennit::signal {
namespace {

Seen seen_in(const SignalRecord &copy) {
    // relaxed: a private copy.
    const auto value = [](const auto &word) { return word.load(std::memory_order_relaxed); };
    return Seen{
        value(copy.epoch), value(copy.handle), {copy.events, copy.event_bits, copy.most_ahead}};
}

sennit_status read_by_message(Rank &rank, const RemoteSignal &remote, Seen *seen) {
    // The fetched part of a record: all used fields.
    constexpr std::size_t kFetchedBytes = 160;
    static_assert(kFetchedBytes > offsetof(SignalRecord, most_ahead));
    SignalRecord copy{};
    const sennit_status status =
        op::transfer(rank, op::Direction::get, remote.gptr, &copy, kFetchedBytes, op::kBuffered);
    if (status == SENNIT_OK) *seen = seen_in(copy);
    return status;
}

void read_by_pointer(const SignalRecord &record, Seen *seen) {
    // SYNC signal-handle: pairs with the release in signal_create(), of the owner.
    seen->handle = record.handle.load(std::memory_order_acquire);
    // SYNC signal-epoch: pairs with the release in advance(), of the owner.
    seen->epoch = record.epoch.load(std::memory_order_acquire);
    seen->expected = {record.events, record.event_bits, record.most_ahead};
}

}  // namespace

sennit_status was_destroyed(sennit_signal signal) {
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, signal.rank, "",
                     "signal %#x of rank %d was destroyed", signal.handle, signal.rank);
}

void mark_fired(std::byte *chunk, std::uint32_t handle) {
    const std::uint32_t index = index_of(handle);
    const std::uint32_t number = chunk_of(index);
    const std::uint32_t place = index - first_index(number);
    auto *marks = reinterpret_cast<MarkWord *>(chunk + marks_offset(number));
    auto *summary = reinterpret_cast<MarkWord *>(chunk + kSummaryOffset);
    // SYNC signal-mark: pairs with the acquires in collect() and collect_word(), of the owner; the
    // count comes before the mark, and the mark before its bit in the summary.
    marks[place / 64].fetch_or(std::uint64_t{1} << place % 64, std::memory_order_release);
    summary[place / 4096].fetch_or(std::uint64_t{1} << place / 64 % 64, std::memory_order_release);
    // SYNC doorbell: pairs with the fence in announce_sleep(); the marks come before the caller's
    // load of sleepers.
    store_load_fence();
}

namespace {

// Makes a waiting owner check a signal that has not fired.
void wake_owner(const RemoteSignal &to) {
    mark_fired(to.chunk, to.signal.handle);
    ring_doorbell(*to.control);
}

}  // namespace

void report_to_owner(const RemoteSignal &to, std::uint64_t epoch, Uncounted what) {
    // relaxed: no data depends on it; the mark and the fence follow.
    to.record->refused.store(refused_word(what, epoch), std::memory_order_relaxed);
    wake_owner(to);
}

// Checks the epoch only when the message is counted: the owner may have advanced since the call
// began, and accept a later epoch. An outdated epoch does no harm: docs/design/signals.md.
bool count_unchecked(const RemoteSignal &to, const Expected &expected, const Messages &messages) {
    // SYNC signal-epoch: pairs with the release in advance(), of the owner.
    const std::uint64_t receivers = to.record->epoch.load(std::memory_order_acquire);
    const std::uint64_t epoch = messages.epoch;
    if (!is_counted(epoch, receivers)) {
        report_to_owner(to, epoch, is_early(epoch, receivers) ? Uncounted::early : Uncounted::late);
        return true;
    }
    if (!count_whole(to, expected, epoch, messages.count)) return false;
    // The owner of a strict signal finds the event in the slot.
    if (!is_counted(epoch, receivers, expected.most_ahead)) wake_owner(to);
    return true;
}

void undo_surplus(const RemoteSignal &to, const Expected &expected, const Messages &messages,
                  std::uint64_t before) {
    // relaxed: the messages belong to no epoch, and no data depends on them.
    to.record->slot[slot_of(messages.epoch)].fetch_add(messages.count, std::memory_order_relaxed);
    // Between the add and its undo, the owner may have found that the signal had not fired.
    report_to_owner(to, messages.epoch);
    (void)fail_surplus(to.signal, expected, messages, before);
}

// An owner leaves an epoch only when the epoch is complete. So if the slot had room when it was
// read, and has the same value at the exchange, the owner is still in that epoch. A plain add would
// be wrong: the owner could see a surplus message before it is undone
// (tests/models/current_epoch_test.cpp).
bool count_current(const RemoteSignal &to, const Expected &expected, std::uint32_t messages) {
    SignalRecord &record = *to.record;
    for (;;) {
        // SYNC signal-epoch: pairs with the release in advance(), of the owner.
        const std::uint64_t epoch = record.epoch.load(std::memory_order_acquire);
        std::atomic<std::uint64_t> &slot = record.slot[slot_of(epoch)];
        // SYNC signal-count: pairs with the releases of other senders: whoever sees a value of a
        // later epoch also sees that epoch in the load below.
        std::uint64_t counter = slot.load(std::memory_order_acquire);
        // relaxed: the load of the slot orders it. is_surplus() compares few bits, so a counter of
        // a later epoch may look as if this epoch had room.
        if (record.epoch.load(std::memory_order_relaxed) != epoch) continue;
        const std::uint64_t before = value_of(counter, expected.events, epoch);
        if (is_surplus(before, messages, expected.events, expected.event_bits)) {
            report_to_owner(to, epoch);
            (void)fail_surplus(to.signal, expected, {epoch, messages}, before);
            return false;
        }
        // SYNC signal-count: pairs with the acquires in own_value() and poll(), of the owner; the
        // data comes before its event.
        if (!slot.compare_exchange_weak(counter, counter + kWholeMessage * messages,
                                        std::memory_order_release, std::memory_order_relaxed))
            continue;
        // SYNC signal-set: pairs with the fence in set_add(); the count comes before the load of
        // in_set. SYNC doorbell: pairs with the fence in announce_sleep(); the count comes before
        // the load of sleepers.
        store_load_fence();
        // All relaxed: after the fence the owner sees the count if a load here misses its store.
        if (before == messages && record.in_set.load(std::memory_order_relaxed) != 0)
            mark_fired(to.chunk, to.signal.handle);
        if (to.control->doorbell.sleepers.load(std::memory_order_relaxed) != 0)
            ring_sleepers(to.control->doorbell);
        return true;
    }
}

bool count_accepted(const RemoteSignal &to, const Expected &expected, const Messages &messages) {
    if (messages.epoch == SENNIT_EPOCH_CURRENT) return count_current(to, expected, messages.count);
    if (is_unchecked(to.signal.handle)) return count_unchecked(to, expected, messages);
    return count_whole(to, expected, messages.epoch, messages.count);
}

sennit_status read_signal(Rank &rank, const RemoteSignal &remote, Seen *seen) {
    if (remote.record == nullptr) {
        const sennit_status status = read_by_message(rank, remote, seen);
        if (status != SENNIT_OK) return status;
    } else {
        if (!remote.is_alive()) return was_destroyed(remote.signal);
        read_by_pointer(*remote.record, seen);
    }
    return seen->handle == remote.signal.handle ? SENNIT_OK : was_destroyed(remote.signal);
}

namespace {

// Checks the result of read_signal().
sennit_status check_seen(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen) {
    if (seen->handle != remote.signal.handle) return was_destroyed(remote.signal);
    if (is_unchecked(remote.signal.handle) ||
        is_counted(epoch, seen->epoch, seen->expected.most_ahead))
        return SENNIT_OK;
    // A dead owner never reaches the epoch: the caller would repeat its call for ever.
    if (is_early(epoch, seen->epoch) && peer_gone(rank, remote.signal.rank) != Gone::no)
        return fail_lost(rank, remote.signal.rank);
    return fail_epoch(rank, remote.signal, {epoch, seen->epoch, seen->expected.most_ahead});
}

}  // namespace

sennit_status check_epoch(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen) {
    const bool is_current = epoch == SENNIT_EPOCH_CURRENT;
    if (remote.record == nullptr)
        return is_current || is_unchecked(remote.signal.handle) ? SENNIT_OK
                                                                : ask_owner(rank, remote, epoch);
    const sennit_status status = read_signal(rank, remote, seen);
    if (is_current) return status;
    return status != SENNIT_OK ? status : check_seen(rank, remote, epoch, seen);
}

sennit_status fail_epoch(Rank &rank, sennit_signal signal, const NotTaken &event) {
    const auto [epoch, receivers, most_ahead] = event;
    const bool early = is_early(epoch, receivers);
    const sennit_status status = early ? SENNIT_ERR_SIGNAL_EARLY : SENNIT_ERR_SIGNAL_OVERFLOW;
    char advice[112] = "";
    // A sender may repeat its call for ever because the owner never resets: the trace shows the
    // cause.
    if (early) {
        runtime::note_refused(rank, signal, epoch, receivers);
        (void)std::snprintf(advice, sizeof advice,
                            ": rank %d has not reset epoch %llu (sennit_signal_reset); the event "
                            "may be sent again later",
                            signal.rank, static_cast<unsigned long long>(receivers));
    }
    const auto seen = static_cast<unsigned long long>(epoch);
    const auto expected = static_cast<unsigned long long>(receivers);
    if (most_ahead == 0)
        return fail_peer(status, signal.rank, "",
                         "an event of epoch %llu for signal %#x of rank %d, which is strict and "
                         "expects epoch %llu%s",
                         seen, signal.handle, signal.rank, expected, advice);
    return fail_peer(
        status, signal.rank, "",
        "an event of epoch %llu for signal %#x of rank %d, which expects epochs %llu and %llu%s",
        seen, signal.handle, signal.rank, expected, expected + 1, advice);
}

sennit_status count_event(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen) {
    if (remote.record == nullptr)
        return post_event(rank, {.remote = &remote, .messages = {epoch, 1}});
    return count_accepted(remote, seen->expected, {epoch, 1}) ? SENNIT_OK
                                                              : SENNIT_ERR_SIGNAL_OVERFLOW;
}

sennit_status fail_surplus(sennit_signal signal, const Expected &expected, const Messages &messages,
                           std::uint64_t before) {
    return fail_too_many(
        signal, messages.epoch, expected.events,
        events_arrived(before, expected.events, expected.event_bits) + messages.count);
}

sennit_status fail_too_many(sennit_signal signal, std::uint64_t epoch, std::uint64_t expected,
                            std::uint64_t arrived) {
    char which[40] = "an epoch";
    if (epoch != SENNIT_EPOCH_CURRENT)
        (void)std::snprintf(which, sizeof which, "epoch %llu",
                            static_cast<unsigned long long>(epoch));
    return fail_peer(SENNIT_ERR_SIGNAL_OVERFLOW, signal.rank, "",
                     "signal %#x of rank %d expects %llu event%s in %s, and with this one %llu "
                     "have arrived",
                     signal.handle, signal.rank, static_cast<unsigned long long>(expected),
                     plural(expected), which, static_cast<unsigned long long>(arrived));
}

}  // namespace sennit::signal
