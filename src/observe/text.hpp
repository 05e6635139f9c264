// SPDX-License-Identifier: BSD-3-Clause
// Writes trace records as events of the Chrome trace format, one per line. The library uses these
// functions when a rank ends, and `sennit trace` uses them for the files of ranks that have died.
// Each event begins with the comma that separates it from the event before, so trace viewers can
// read a file that ends after any line.
#pragma once

#include <cstdio>
#include <cstring>

#include "observe/records.hpp"

namespace sennit::runtime {

inline constexpr std::size_t kEventTextBytes = 512;  // room for a record; twice for rank_text()

// The category by which a viewer filters, such as "wait" or "rma". The first row whose text is a
// prefix of the name has the category.
inline const char *category_of(const char *name) {
    struct Row {
        const char *begin;
        const char *category;
    };
    static constexpr Row kRows[] = {
        {"wait", "wait"},
        {"progress", "progress"},
        {"sennit_atomic", "atomic"},
        {"sennit_accumulate", "atomic"},
        {"sennit_get_accumulate", "atomic"},
        {"sennit_lock", "lock"},
        {"sennit_put", "rma"},
        {"sennit_get", "rma"},
        {"sennit_wait", "completion"},
        {"sennit_test", "completion"},
        {"sennit_flush", "completion"},
        {"sennit_fence", "completion"},
        {"sennit_alloc", "memory"},
        {"sennit_free", "memory"},
        {"sennit_register", "memory"},
        {"sennit_deregister", "memory"},
        {"sennit_region", "memory"},
        {"sennit_signal", "signal"},
        {"sennit_block", "signal"},
        {"sennit_plan", "plan"},
        {"sennit_queue", "queue"},
        {"sennit_channel", "channel"},
        {"sennit_team", "team"},
        {"sennit_init", "team"},
    };
    for (const Row &row : kRows)
        if (std::strncmp(name, row.begin, std::strlen(row.begin)) == 0) return row.category;
    return "collective";
}

// Copies a text and replaces characters that are not allowed between quotes in JSON.
inline void quoted(const char *from, char *to, std::size_t bytes) {
    std::size_t used = 0;
    for (; *from != '\0' && used + 1 < bytes; ++from)
        to[used++] =
            *from == '"' || *from == '\\' || static_cast<unsigned char>(*from) < 0x20 ? '_' : *from;
    to[used] = '\0';
}

// Microseconds with three decimals, as the format requires.
struct Microseconds {
    explicit Microseconds(std::int64_t ns) {
        const bool below = ns < 0;
        const std::uint64_t size =
            below ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
        (void)std::snprintf(text, sizeof text, "%s%llu.%03u", below ? "-" : "",
                            static_cast<unsigned long long>(size / 1000),
                            static_cast<unsigned>(size % 1000));
    }
    char text[32];
};

// Writes the events that give a viewer the name, the order and the labels of a rank. Returns the
// length.
inline int rank_text(const TraceFile &file, std::uint64_t dropped, char *text, std::size_t bytes) {
    char host[sizeof file.host];
    quoted(file.host, host, sizeof host);
    return std::snprintf(
        text, bytes,
        ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":\"rank "
        "%d\"}}"
        ",\n{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"args\":{\"sort_"
        "index\":%d}}"
        ",\n{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"args\":{\"labels\":"
        "\"process %d on %s, clock right by %lld ns, events dropped: %llu\",\"job\":\"%016llx\"}}",
        file.rank, file.rank, file.rank, file.rank, file.rank, file.process_id, host,
        static_cast<long long>(file.clock_error_ns), static_cast<unsigned long long>(dropped),
        static_cast<unsigned long long>(file.job_cookie));
}

inline int record_text(const TraceFile &file, const TraceRecord &record, char *text,
                       std::size_t bytes) {
    char name[sizeof(TraceName)];
    quoted(file.names[record.name <= kTraceNames ? record.name : 0].text, name, sizeof name);
    const bool moves = std::strcmp(name, "progress") == 0;
    char rails[64] = "";  // ,"rails":[0,1]
    int used = 0;
    for (unsigned rail = 0; rail < kObservedRails; ++rail)
        if ((record.rails >> rail & 1) != 0)
            used += std::snprintf(rails + used, sizeof rails - static_cast<std::size_t>(used),
                                  "%s%u", used == 0 ? ",\"rails\":[" : ",", rail);
    if (used > 0)
        (void)std::snprintf(rails + used, sizeof rails - static_cast<std::size_t>(used), "]");
    return std::snprintf(
        text, bytes,
        ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%s,\"dur\":%s,"
        "\"pid\":%d,\"tid\":%u,"
        "\"args\":{\"peer\":%d,\"path\":\"%s\",\"%s\":%llu%s}}",
        name, category_of(name), Microseconds(record.start_ns + file.clock_offset_ns).text,
        Microseconds(record.duration_ns).text, file.rank, record.thread, record.peer,
        sennit_path_name(static_cast<sennit_path>(record.path)), moves ? "pieces" : "bytes",
        static_cast<unsigned long long>(record.bytes), rails);
}

}  // namespace sennit::runtime
