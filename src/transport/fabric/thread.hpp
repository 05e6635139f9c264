// SPDX-License-Identifier: BSD-3-Clause
// The thread that moves data while ranks compute. One for the process: ranks as threads share it.
// It starts with the first rank that joins and ends with the last one that leaves. What it does for
// a rank is Network::tend().
//
// Where nobody else looks at a rank's queues, the thread does. It sleeps on their descriptors, and
// for a time where they say nothing, or where so much comes that it takes the processor from a rank
// that computes. While a caller polls it sleeps on a descriptor of its own, which
// the end of a long wait and whoever changes what it sleeps on write to.
#pragma once

#include <poll.h>
#include <sched.h>

#include <cstddef>
#include <cstdint>

#include "rank/rank.hpp"

namespace sennit::transport::fabric {

class Network;

// What SENNIT_PROGRESS says.
struct ProgressSettings {
    bool is_on = true;
    int processor = -1;                 // -1: one where no rank runs, if there is one
    std::int64_t interval_ns = 50'000;  // between looks for a time
    cpu_set_t place{};                  // where the thread may run; empty: where it was made
    bool has_own_place = false;         // where no rank runs
};
// Errors: ARG.
sennit_status read_progress_settings(const char *text, ProgressSettings *out);

// Until when the thread may sleep, and on what.
struct ThreadSleep {
    static constexpr std::size_t kDescriptors = 256;  // of more it takes timed looks

    pollfd descriptors[kDescriptors];
    std::size_t count = 0;
    std::int64_t pause_ns = 0;

    void end_by(std::int64_t ns) { pause_ns = ns < pause_ns ? ns : pause_ns; }
};

// From now on the thread looks after the network's rank. Errors: OS.
sennit_status join_thread(Network &network);
// When it returns the thread is not, and never again, with the network. One that never joined is
// let be.
void leave_thread(Network &network);
// What ends a sleep of the thread if it is written to; -1: there has never been one.
int thread_bell();
// The thread looks at all anew: what it sleeps on has changed.
void wake_thread();
// Is the caller that thread?
bool is_progress_thread();

// Fills `place`: the processor that is wanted; else those that no rank of this machine may run on,
// of the process's, or of its launcher's. In sennit_init, since it reads the environment.
void choose_place(ProgressSettings *settings);

}  // namespace sennit::transport::fabric
