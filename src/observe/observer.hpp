// SPDX-License-Identifier: BSD-3-Clause
// What a rank notes of its own calls when SENNIT_TRACE or SENNIT_STATS is set: a trace of events,
// and counters per peer and path. Where neither is set Rank::observer is null, and the classes here
// cost one test of it at each end. Puts, gets and atomic operations on memory that load and store
// reach do not even have that: while a rank is observed, its entries keep callers off the direct
// way (memory/entry.hpp), and the cold way notes them. Threads of the rank may note at once.
// Nothing here touches the thread's last error.
#pragma once

#include <sennit/signal.h>

#include "base/clock.hpp"
#include "observe/records.hpp"
#include "rank/rank.hpp"

namespace sennit::runtime {
struct Observer;
}
template <>
struct sennit::PartType<sennit::Part::observer> {
    using Type = sennit::runtime::Observer;
};

namespace sennit::runtime {

// Of an allocation and the like the bytes are the size of its memory, which does not move.
enum class Noted : std::uint8_t { operation, allocation, wait, progress };

// Something that takes time, from here to the end of the block. Names are constants.
class Observed {
  public:
    Observed(Rank &rank, const char *name, int peer = kNobody, std::uint64_t bytes = 0,
             Noted kind = Noted::operation)
        : observer_(rank.observer) {
        if (observer_ != nullptr) [[unlikely]]
            begin(name, peer, bytes, kind);
    }
    ~Observed() {
        if (observer_ != nullptr) [[unlikely]]
            end();
    }
    Observed(const Observed &) = delete;
    Observed &operator=(const Observed &) = delete;

    // What is known later. Only where is_on().
    bool is_on() const { return observer_ != nullptr; }
    void set_path(sennit_path path) { path_ = static_cast<std::uint8_t>(path); }
    void set_bytes(std::uint64_t bytes) { bytes_ = bytes; }
    void drop() { is_dropped_ = true; }  // it was not worth noting
    // One of several puts and gets of the operation, each with a peer and a path of its own.
    [[gnu::cold, gnu::noinline]] void add_part(int peer, sennit_path path, std::uint64_t bytes);

    // See note_awaited().
    static void show_awaited(Observer &observer, const struct Awaited &awaited);

  private:
    friend struct Observer;
    [[gnu::cold, gnu::noinline]] void begin(const char *name, int peer, std::uint64_t bytes,
                                            Noted kind);
    [[gnu::cold, gnu::noinline]] void end();

    Observer *observer_;
    Observed *outer_;  // of the same thread
    std::int64_t start_ns_;
    std::uint64_t bytes_;
    std::uint64_t bytes_of_parts_;               // which have been counted with their peers
    std::uint64_t waits_;                        // inside it
    std::uint64_t wait_ns_;                      // in them
    std::uint32_t rail_pieces_[kObservedRails];  // of the rank, before
    int peer_;
    int open_;  // place among the open operations of the file, or -1
    std::uint16_t name_;
    std::uint8_t path_;
    Noted kind_;
    bool is_dropped_;
};

// The op engine moved a piece: progress that does is noted, and by which rail.
[[gnu::cold, gnu::noinline]] void count_piece(Observer &observer, unsigned rail,
                                              std::uint64_t bytes);
inline void note_piece(Rank &rank, unsigned rail, std::uint64_t bytes) {
    if (rank.observer != nullptr) [[unlikely]]
        count_piece(*rank.observer, rail, bytes);
}

// The innermost call of the thread waits for a signal of the rank's own.
struct Awaited {
    std::uint32_t handle;
    std::uint32_t events;  // of an epoch
    std::uint64_t epoch;
};
[[gnu::cold, gnu::noinline]] void show_awaited(Observer &observer, const Awaited &awaited);
inline void note_awaited(Rank &rank, const Awaited &awaited) {
    if (rank.observer != nullptr) [[unlikely]]
        show_awaited(*rank.observer, awaited);
}

// An event of the epoch was sent to the signal, or its owner, which is in epoch `owners`, has
// refused it as too early.
[[gnu::cold, gnu::noinline]] void show_sent(Observer &observer, sennit_signal signal,
                                            std::uint64_t epoch, const std::uint64_t *owners);
inline void note_sent(Rank &rank, sennit_signal signal, std::uint64_t epoch) {
    if (rank.observer != nullptr) [[unlikely]]
        show_sent(*rank.observer, signal, epoch, nullptr);
}
inline void note_refused(Rank &rank, sennit_signal signal, std::uint64_t epoch,
                         std::uint64_t owners) {
    if (rank.observer != nullptr) [[unlikely]]
        show_sent(*rank.observer, signal, epoch, &owners);
}

// A message has left.
[[gnu::cold, gnu::noinline]] void count_message(Observer &observer, CountedMessage kind,
                                                std::uint64_t bytes);
inline void note_message(Rank &rank, CountedMessage kind, std::uint64_t bytes) {
    if (rank.observer != nullptr) [[unlikely]]
        count_message(*rank.observer, kind, bytes);
}

// The life of the observer, called by start-up and teardown in this order. Nothing that goes wrong
// with a file fails a call of the program: it is a warning, and that file is not written.

// Makes the observer if a knob asks for one; `started_ns` is when sennit_init was called. Rank 0
// removes what an earlier job left under the names.
void observer_open(Rank &rank, int size, std::int64_t started_ns);
bool observer_traces(const Rank &rank);
// Collective over all ranks of the job if one of them traces and there are several nodes: finds how
// far this node's clock is from that of rank 0.
void observer_align(Rank &rank, const Deadline &deadline);
// The rank is ready: its part of the file of counters is there from now on.
void observer_ready(Rank &rank);
// Before the last barrier: writes the trace as text. After it, with `all_met` if all ranks came:
// rank 0 ends the text.
void observer_write(Rank &rank);
void observer_finish(Rank &rank, bool all_met);
void observer_close(Rank &rank);

// The counters of this rank for a peer or kNobody, and a path or SENNIT_PATH_NONE for the sum of
// all. Errors: UNSUPPORTED (nothing is counted).
sennit_status observer_counters(const Rank &rank, int peer, sennit_path path,
                                sennit_counters *counters);
// Says them to the log. Errors: as above.
sennit_status observer_print(const Rank &rank);

}  // namespace sennit::runtime
