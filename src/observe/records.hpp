// SPDX-License-Identifier: BSD-3-Clause
// The files of SENNIT_TRACE and SENNIT_STATS while a job runs. `sennit trace` and `sennit stats`
// read them, also after a rank has died. A rank maps its trace, so the file has its last stores
// however the process ends. It writes its counters by pwrite(). docs/design/layouts.md lists every
// byte.
#pragma once

#include <sennit/info.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"

namespace sennit::runtime {

inline constexpr std::uint64_t kTraceMagic = 0x31435254544E4E53;  // "SNNTTRC1", little endian
inline constexpr std::uint64_t kStatsMagic = 0x31415453544E4E53;  // "SNNTSTA1"
inline constexpr std::uint32_t kTraceVersion = 6;
inline constexpr std::size_t kTraceNames = 511;
inline constexpr std::size_t kOpenOperations = 64;
inline constexpr std::size_t kSentEvents = 128;
inline constexpr unsigned kObservedRails = 8;  // rails with counters of their own
inline constexpr int kNobody = -1;             // the peer of an operation on several ranks

// Messages to ranks of other nodes, by purpose. A task is a request to another rank.
// - `answer`: messages with answers only. `answer_along`: answers in messages of another kind.
// - `other`: for example addresses and fences.
// - `carried`: notified puts with the event in completion data. A task confirms each of them.
// - `not_carried`: notified puts whose event is in a task, because the owner had no index left.
enum class CountedMessage : std::uint8_t {
    task,
    task_again,
    answer,
    answer_along,
    other,
    carried,
    not_carried
};
inline constexpr unsigned kCountedMessages = 7;
inline constexpr const char *kCountedNames[kCountedMessages] = {
    "tasks",          "tasks sent again",          "answers",           "answers with others",
    "other messages", "puts with completion data", "puts without index"};

// A name; records have its number. Number 0 stands for all names for which there was no room.
struct TraceName {
    char text[48];
};
static_assert(sizeof(TraceName) == 48);

// An operation that has not ended yet, for the diagnosis of a job that hangs or has died.
struct OpenOperation {
    std::int64_t start_ns;
    std::uint64_t bytes;
    std::int32_t peer;
    std::uint16_t name;
    std::uint16_t thread;
    std::atomic<std::uint32_t> in_use;  // stored last with 1, SYNC trace-open; 0: no operation
    // The handle of the signal that it waits for, stored last, SYNC trace-open; 0: none.
    std::atomic<std::uint32_t> signal;
    std::uint64_t epoch;                  // of the signal
    std::uint32_t events;                 // expected by the signal in an epoch
    std::atomic<std::uint32_t> has_note;  // 1: see TraceNote; stored last, SYNC trace-open
};
static_assert(sizeof(OpenOperation) == 48 && offsetof(OpenOperation, in_use) == 24 &&
              offsetof(OpenOperation, epoch) == 32);

// A text: what the open operation at the same place waits for. Set by sennit_trace_note() or by the
// wait itself; "": none. The last place is for texts outside of operations.
struct TraceNote {
    char text[256];
};
static_assert(sizeof(TraceNote) == 256);

// The latest events that the rank has sent to one signal, for the diagnosis of a signal that does
// not fire.
struct SentEvent {
    std::atomic<std::uint64_t> sent;     // the latest epoch, + 1; 0: none
    std::atomic<std::uint64_t> refused;  // the last epoch if it was too early, + 1; else 0
    std::atomic<std::uint64_t> owners;   // the owner's epoch when it refused
    std::int32_t rank;                   // of the owner
    std::uint32_t handle;
    std::atomic<std::uint32_t> in_use;  // stored last with 1, SYNC trace-open; 0: free
    std::uint8_t unused[4];
};
static_assert(sizeof(SentEvent) == 40 && offsetof(SentEvent, rank) == 24);

// A completed operation, wait or call of progress.
struct TraceRecord {
    std::int64_t start_ns;  // CLOCK_MONOTONIC of the rank's node
    std::int64_t duration_ns;
    std::uint64_t bytes;  // of progress: the number of pieces moved
    std::int32_t peer;    // world rank, or kNobody
    std::uint16_t name;
    std::uint16_t thread;  // number of the thread, in the order of their first records
    std::uint8_t path;     // sennit_path
    std::uint8_t rails;    // bit r: a piece was moved by rail r meanwhile
    std::uint8_t unused[6];
};
static_assert(sizeof(TraceRecord) == 40 && offsetof(TraceRecord, path) == 32);

// The file of one rank: this header, then `capacity` records as a ring; record i is in place i %
// capacity. Written by the owner; `written` counts a record after it is complete.
struct alignas(kLineBytes) TraceFile {
    std::uint64_t magic;
    std::uint32_t version;
    std::int32_t rank;
    std::int32_t size;
    std::int32_t process_id;
    std::int64_t start_ns;                  // of sennit_init
    std::int64_t clock_offset_ns;           // this node's clock plus this is the clock of rank 0
    std::int64_t clock_error_ns;            // bound of the error of the offset
    std::atomic<std::uint64_t> capacity;    // records; grows up to the limit of the file
    std::atomic<std::uint64_t> written;     // SYNC trace-record
    std::atomic<std::uint64_t> names_used;  // SYNC trace-name
    std::uint64_t job_cookie;               // files with another cookie are of another job
    char host[48];
    OpenOperation open[kOpenOperations];
    TraceName names[kTraceNames + 1];
    SentEvent events[kSentEvents];  // the first signals to which the rank has sent
    TraceNote notes[kOpenOperations + 1];
};
static_assert(sizeof(TraceFile) == 49536 && offsetof(TraceFile, capacity) == 48 &&
              offsetof(TraceFile, open) == 128 && offsetof(TraceFile, names) == 3200 &&
              offsetof(TraceFile, events) == 27776 && offsetof(TraceFile, notes) == 32896);

// The operations with one peer over one path. Written by the owner's threads.
struct PeerCounters {
    std::atomic<std::uint64_t> operations;
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::uint64_t> waits;
    std::atomic<std::uint64_t> wait_ns;
};
static_assert(sizeof(PeerCounters) == 32);

enum class StatsState : std::uint32_t { none = 0, running = 1, ended = 2 };

// One rank's part of the file, at stats_part_bytes(size) * rank. (size + 1) * SENNIT_PATH_END
// counters follow: by peer, then by path; the last peer is kNobody. Then kObservedRails counters of
// the rails, whose `operations` are pieces and whose waits are 0; then kCountedMessages counters of
// the messages. A part is zero if its rank has not written or the file was truncated.
struct alignas(kLineBytes) StatsPart {
    std::uint64_t magic;
    std::uint32_t version;
    std::int32_t rank;
    std::int32_t size;
    std::int32_t process_id;
    std::uint64_t job_cookie;  // parts with another cookie are of another job
    StatsState state;
    std::uint8_t unused[4];
    char host[56];
    std::uint8_t more_unused[32];
};
static_assert(sizeof(StatsPart) == 128 && offsetof(StatsPart, state) == 32 &&
              offsetof(StatsPart, host) == 40);

constexpr std::size_t stats_counters(int size) {
    return (static_cast<std::size_t>(size) + 1) * SENNIT_PATH_END + kObservedRails +
           kCountedMessages;
}
// A multiple of 64 KiB, so that a reader need not know the size of the job to find parts.
constexpr std::size_t stats_part_bytes(int size) {
    constexpr std::size_t kPage = 65536;
    return (sizeof(StatsPart) + stats_counters(size) * sizeof(PeerCounters) + kPage - 1) / kPage *
           kPage;
}
constexpr std::size_t stats_index(int size, int peer, int path) {
    return static_cast<std::size_t>(peer < 0 ? size : peer) * SENNIT_PATH_END +
           static_cast<std::size_t>(path);
}
constexpr std::size_t stats_message_index(int size, unsigned kind) {
    return stats_counters(size) - kCountedMessages + kind;
}
constexpr std::size_t stats_rail_index(int size, unsigned rail) {
    return stats_message_index(size, 0) - kObservedRails + rail;
}

}  // namespace sennit::runtime
