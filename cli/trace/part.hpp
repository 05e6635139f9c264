// The trace of a rank that runs or has died. It is a file that the rank maps, and can be read at
// any time. `sennit trace` uses this.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "observe/records.hpp"

namespace sennit::cli {

// One file, mapped for reading. Throws std::runtime_error with a sentence if it is no such file.
class TracePart {
  public:
    explicit TracePart(const std::string &name);
    TracePart(const TracePart &) = delete;
    TracePart &operator=(const TracePart &) = delete;
    ~TracePart();

    const runtime::TraceFile &head() const { return *head_; }
    const std::string &name() const { return name_; }
    // The complete records, oldest first. dropped() earlier ones were overwritten.
    const std::vector<runtime::TraceRecord> &records() const { return records_; }
    std::uint64_t dropped() const { return dropped_; }

    // An operation or a wait of a thread, now or when the rank died.
    struct Open {
        std::string name;
        std::int64_t start_ns;
        std::uint64_t bytes;
        int peer;
        unsigned thread;
        std::uint32_t signal;  // awaited signal; 0: none
        std::uint64_t epoch;
        std::uint32_t events;
        std::string note;  // the program's text of sennit_trace_note
    };
    std::vector<Open> open_operations() const;
    // The program's text outside of operations; "": none.
    std::string outside_note() const;
    // The name of the operation that ended last, and its end; "": none is recorded.
    struct Ended {
        std::string name;
        std::int64_t end_ns;
    };
    Ended last_ended() const;
    // The rank's latest events to each signal.
    struct Sent {
        int rank;
        std::uint32_t signal;
        std::uint64_t sent;     // the latest epoch, + 1; 0: none
        std::uint64_t refused;  // the latest epoch if it was refused as too early, + 1; else 0
        std::uint64_t owners;   // the owner's epoch when it refused
    };
    std::vector<Sent> sent_events() const;

  private:
    void read_part();

    std::string name_;
    std::size_t bytes_ = 0;
    const runtime::TraceFile *head_ = nullptr;
    std::vector<runtime::TraceRecord> records_;
    std::uint64_t dropped_ = 0;
};

// The parts that ranks left beside the text `name`, or `name` itself if it is a part.
std::vector<std::string> part_names(const std::string &name);

// The trace of a job, from `names` and the files beside them: parts, and lines of texts. If a rank
// is in both, its part is used. Throws std::runtime_error.
struct Trace {
    std::vector<std::unique_ptr<TracePart>> parts;
    std::vector<std::string> lines;     // events of texts, without commas
    std::vector<std::string> left_out;  // names of parts that belong to another job
};
Trace read_trace(const std::vector<std::string> &names);

// Writes the trace as Chrome trace JSON.
void write_trace(const Trace &trace, const std::string &name);

// The current call of each rank, one line each.
std::string where_text(const Trace &trace);

}  // namespace sennit::cli
