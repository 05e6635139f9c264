// SPDX-License-Identifier: BSD-3-Clause
// The observer of a rank, shared by the files of this folder. trace_file.cpp owns the trace,
// counters.cpp the counters, observer.cpp the rest.
#pragma once

#include "observe/observer.hpp"

namespace sennit::runtime {

inline constexpr std::size_t kFileNameBytes = 1024;
inline constexpr std::size_t kNameSlots = 1024;  // more than twice kTraceNames

struct StatsFile;

struct Observer {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // for names and records
    Rank *rank = nullptr;
    int size = 0;
    std::uint32_t number = 0;  // among all observers of the process, from 1
    std::atomic<std::uint32_t> threads{0};
    std::atomic<std::uint64_t> pieces{0};
    std::atomic<std::uint32_t> rail_pieces[kObservedRails] = {};

    // Null if nothing is traced. The mapping has the largest size of the file.
    TraceFile *trace = nullptr;
    std::size_t mapped_bytes = 0;
    std::uint64_t most_records = 0;
    int trace_fd = -1;
    bool one_file = false;  // all ranks write their text into one file
    bool is_written = false;
    bool is_ready = false;                      // start-up has succeeded
    char trace_name[kFileNameBytes] = "";       // of the text
    char part_name[kFileNameBytes] = "";        // of the mapped file
    std::atomic<std::uint64_t> open_places{0};  // bits of the places in use
    const char *name_keys[kNameSlots] = {};
    std::uint16_t name_values[kNameSlots] = {};

    PeerCounters *counters = nullptr;  // null if nothing is counted
    StatsFile *stats_file = nullptr;   // null if no file is written
    bool prints = false;               // the counters are logged at the end
    char stats_name[kFileNameBytes] = "";
};

// Makes a name of `pattern`: replaces each %r by the rank, appends `suffix`, and makes the path
// absolute, since the program may change its directory. False: too long.
bool file_name(const char *pattern, int rank, const char *suffix, char name[kFileNameBytes]);
bool names_rank(const char *pattern);

// trace_file.cpp. trace_name() and trace_append() need the lock.
void trace_open(Observer &observer, const char *pattern, std::int64_t started_ns);
std::uint16_t trace_name(Observer &observer, const char *name);
void trace_append(Observer &observer, const TraceRecord &record);
void trace_close(Observer &observer);

// counters.cpp
void counters_open(Observer &observer, const char *setting);
void counters_close(Observer &observer);

}  // namespace sennit::runtime
