// SPDX-License-Identifier: BSD-3-Clause
// A rank's cache of the epochs of others' signals that only messages reach: for each signal, the
// latest epoch in its owner's answers. The owner may have advanced since. So an event that the
// cached epoch accepts is accepted by the owner, or too late. Entries may be dropped at any time.
#pragma once

#include <pthread.h>
#include <sennit/signal.h>

#include <cstdint>

#include "base/array.hpp"

namespace sennit::signal {

struct KnownEpoch {
    std::uint64_t epoch;
    std::uint8_t most_ahead = 1;  // 0: the signal is strict and accepts only events of this epoch
};

// For any thread. Takes no other lock.
class KnownEpochs {
  public:
    ~KnownEpochs() { (void)pthread_mutex_destroy(&lock_); }

    // False: nothing is known.
    bool find(sennit_signal signal, KnownEpoch *known);
    // Stores an answer, which may be older than the entry; the later epoch stays.
    void learn(sennit_signal signal, KnownEpoch answered);
    // Stores the answer in any case: it may be of a new signal with an old name.
    void begin(sennit_signal signal, KnownEpoch answered);
    // The signal no longer exists.
    void forget(sennit_signal signal);

  private:
    // Linear probing; a place is free where the handle is 0.
    struct Entry {
        sennit_signal signal;
        KnownEpoch known;
        bool is_known;
    };
    static constexpr std::size_t kFirst = 64;
    static constexpr std::size_t kMost = 1 << 17;  // 4 MiB

    Entry *place_of(sennit_signal signal) const;
    Entry *make(sennit_signal signal);
    bool make_room();

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    Array<Entry> entries_;
    std::size_t places_ = 0;  // a power of 2, at most half of them in use
    std::size_t used_ = 0;
};

}  // namespace sennit::signal
