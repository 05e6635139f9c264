// What the owner of a signal does with it where polling has found nothing, or an epoch ends.
#include "runtime/wait.hpp"
#include "base/fail.hpp"
#include "signal/carried.hpp"
#include "signal/sets.hpp"
#include "signal/signals.hpp"

namespace sennit::signal {

// What came and was not counted, since it was of no epoch that the signal takes. Told once.
[[gnu::cold]] static sennit_status fail_reported(Own &own) {
    // SYNC signal-report: pairs with the release in report(); the epoch comes before.
    own.state.fetch_and(~kReported, std::memory_order_acquire);
    const std::uint32_t handle = handle_of(own);
    // relaxed: the bit was acquired.
    const std::uint64_t seen = own.reported_epoch.load(std::memory_order_relaxed);
    const std::uint64_t epoch = own_epoch(own);
    return fail(is_early(seen, epoch) ? SENNIT_ERR_SIGNAL_EARLY : SENNIT_ERR_SIGNAL_OVERFLOW,
                "signal %#x expects %u events of epoch %llu, and one of epoch %llu has come, which "
                "was not counted",
                handle, own.events, static_cast<unsigned long long>(epoch),
                static_cast<unsigned long long>(seen));
}
namespace {

sennit_status overflown(const Own &own, std::uint64_t value) {
    const std::uint32_t handle = handle_of(own);
    return fail(SENNIT_ERR_SIGNAL_OVERFLOW,
                "signal %#x expects %u events in epoch %llu, and %llu have come", handle,
                own.events, static_cast<unsigned long long>(own_epoch(own)),
                static_cast<unsigned long long>(events_come(value, own.events, own.event_bits)));
}

// Tells once of an event too many that its sender took back; OK if there was none.
sennit_status report_refused(Own &own) {
    if (!has_refused(own)) return SENNIT_OK;
    // relaxed: no data hangs on it. 0: another thread tells.
    const std::uint64_t refused = own.record->refused.exchange(0, std::memory_order_relaxed);
    if (refused == 0) return SENNIT_OK;
    return fail(SENNIT_ERR_SIGNAL_OVERFLOW,
                "signal %#x expects %u events in epoch %llu, and one more came, which was refused",
                handle_of(own), own.events, static_cast<unsigned long long>(refused - 1));
}

// With how many of its events are missing, behind what is known already, if anything is.
sennit_status unfired(const Own &own, std::uint64_t value, sennit_status status,
                      const char *before) {
    const std::uint32_t handle = handle_of(own);
    return fail(status,
                "%s%ssignal %#x has not fired: of %u events of epoch %llu, %u are still to come%s",
                before, before[0] == 0 ? "" : ": ", handle, own.events,
                static_cast<unsigned long long>(own_epoch(own)), events_left(value, own.event_bits),
                value > event_mask(own.event_bits) ? ", and parts of others" : "");
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

// Apart from test(), which then calls nothing and saves no register.
[[gnu::noinline]] sennit_status test_again(Rank &rank, Own &own, int *done) {
    // Whoever polls may be waited for, and what comes by messages is counted here.
    make_progress(rank);
    const std::uint64_t value = own_value(own);
    if (is_overflown(value, own.event_bits) || has_refused(own) || (value != 0 && is_reported(own)))
        [[unlikely]] {
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
    if (status != SENNIT_OK) return status;
    return value != 0 && is_reported(own) ? fail_reported(own) : SENNIT_OK;
}

sennit_status test(Rank &rank, Own &own, int *done) {
    if (own_value(own) != 0 || has_refused(own)) return test_again(rank, own, done);
    *done = 1;
    return SENNIT_OK;
}

sennit_status wait(Rank &rank, Own &own, const Deadline &deadline) {
    for (;;) {
        std::uint64_t value = 0;
        const sennit_status status = wait_until(rank, deadline, kAnyPeer, [&] {
            value = own_value(own);
            return value == 0 || is_faulty(own);
        });
        if (status == SENNIT_ERR_TIMEOUT) {
            const sennit_error late = *thread_error();
            return unfired(own, value, status, late.text);
        }
        if (status != SENNIT_OK || value == 0) return status;
        const sennit_status fault = report_fault(own);
        if (fault != SENNIT_OK) return fault;
        // Another thread was told of it.
    }
}

bool advance(Own &own, std::uint64_t epoch) {
    const std::uint64_t next = epoch + 1;
    // SYNC signal-epoch: pairs with itself, in the thread that resets next; what this one did with
    // the data of its epoch comes before what that one tells the senders. relaxed on failure:
    // nothing is done then.
    if (!own.epoch.compare_exchange_strong(epoch, next, std::memory_order_acq_rel,
                                           std::memory_order_relaxed))
        return false;
    // relaxed: only the order of the record's own values counts.
    std::uint64_t told = own.record->epoch.load(std::memory_order_relaxed);
    // SYNC signal-epoch: pairs with the acquires in takes() and look_by_pointer(), of senders, and
    // count_judged() and count_arrived(); what this rank did with the data of the epoch comes
    // before. Another thread may have reset since, and have told more. relaxed on failure: as
    // above.
    while (told < next && !own.record->epoch.compare_exchange_weak(
                              told, next, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return true;
}

sennit_status reset(Rank &rank, Own &own) {
    const std::uint64_t epoch = own_epoch(own);
    const std::uint64_t value = own_value(own);
    if (is_overflown(value, own.event_bits)) return overflown(own, value);
    const sennit_status refused = report_refused(own);
    if (refused != SENNIT_OK) return refused;
    if (is_reported(own)) return fail_reported(own);
    if (value != 0) return unfired(own, value, SENNIT_ERR_STATE, "");
    const std::uint32_t handle = handle_of(own);
    // relaxed: of a signal of the caller's own.
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
        // SYNC word-delivery: pairs with the release in store_word(), or with that of whoever
        // changes the word by an atomic operation or a store of its own.
        return compare(__atomic_load_n(word, __ATOMIC_ACQUIRE), comparison, value);
    });
}

}  // namespace sennit::signal
