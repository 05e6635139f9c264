// Helpers for the tests of signals and of notified calls.
#pragma once

#include "harness.hpp"

namespace conformance {

// Repeats the call until the owner's epoch is near enough. Waits only inside Sennit.
template <class Call>
void when_taken(Ranks &test, Call call) {
    const std::uint64_t word = 0;
    sennit_status status = call();
    while (status == SENNIT_ERR_SIGNAL_EARLY) {
        (void)sennit_signal_wait_word(&word, SENNIT_NOT_EQUAL, 0, 0);
        status = call();
    }
    test.ok(status);
}

inline void add_when_taken(Ranks &test, sennit_signal signal, std::uint64_t epoch) {
    when_taken(test, [=] { return sennit_signal_notify(signal, epoch); });
}

// The call's status, or that of a flush after it, which reports the owner's answer on paths with
// messages.
inline sennit_status told(sennit_status status, int owner) {
    return status == SENNIT_OK ? sennit_flush(owner, SENNIT_FOREVER) : status;
}

inline sennit_signal make_signal(Ranks &test, std::uint32_t events, std::uint32_t most = 0,
                                 unsigned flags = 0) {
    sennit_signal made = SENNIT_SIGNAL_NULL;
    test.ok(sennit_signal_create(events, most == 0 ? events : most, flags, &made));
    test.equal(made.rank, test.rank);
    return made;
}

inline bool is_fired(Ranks &test, sennit_signal signal) {
    int done = -1;
    test.ok(sennit_signal_test(signal, &done));
    test.require(done == 0 || done == 1, "done is 0 or 1");
    return done == 1;
}

inline std::uint32_t left_of(Ranks &test, sennit_signal signal) {
    std::uint32_t left = UINT32_MAX;
    test.ok(sennit_signal_remaining(signal, &left));
    return left;
}

inline std::uint64_t epoch_of(Ranks &test, sennit_signal signal) {
    std::uint64_t epoch = UINT64_MAX;
    test.ok(sennit_signal_epoch(signal, &epoch));
    return epoch;
}

inline bool is_same(sennit_signal a, sennit_signal b) {
    return a.rank == b.rank && a.handle == b.handle;
}

}  // namespace conformance
