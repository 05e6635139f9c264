// Counting an event where the way in signal.hpp is not open: errors, and records that are reached
// by messages. There the sender reads the owner's line, adds by an atomic operation, and where the
// signal may be in a set reads the line again: the same steps as by pointer, in the same order.
#include "base/fail.hpp"
#include "op/atomic.hpp"
#include "runtime/detector.hpp"
#include "signal/messages.hpp"

namespace sennit::signal {
namespace {

sennit_status was_destroyed(sennit_signal signal) {
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, signal.rank, "",
                     "signal %#x of rank %d was destroyed", signal.handle, signal.rank);
}

sennit_status look_by_message(Rank &rank, const RemoteSignal &remote, Seen *seen) {
    SignalRecord copy{};
    const sennit_status status = start_look(rank, remote, &copy, op::kKept);
    if (status == SENNIT_OK) *seen = seen_in(copy);
    return status;
}

void look_by_pointer(const SignalRecord &record, Seen *seen) {
    // SYNC signal-handle: pairs with the release in signal_create(), of the owner.
    seen->handle = record.handle.load(std::memory_order_acquire);
    // SYNC signal-epoch: pairs with the release in advance(), of the owner.
    seen->epoch = record.epoch.load(std::memory_order_acquire);
    // relaxed: looked at again after the count.
    seen->in_set = record.in_set.load(std::memory_order_relaxed);
    seen->expected = {record.events, record.event_bits};
}

sennit_status change(Rank &rank, sennit_gptr gptr, sennit_operator operation, std::uint64_t operand,
                     std::uint64_t *old, const op::Completion &how = op::kKept) {
    const op::AtomicArgs args{
        static_cast<std::uint8_t>(operation), SENNIT_UINT64, gptr, &operand, old, 1};
    return op::atomic(rank, args, how);
}

// As mark_fired().
sennit_status mark_by_message(Rank &rank, const RemoteSignal &remote) {
    const sennit_status status = start_mark(rank, remote, Mark::signal, op::kKept);
    return status != SENNIT_OK ? status : start_mark(rank, remote, Mark::summary, op::kKept);
}

// The owner is told of an event too many that was taken back, or was not even counted.
sennit_status refuse_by_message(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch) {
    sennit_gptr place = remote.gptr;
    place.offset += offsetof(SignalRecord, refused);
    const sennit_status status = change(rank, place, SENNIT_REPLACE, epoch + 1, nullptr);
    return status != SENNIT_OK ? status : mark_by_message(rank, remote);
}

sennit_gptr place_of_slot(const RemoteSignal &remote, std::uint64_t epoch) {
    sennit_gptr slot = remote.gptr;
    slot.offset += sizeof(std::uint64_t) * slot_of(epoch);
    return slot;
}

// Has the owner got all that it expects in the epoch, as far as can be seen now? The counter that
// came with the owner's epoch may be older than that, and is then looked at again: one that is
// newer tells for certain.
sennit_status check_surplus(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                            const Seen &seen) {
    const auto before = [&](std::uint64_t counter) {
        return value_of(counter, seen.expected.events, epoch);
    };
    const auto is_too_many = [&](std::uint64_t counter) {
        return is_surplus(before(counter), 1, seen.expected.events, seen.expected.event_bits);
    };
    if (!is_too_many(seen.counters[slot_of(epoch)])) return SENNIT_OK;
    std::uint64_t counter = 0;
    sennit_status status = op::transfer(rank, op::Direction::get, place_of_slot(remote, epoch),
                                        &counter, sizeof counter, op::kKept);
    if (status != SENNIT_OK || !is_too_many(counter)) return status;
    status = refuse_by_message(rank, remote, epoch);
    if (status != SENNIT_OK) return status;
    return fail_surplus(remote.signal, seen.expected, {epoch, 1}, before(counter));
}

sennit_status count_by_message(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                               const Expected &expected) {
    std::uint64_t counter = 0;
    bool fires = false;
    const Messages one{epoch, 1};
    sennit_status status = start_count(rank, remote, one, &counter, op::kKept);
    if (status == SENNIT_OK) status = judge_count(rank, remote, one, expected, counter, &fires);
    if (status != SENNIT_OK || !fires) return status;
    Seen seen{};
    status = look_by_message(rank, remote, &seen);
    if (status != SENNIT_OK || seen.in_set == 0) return status;
    return mark_by_message(rank, remote);
}

}  // namespace

sennit_status start_look(Rank &rank, const RemoteSignal &remote, SignalRecord *copy,
                         const op::Completion &how) {
    return op::transfer(rank, op::Direction::get, remote.gptr, copy, kFetchedBytes, how);
}

Seen seen_in(const SignalRecord &copy) {
    // relaxed: a private copy.
    const auto value = [](const auto &word) { return word.load(std::memory_order_relaxed); };
    return Seen{value(copy.epoch),
                value(copy.in_set),
                value(copy.handle),
                {copy.events, copy.event_bits},
                {value(copy.slot[0]), value(copy.slot[1])}};
}

sennit_status start_count(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                          std::uint64_t *counter, const op::Completion &how) {
    return change(rank, place_of_slot(remote, messages.epoch), SENNIT_SUM,
                  kWholeMessage * messages.count, counter, how);
}

sennit_status judge_count(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                          const Expected &expected, std::uint64_t counter, bool *fires) {
    const std::uint64_t before = value_of(counter, expected.events, messages.epoch);
    *fires = before == messages.count;
    if (!is_surplus(before, messages.count, expected.events, expected.event_bits)) return SENNIT_OK;
    *fires = false;
    // As take_back().
    sennit_status status =
        change(rank, place_of_slot(remote, messages.epoch), SENNIT_SUM, messages.count, nullptr);
    if (status == SENNIT_OK) status = refuse_by_message(rank, remote, messages.epoch);
    return status != SENNIT_OK ? status : fail_surplus(remote.signal, expected, messages, before);
}

sennit_status start_mark(Rank &rank, const RemoteSignal &remote, Mark which,
                         const op::Completion &how) {
    const std::uint32_t index = index_of(remote.signal.handle);
    const std::uint32_t chunk = chunk_of(index);
    const std::uint32_t place = index - first_index(chunk);
    const bool is_summary = which == Mark::summary;
    const std::uint32_t bit = is_summary ? place / 64 : place;
    sennit_gptr there = remote.gptr;
    there.offset =
        (is_summary ? kSummaryOffset : marks_offset(chunk)) + sizeof(MarkWord) * (bit / 64);
    return change(rank, there, SENNIT_OR, std::uint64_t{1} << bit % 64, nullptr, how);
}

void mark_fired(std::byte *chunk, std::uint32_t handle) {
    const std::uint32_t index = index_of(handle);
    const std::uint32_t number = chunk_of(index);
    const std::uint32_t place = index - first_index(number);
    auto *marks = reinterpret_cast<MarkWord *>(chunk + marks_offset(number));
    auto *summary = reinterpret_cast<MarkWord *>(chunk + kSummaryOffset);
    // SYNC signal-mark: pairs with the acquires in collect(), of the owner; the count comes before
    // the mark, and the mark before its bit in the summary.
    marks[place / 64].fetch_or(std::uint64_t{1} << place % 64, std::memory_order_release);
    summary[place / 4096].fetch_or(std::uint64_t{1} << place / 64 % 64, std::memory_order_release);
    // SYNC doorbell: pairs with the fence in announce_sleep(); the marks before the caller's look
    // at sleepers.
    store_load_fence();
}

void take_back(const RemoteSignal &to, const Expected &expected, const Messages &messages,
               std::uint64_t before) {
    // relaxed: the messages were of nobody's epoch, and no data hangs on them.
    to.record->slot[slot_of(messages.epoch)].fetch_add(messages.count, std::memory_order_relaxed);
    // relaxed: no data hangs on it; the mark and the fence behind it come later.
    to.record->refused.store(messages.epoch + 1, std::memory_order_relaxed);
    // The owner is to be told, and may have looked in between and have found that the signal had
    // not fired.
    mark_fired(to.chunk, to.signal.handle);
    ring_doorbell(*to.control);
    (void)fail_surplus(to.signal, expected, messages, before);
}

sennit_status look(Rank &rank, const RemoteSignal &remote, Seen *seen) {
    if (remote.record == nullptr) {
        const sennit_status status = look_by_message(rank, remote, seen);
        if (status != SENNIT_OK) return status;
    } else {
        if (!remote.is_alive()) return was_destroyed(remote.signal);
        look_by_pointer(*remote.record, seen);
    }
    return seen->handle == remote.signal.handle ? SENNIT_OK : was_destroyed(remote.signal);
}

sennit_status check_epoch(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen) {
    const sennit_status status = look(rank, remote, seen);
    return status != SENNIT_OK ? status : judge_epoch(rank, remote, epoch, *seen);
}

sennit_status judge_epoch(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                          const Seen &seen) {
    if (seen.handle != remote.signal.handle) return was_destroyed(remote.signal);
    if (is_counted(epoch, seen.epoch))
        return remote.record != nullptr ? SENNIT_OK : check_surplus(rank, remote, epoch, seen);
    const bool early = is_early(epoch, seen.epoch);
    // An owner that is gone never gets there, and the caller would come again for ever.
    if (early && peer_gone(rank, remote.signal.rank) != Gone::no)
        return fail_lost(rank, remote.signal.rank);
    return fail_peer(
        early ? SENNIT_ERR_SIGNAL_EARLY : SENNIT_ERR_SIGNAL_OVERFLOW, remote.signal.rank, "",
        "an event of epoch %llu for signal %#x of rank %d, which expects epochs %llu and %llu%s",
        static_cast<unsigned long long>(epoch), remote.signal.handle, remote.signal.rank,
        static_cast<unsigned long long>(seen.epoch),
        static_cast<unsigned long long>(seen.epoch + 1),
        early ? "; it may be sent again later" : "");
}

sennit_status count_event(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                          const Seen &seen) {
    if (remote.record == nullptr) return count_by_message(rank, remote, epoch, seen.expected);
    return count_whole(remote, seen.expected, epoch) ? SENNIT_OK : SENNIT_ERR_SIGNAL_OVERFLOW;
}

sennit_status fail_surplus(sennit_signal signal, const Expected &expected, const Messages &messages,
                           std::uint64_t before) {
    return fail_peer(
        SENNIT_ERR_SIGNAL_OVERFLOW, signal.rank, "",
        "signal %#x of rank %d expects %u events in epoch %llu, and with this one %llu "
        "have come",
        signal.handle, signal.rank, expected.events,
        static_cast<unsigned long long>(messages.epoch),
        static_cast<unsigned long long>(events_come(before, expected.events, expected.event_bits) +
                                        messages.count));
}

}  // namespace sennit::signal
