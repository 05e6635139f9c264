// SPDX-License-Identifier: BSD-3-Clause
// The progress thread, which moves data while ranks compute. Each process has at most one; ranks as
// threads share it. It starts when the first rank joins. It ends when the last rank leaves, or when
// no rank needs it. Network::serve_rank() is its work for a rank.
//
// The thread polls a rank's queues if no call does. Between polls it sleeps on the descriptors of
// these queues. It sleeps for a fixed time instead if the descriptors may miss arrivals, or if so
// much arrives that its polls would take the processor from a computing rank. One more descriptor,
// the thread's bell, wakes it when a long wait of a caller ends or when descriptors have changed.
#pragma once

#include <poll.h>
#include <sched.h>

#include <cstddef>
#include <cstdint>

#include "rank/rank.hpp"

namespace sennit::transport::fabric {

class Network;

// The settings of SENNIT_PROGRESS.
struct ProgressSettings {
    bool is_on = true;
    int processor = -1;                 // -1: one without a rank, if any
    std::int64_t interval_ns = 50'000;  // between timed polls
    cpu_set_t processors{};             // processors of the thread; empty: those of its creator
    bool has_own_processors = false;    // no rank runs on `processors`
};
// Errors: ARG.
sennit_status read_progress_settings(const char *text, ProgressSettings *out);

// The limit of the thread's sleep, and its descriptors.
struct ThreadSleep {
    static constexpr std::size_t kDescriptors = 256;  // beyond these it uses timed polls

    pollfd descriptors[kDescriptors];
    std::size_t count = 0;
    std::int64_t pause_ns = 0;

    void limit_to(std::int64_t ns) { pause_ns = ns < pause_ns ? ns : pause_ns; }
};

// From now on the thread serves the network's rank. Errors: OS.
sennit_status join_thread(Network &network);
// On return the thread does not use the network and never will. Ignores a network that never
// joined.
void leave_thread(Network &network);
// The thread's bell: a write to this descriptor ends its sleep. -1: there was no thread yet.
int thread_bell();
// Wakes the thread, so that it polls every rank again. Called when descriptors have changed.
void wake_thread();
// Whether the caller is that thread.
bool is_progress_thread();

// Fills `processors`: the requested processor; else those of the process, or of its launcher, on
// which no rank of this machine may run. Called in sennit_init, since it reads the environment.
void choose_processors(ProgressSettings *settings);

}  // namespace sennit::transport::fabric
