// SPDX-License-Identifier: BSD-3-Clause
// Records a rank's own calls: a trace of events if SENNIT_TRACE is set, counters per peer and path
// if SENNIT_STATS is set. If neither is set, Rank::observer is null, and an Observed costs two
// tests of it. Direct puts, gets and atomic operations have no such test: while a rank is observed,
// its entries do not allow direct access (memory/entry.hpp), so all calls take the cold path, which
// records them. Several threads of the rank may record at once. Nothing here changes the thread's
// last error.
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

// The kind of a recorded time. For an allocation, `bytes` is the size of the memory, which does not
// count as transferred.
enum class Noted : std::uint8_t { operation, allocation, wait, progress };

// Records the time from its construction to the end of the block. `name` is a constant string.
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

    // Sets properties that are known later. The caller checks is_on() first.
    bool is_on() const { return observer_ != nullptr; }
    void set_path(sennit_path path) { path_ = static_cast<std::uint8_t>(path); }
    void set_bytes(std::uint64_t bytes) { bytes_ = bytes; }
    void drop() { is_dropped_ = true; }  // nothing is recorded
    // Adds one of several puts and gets of the operation, with its own peer and path.
    [[gnu::cold, gnu::noinline]] void add_part(int peer, sennit_path path, std::uint64_t bytes);

    // note_awaited() and note_text() for a rank that is observed.
    static void show_awaited(Observer &observer, const struct Awaited &awaited);
    static void show_text(Observer &observer, const char *text);

  private:
    friend struct Observer;
    // The place in the file of the thread's innermost operation that has one; -1: none.
    static int innermost_open(const Observer &observer);
    [[gnu::cold, gnu::noinline]] void begin(const char *name, int peer, std::uint64_t bytes,
                                            Noted kind);
    [[gnu::cold, gnu::noinline]] void end();

    Observer *observer_;
    Observed *outer_;  // in the same thread
    std::int64_t start_ns_;
    std::uint64_t bytes_;
    std::uint64_t bytes_of_parts_;               // already counted with their peers
    std::uint64_t waits_;                        // number of waits inside
    std::uint64_t wait_ns_;                      // time of these waits
    std::uint32_t rail_pieces_[kObservedRails];  // the rank's counts at the start
    int peer_;
    int open_;  // place among the open operations of the file, or -1
    std::uint16_t name_;
    std::uint8_t path_;
    Noted kind_;
    bool is_dropped_;
};

// Counts a piece that the op engine has moved by the rail. A call of progress that moves pieces is
// recorded.
[[gnu::cold, gnu::noinline]] void count_piece(Observer &observer, unsigned rail,
                                              std::uint64_t bytes);
inline void note_piece(Rank &rank, unsigned rail, std::uint64_t bytes) {
    if (rank.observer != nullptr) [[unlikely]]
        count_piece(*rank.observer, rail, bytes);
}

// The signal of this rank for which the thread's innermost operation waits.
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

// Records a text: what the thread's innermost operation waits for.
inline void note_text(Rank &rank, const char *text) {
    if (rank.observer != nullptr) [[unlikely]]
        Observed::show_text(*rank.observer, text);
}

// note_sent() records that an event of the epoch was sent to the signal. note_refused() records
// that the signal's owner, which was in epoch `owners`, refused the event as too early.
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

// Counts a sent message.
[[gnu::cold, gnu::noinline]] void count_message(Observer &observer, CountedMessage kind,
                                                std::uint64_t bytes);
inline void note_message(Rank &rank, CountedMessage kind, std::uint64_t bytes) {
    if (rank.observer != nullptr) [[unlikely]]
        count_message(*rank.observer, kind, bytes);
}

// The life of the observer: start-up and teardown call these functions in this order. If there is a
// problem with a file, a warning is logged and the file is not written.

// Makes the observer if a knob asks for one; `started_ns` is the time of the call of sennit_init.
// Rank 0 removes the files of an earlier job.
void observer_open(Rank &rank, int size, std::int64_t started_ns);
bool observer_traces(const Rank &rank);
// Collective over all ranks of the job if one of them traces and there are several nodes: finds the
// offset of this node's clock to that of rank 0.
void observer_align(Rank &rank, const Deadline &deadline);
// Called when start-up has succeeded: makes the rank's part of the file of counters.
void observer_ready(Rank &rank);
// Called before the last barrier: writes the trace as text.
void observer_write(Rank &rank);
// Called after the last barrier: rank 0 ends the common text if `all_arrived` in that barrier.
void observer_finish(Rank &rank, bool all_arrived);
void observer_close(Rank &rank);

// The counters of this rank for a peer or kNobody, and a path or SENNIT_PATH_NONE for the sum.
// Errors: UNSUPPORTED (nothing is counted).
sennit_status observer_counters(const Rank &rank, int peer, sennit_path path,
                                sennit_counters *counters);
// Logs the counters. Errors: UNSUPPORTED (nothing is counted).
sennit_status observer_print(const Rank &rank);

}  // namespace sennit::runtime
