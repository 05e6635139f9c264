// Counting an event where the way in signal.hpp is not open: errors, and records that are reached
// by messages. There the sender reads the owner's line, adds by an atomic operation, and where the
// signal may be in a set reads the line again: the same steps as by pointer, in the same order.
#include "base/fail.hpp"
#include "op/atomic.hpp"
#include "op/rma.hpp"
#include "signal/signals.hpp"

namespace sennit::signal {
namespace {

// A record as messages bring it, as far as it is in use.
struct RecordCopy {
    std::uint64_t counters[2];
    std::uint8_t unused_first[112];
    std::uint64_t epoch;
    std::uint32_t in_set;
    std::uint32_t handle;
    std::uint32_t events;
    std::uint32_t max_events;
    std::int32_t owner;
    std::uint8_t event_bits;
    std::uint8_t unused[3];
};
static_assert(sizeof(RecordCopy) == 160 &&
              offsetof(RecordCopy, epoch) == offsetof(SignalRecord, epoch) &&
              offsetof(RecordCopy, handle) == offsetof(SignalRecord, handle) &&
              offsetof(RecordCopy, events) == offsetof(SignalRecord, events) &&
              offsetof(RecordCopy, event_bits) == offsetof(SignalRecord, event_bits));

sennit_status not_registered(sennit_signal signal) {
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, signal.rank, "",
                     "signal %#x of rank %d was destroyed", signal.handle, signal.rank);
}

sennit_status look_by_message(Rank &rank, const Remote &remote, Seen *seen) {
    RecordCopy copy{};
    const sennit_status status =
        op::transfer(rank, op::Direction::get, remote.gptr, &copy, sizeof copy, op::kKept);
    if (status != SENNIT_OK) return status;
    *seen = Seen{copy.epoch,
                 copy.in_set,
                 copy.handle,
                 {copy.events, copy.event_bits},
                 {copy.counters[0], copy.counters[1]}};
    return SENNIT_OK;
}

void look_by_pointer(const SignalRecord &it, Seen *seen) {
    // SYNC signal-handle: pairs with the release in signal_create(), of the owner.
    seen->handle = it.handle.load(std::memory_order_acquire);
    // SYNC signal-epoch: pairs with the release in advance(), of the owner.
    seen->epoch = it.epoch.load(std::memory_order_acquire);
    // relaxed: looked at again after the count.
    seen->in_set = it.in_set.load(std::memory_order_relaxed);
    seen->expected = {it.events, it.event_bits};
}

sennit_status change(Rank &rank, sennit_gptr gptr, sennit_operator operation, std::uint64_t operand,
                     std::uint64_t *old) {
    const op::AtomicWish wish{
        static_cast<std::uint8_t>(operation), SENNIT_UINT64, gptr, &operand, old, 1};
    return op::atomic(rank, wish, op::kKept);
}

// As mark_fired().
sennit_status mark_by_message(Rank &rank, const Remote &remote) {
    const std::uint32_t index = index_of(remote.signal.handle);
    const std::uint32_t chunk = chunk_of(index);
    const std::uint32_t place = index - first_index(chunk);
    sennit_gptr there = remote.gptr;
    there.offset = marks_offset(chunk) + sizeof(MarkWord) * (place / 64);
    const sennit_status status =
        change(rank, there, SENNIT_OR, std::uint64_t{1} << place % 64, nullptr);
    if (status != SENNIT_OK) return status;
    there.offset = kSummaryOffset + sizeof(MarkWord) * (place / 4096);
    return change(rank, there, SENNIT_OR, std::uint64_t{1} << place / 64 % 64, nullptr);
}

// Has the owner got all that it expects in the epoch, as far as can be seen now? The counter that
// came with the owner's epoch may be older than that, and is then looked at again: one that is
// newer tells for certain.
sennit_status check_surplus(Rank &rank, const Remote &remote, std::uint64_t epoch,
                            const Seen &seen) {
    const auto is_too_many = [&](std::uint64_t counter) {
        const std::uint64_t before = value_of(counter, seen.expected.events, epoch);
        return is_surplus(before, 1, seen.expected.events, seen.expected.event_bits);
    };
    if (!is_too_many(seen.counters[slot_of(epoch)])) return SENNIT_OK;
    sennit_gptr slot = remote.gptr;
    slot.offset += sizeof(std::uint64_t) * slot_of(epoch);
    std::uint64_t counter = 0;
    const sennit_status status =
        op::transfer(rank, op::Direction::get, slot, &counter, sizeof counter, op::kKept);
    if (status != SENNIT_OK || !is_too_many(counter)) return status;
    return fail_surplus(remote.signal, epoch, seen.expected.events);
}

sennit_status count_by_message(Rank &rank, const Remote &remote, std::uint64_t epoch,
                               const Expected &expected) {
    sennit_gptr slot = remote.gptr;
    slot.offset += sizeof(std::uint64_t) * slot_of(epoch);
    std::uint64_t counter = 0;
    sennit_status status = change(rank, slot, SENNIT_SUM, kWholeMessage, &counter);
    if (status != SENNIT_OK) return status;
    const std::uint64_t before = value_of(counter, expected.events, epoch);
    if (is_surplus(before, 1, expected.events, expected.event_bits)) {
        // As take_back().
        status = change(rank, slot, SENNIT_SUM, 0 - kWholeMessage, nullptr);
        if (status == SENNIT_OK) status = mark_by_message(rank, remote);
        return status != SENNIT_OK ? status : fail_surplus(remote.signal, epoch, expected.events);
    }
    if (before != 1) return SENNIT_OK;
    Seen seen{};
    status = look_by_message(rank, remote, &seen);
    if (status != SENNIT_OK || seen.in_set == 0) return status;
    return mark_by_message(rank, remote);
}

}  // namespace

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

void take_back(const Remote &to, std::uint64_t epoch, std::uint32_t messages) {
    // relaxed: the messages were of nobody's epoch, and no data hangs on them.
    to.record->slot[slot_of(epoch)].fetch_add(messages, std::memory_order_relaxed);
    // The owner may have looked in between and have found that the signal had not fired.
    mark_fired(to.chunk, to.signal.handle);
    ring_doorbell(*to.control);
}

sennit_status look(Rank &rank, const Remote &remote, Seen *seen) {
    if (remote.record == nullptr) {
        const sennit_status status = look_by_message(rank, remote, seen);
        if (status != SENNIT_OK) return status;
    } else {
        if (!remote.is_alive()) return not_registered(remote.signal);
        look_by_pointer(*remote.record, seen);
    }
    return seen->handle == remote.signal.handle ? SENNIT_OK : not_registered(remote.signal);
}

sennit_status check_epoch(Rank &rank, const Remote &remote, std::uint64_t epoch, Seen *seen) {
    const sennit_status status = look(rank, remote, seen);
    if (status != SENNIT_OK) return status;
    if (is_counted(epoch, seen->epoch))
        return remote.record != nullptr ? SENNIT_OK : check_surplus(rank, remote, epoch, *seen);
    const bool early = is_early(epoch, seen->epoch);
    return fail_peer(
        early ? SENNIT_ERR_SIGNAL_EARLY : SENNIT_ERR_SIGNAL_OVERFLOW, remote.signal.rank, "",
        "an event of epoch %llu for signal %#x of rank %d, which expects epochs %llu and %llu%s",
        static_cast<unsigned long long>(epoch), remote.signal.handle, remote.signal.rank,
        static_cast<unsigned long long>(seen->epoch),
        static_cast<unsigned long long>(seen->epoch + 1),
        early ? "; it may be sent again later" : "");
}

sennit_status count_event(Rank &rank, const Remote &remote, std::uint64_t epoch, const Seen &seen) {
    if (remote.record == nullptr) return count_by_message(rank, remote, epoch, seen.expected);
    return count_whole(remote, seen.expected, epoch)
               ? SENNIT_OK
               : fail_surplus(remote.signal, epoch, seen.expected.events);
}

sennit_status fail_surplus(sennit_signal signal, std::uint64_t epoch, std::uint32_t events) {
    return fail_peer(SENNIT_ERR_SIGNAL_OVERFLOW, signal.rank, "",
                     "signal %#x of rank %d expects %u events in epoch %llu, and this is one more",
                     signal.handle, signal.rank, events, static_cast<unsigned long long>(epoch));
}

}  // namespace sennit::signal
