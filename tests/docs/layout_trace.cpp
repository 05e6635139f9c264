// Files of traces and of counters.
#include "layout.hpp"
#include "observe/records.hpp"

void print_trace_layouts() {
    using namespace sennit::runtime;
    STRUCT(TraceName);
    FIELD(TraceName, text);
    STRUCT(OpenOperation);
    FIELD(OpenOperation, start_ns);
    FIELD(OpenOperation, bytes);
    FIELD(OpenOperation, peer);
    FIELD(OpenOperation, name);
    FIELD(OpenOperation, thread);
    FIELD(OpenOperation, in_use);
    FIELD(OpenOperation, signal);
    FIELD(OpenOperation, epoch);
    FIELD(OpenOperation, events);
    STRUCT(SentEvent);
    FIELD(SentEvent, sent);
    FIELD(SentEvent, refused);
    FIELD(SentEvent, owners);
    FIELD(SentEvent, rank);
    FIELD(SentEvent, handle);
    FIELD(SentEvent, in_use);
    STRUCT(TraceRecord);
    FIELD(TraceRecord, start_ns);
    FIELD(TraceRecord, duration_ns);
    FIELD(TraceRecord, bytes);
    FIELD(TraceRecord, peer);
    FIELD(TraceRecord, name);
    FIELD(TraceRecord, thread);
    FIELD(TraceRecord, path);
    FIELD(TraceRecord, rails);
    STRUCT(TraceFile);
    FIELD(TraceFile, magic);
    FIELD(TraceFile, version);
    FIELD(TraceFile, rank);
    FIELD(TraceFile, size);
    FIELD(TraceFile, process_id);
    FIELD(TraceFile, start_ns);
    FIELD(TraceFile, clock_offset_ns);
    FIELD(TraceFile, clock_error_ns);
    FIELD(TraceFile, capacity);
    FIELD(TraceFile, written);
    FIELD(TraceFile, names_used);
    FIELD(TraceFile, job_cookie);
    FIELD(TraceFile, host);
    FIELD(TraceFile, open);
    FIELD(TraceFile, names);
    FIELD(TraceFile, events);
    STRUCT(PeerCounters);
    FIELD(PeerCounters, operations);
    FIELD(PeerCounters, bytes);
    FIELD(PeerCounters, waits);
    FIELD(PeerCounters, wait_ns);
    STRUCT(StatsPart);
    FIELD(StatsPart, magic);
    FIELD(StatsPart, version);
    FIELD(StatsPart, rank);
    FIELD(StatsPart, size);
    FIELD(StatsPart, process_id);
    FIELD(StatsPart, job_cookie);
    FIELD(StatsPart, state);
    FIELD(StatsPart, host);
}
