// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows of the epochs of others' signals that messages lead to: for each the latest
// that its owner has told. The owner may have gone on since; so it lets in what is let in by what
// is known, or has let it in before. All may be forgotten, and is where it gets too much.
#pragma once

#include <pthread.h>
#include <sennit/signal.h>

#include <cstdint>

#include "base/array.hpp"

namespace sennit::signal {

struct KnownEpoch {
    std::uint64_t epoch;
    std::uint8_t most_ahead = 1;  // 0: the signal is strict, and takes events of this epoch alone
};

// Any thread; calls nobody.
class KnownEpochs {
  public:
    ~KnownEpochs() { (void)pthread_mutex_destroy(&lock_); }

    // False: nothing is known.
    bool find(sennit_signal signal, KnownEpoch *known);
    // Its owner has said so, perhaps before it said what is known already.
    void learn(sennit_signal signal, KnownEpoch told);
    // The same, of what may be a new signal by an old name, whatever is known.
    void begin(sennit_signal signal, KnownEpoch told);
    // It is there no more.
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
