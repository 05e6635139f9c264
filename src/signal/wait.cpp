// SPDX-License-Identifier: BSD-3-Clause
// The owner's tests and waits after unsuccessful polling, and the end of an epoch.
#include "runtime/wait.hpp"

#include <cstdio>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/engine.hpp"
#include "signal/carried.hpp"
#include "signal/sets.hpp"
#include "signal/signals.hpp"

namespace sennit::signal {

namespace {

sennit_status overflown(const Own &own, std::uint64_t value) {
    const std::uint32_t handle = handle_of(own);
    return fail(SENNIT_ERR_SIGNAL_OVERFLOW,
                "signal %#x expects %u event%s in epoch %llu, and %llu have arrived", handle,
                own.events, plural(own.events), static_cast<unsigned long long>(own_epoch(own)),
                static_cast<unsigned long long>(events_arrived(value, own.events, own.event_bits)));
}

// Reports once an event that was not counted; OK if there was none.
sennit_status report_refused(Own &own) {
    if (!has_refused(own)) return SENNIT_OK;
    // relaxed: no data depends on it. 0: another thread reports.
    const std::uint64_t word = own.record->refused.exchange(0, std::memory_order_relaxed);
    if (word == 0) return SENNIT_OK;
    const auto seen = static_cast<unsigned long long>(refused_epoch(word));
    if (refused_in(word) == Uncounted::surplus)
        return fail(
            SENNIT_ERR_SIGNAL_OVERFLOW,
            "signal %#x expects %u event%s in epoch %llu, and one more arrived and was refused",
            handle_of(own), own.events, plural(own.events), seen);
    const bool is_too_early = refused_in(word) == Uncounted::early;
    return fail(
        is_too_early ? SENNIT_ERR_SIGNAL_EARLY : SENNIT_ERR_SIGNAL_OVERFLOW,
        "signal %#x is in epoch %llu; an event of epoch %llu arrived too %s and was not counted",
        handle_of(own), static_cast<unsigned long long>(own_epoch(own)), seen,
        is_too_early ? "early" : "late");
}

constexpr std::uint32_t mark_of_epoch(std::uint64_t epoch) {
    return static_cast<std::uint32_t>(epoch % UINT32_MAX) + 1;
}

// Reports once that a strict signal has events of the next epoch; OK if there are none, or if
// another thread reports.
sennit_status report_early(Own &own) {
    const std::uint64_t epoch = own_epoch(own);
    // All relaxed: no data depends on it.
    std::uint32_t reported = own.reported_early.load(std::memory_order_relaxed);
    if (!arrived_before_reset(own, epoch) || reported == mark_of_epoch(epoch)) return SENNIT_OK;
    if (!own.reported_early.compare_exchange_strong(reported, mark_of_epoch(epoch),
                                                    std::memory_order_relaxed))
        return SENNIT_OK;
    return fail(SENNIT_ERR_SIGNAL_EARLY,
                "signal %#x: an event of epoch %llu arrived before epoch %llu was reset: with one "
                "buffer it has overwritten data",
                handle_of(own), static_cast<unsigned long long>(epoch + 1),
                static_cast<unsigned long long>(epoch));
}

// Writes the number of events of the next epoch that have arrived: their senders have finished this
// epoch. "" if there are none.
void write_arrived_already(const Own &own, char *text, std::size_t bytes) {
    const std::uint64_t next = own_epoch(own) + 1;
    // relaxed: a number for the report.
    const std::uint64_t counter = own.record->slot[slot_of(next)].load(std::memory_order_relaxed);
    const auto arrived = static_cast<unsigned long long>(
        events_arrived(value_of(counter, own.events, next), own.events, own.event_bits));
    text[0] = '\0';
    if (arrived != 0)
        (void)std::snprintf(text, bytes, "; %llu event%s of epoch %llu %s already arrived", arrived,
                            plural(arrived), static_cast<unsigned long long>(next),
                            arrived == 1 ? "has" : "have");
}

// Writes how many events are missing. False: none of the next epoch has arrived.
bool write_missing(const Own &own, std::uint64_t value, char *text, std::size_t bytes) {
    const std::uint32_t left = events_left(value, own.event_bits);
    char already[96];
    write_arrived_already(own, already, sizeof already);
    (void)std::snprintf(text, bytes, "%u of %u event%s of epoch %llu %s missing%s%s", left,
                        own.events, plural(own.events),
                        static_cast<unsigned long long>(own_epoch(own)), left == 1 ? "is" : "are",
                        value > event_mask(own.event_bits) ? ", and parts of others" : "", already);
    return already[0] != '\0';
}

// The error with the number of missing events, appended to `before`.
sennit_status unfired(const Own &own, std::uint64_t value, sennit_status status,
                      const char *before) {
    char missing[224];
    (void)write_missing(own, value, missing, sizeof missing);
    return fail(status, "%s%ssignal %#x has not fired: %s", before, before[0] == 0 ? "" : ": ",
                handle_of(own), missing);
}

// For `sennit trace where`: senders that are already in the next epoch have skipped this one, or
// sent fewer events than the signal expects. `shown`: the values that this wait has shown last.
[[gnu::cold, gnu::noinline]] void show_missing(Rank &rank, const Own &own, std::uint64_t value,
                                               std::uint64_t *shown) {
    // relaxed: a number for the report.
    const std::uint64_t next =
        own.record->slot[slot_of(own_epoch(own) + 1)].load(std::memory_order_relaxed);
    if (value == 0 || (shown[0] == value && shown[1] == next)) return;
    shown[0] = value;
    shown[1] = next;
    char missing[224];
    if (write_missing(own, value, missing, sizeof missing)) runtime::note_text(rank, missing);
}

// For LostSearch::find, with a signal.
int find_dead_rank(Rank &rank, const void * /*own*/) {
    const int anybody = kAnyPeer;
    return find_lost(rank, &anybody);
}

// For LostSearch::warn, with a signal.
void warn_of_missing(Rank & /*rank*/, const void *context, int seconds) {
    const Own &own = *static_cast<const Own *>(context);
    char missing[224];
    (void)write_missing(own, own_value(own), missing, sizeof missing);
    log(SENNIT_LOG_WARNING, "sennit_signal_wait has waited for %d s: signal %#x has not fired: %s",
        seconds, handle_of(own), missing);
}

template <class Word>
bool compare(Word word, sennit_comparison comparison, Word value) {
    switch (comparison) {
        case SENNIT_EQUAL:
            return word == value;
        case SENNIT_NOT_EQUAL:
            return word != value;
        case SENNIT_GREATER:
            return word > value;
        case SENNIT_GREATER_EQUAL:
            return word >= value;
        case SENNIT_LESS:
            return word < value;
        default:
            return word <= value;
    }
}

// A separate function, so that test() calls nothing and saves no registers.
[[gnu::noinline]] sennit_status test_again(Rank &rank, Own &own, int *done) {
    // Other ranks may wait for this one's progress, and events by messages are counted here.
    make_progress(rank);
    const std::uint64_t value = own_value(own);
    if (is_faulty(own)) [[unlikely]] {
        const sennit_status status = report_fault(own);
        if (status != SENNIT_OK) return status;
    }
    if (value != 0) note_fruitless_poll(rank);
    *done = value == 0 ? 1 : 0;
    return SENNIT_OK;
}

}  // namespace

sennit_status report_fault(Own &own) {
    const std::uint64_t value = own_value(own);
    if (is_overflown(value, own.event_bits)) return overflown(own, value);
    const sennit_status status = report_refused(own);
    if (status != SENNIT_OK || value == 0) return status;
    return is_strict(own) ? report_early(own) : SENNIT_OK;
}

bool arrived_before_reset(const Own &own, std::uint64_t epoch) {
    const std::uint64_t next = epoch + 1;
    // SYNC signal-count: pairs with the releases in count_whole(): the sender of an accepted event
    // of the next epoch has seen that epoch begin, and the load of the epoch below then sees it.
    const std::uint64_t counter = own.record->slot[slot_of(next)].load(std::memory_order_acquire);
    // relaxed: no data depends on it.
    return value_of(counter, own.events, next) != own.events && own_epoch(own) == epoch &&
           own.reported_early.load(std::memory_order_relaxed) != mark_of_epoch(epoch);
}

sennit_status test(Rank &rank, Own &own, int *done) {
    if (own_value(own) != 0 || has_refused(own)) return test_again(rank, own, done);
    *done = 1;
    return SENNIT_OK;
}

sennit_status wait(Rank &rank, Own &own, const Deadline &deadline) {
    runtime::note_awaited(rank, {handle_of(own), own.events, own_epoch(own)});
    const bool is_observed = rank.observer != nullptr;
    std::uint64_t shown[2] = {};
    for (;;) {
        std::uint64_t value = 0;
        const LostSearch search{find_dead_rank, &own, warn_of_missing};
        const sennit_status status = wait_until(rank, deadline, search, [&] {
            value = own_value(own);
            if (is_observed) [[unlikely]]
                show_missing(rank, own, value, shown);
            return value == 0 || is_faulty(own);
        });
        if (status == SENNIT_ERR_TIMEOUT) {
            const sennit_error late = *thread_error();
            return unfired(own, value, status, late.text);
        }
        if (status != SENNIT_OK || value == 0) return status;
        const sennit_status fault = report_fault(own);
        if (fault != SENNIT_OK) return fault;
        // Another thread has reported the fault.
    }
}

bool advance(Own &own, std::uint64_t epoch) {
    const std::uint64_t next = epoch + 1;
    // SYNC signal-epoch: pairs with itself, in the thread that resets next; this thread's use of
    // the data of its epoch comes before the next epoch is published to senders. relaxed on
    // failure: nothing was changed.
    if (!own.epoch.compare_exchange_strong(epoch, next, std::memory_order_acq_rel,
                                           std::memory_order_relaxed))
        return false;
    // relaxed: only the order of the record's own values matters.
    std::uint64_t seen = own.record->epoch.load(std::memory_order_relaxed);
    // SYNC signal-epoch: pairs with the acquires in accepts() and read_by_pointer(), of senders,
    // and count_in_epoch() and add_part_to_signal(); this rank's use of the data of the epoch comes
    // before. Another thread may have reset since and stored a later epoch. relaxed on failure:
    // nothing was changed.
    while (seen < next && !own.record->epoch.compare_exchange_weak(
                              seen, next, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return true;
}

// With kReadsFirst, arrived events are read before the reset, because they belong to the epoch that
// ends. An event for the current epoch has no epoch number, so it would count in the next epoch.
// For a strict signal, an event of the next epoch is an error.
sennit_status reset(Rank &rank, Own &own) {
    // relaxed: set before the first event.
    if ((own.state.load(std::memory_order_relaxed) & kReadsFirst) != 0)
        op::engine_read_events(rank);
    const std::uint64_t epoch = own_epoch(own);
    const std::uint64_t value = own_value(own);
    if (is_overflown(value, own.event_bits)) return overflown(own, value);
    const sennit_status refused = report_refused(own);
    if (refused != SENNIT_OK) return refused;
    const sennit_status early = is_strict(own) ? report_early(own) : SENNIT_OK;
    if (early != SENNIT_OK) return early;
    if (value != 0) return unfired(own, value, SENNIT_ERR_STATE, "");
    const std::uint32_t handle = handle_of(own);
    // relaxed: only this rank changes the state.
    const bool done = (own.state.load(std::memory_order_relaxed) & kInSet) != 0
                          ? advance_in_set(*signals_of(rank), own, epoch)
                          : advance(own, epoch);
    return done ? SENNIT_OK : fail(SENNIT_ERR_STATE, "another thread has reset signal %#x", handle);
}

sennit_status remaining(const Own &own, std::uint32_t *events) {
    const std::uint64_t value = own_value(own);
    if (is_overflown(value, own.event_bits)) return overflown(own, value);
    *events = events_left(value, own.event_bits);
    return SENNIT_OK;
}

sennit_status wait_word(Rank &rank, const std::uint64_t *word, sennit_comparison comparison,
                        std::uint64_t value, const Deadline &deadline) {
    return wait_until(rank, deadline, kAnyPeer, [&] {
        // SYNC word-delivery: pairs with the release in store_word(), or with that of another
        // rank's atomic operation or store.
        return compare(__atomic_load_n(word, __ATOMIC_ACQUIRE), comparison, value);
    });
}

}  // namespace sennit::signal
