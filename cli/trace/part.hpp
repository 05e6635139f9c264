// The trace of a rank that runs or has died: a mapped file, read here at any time. `sennit trace`
// uses it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "observe/records.hpp"

namespace sennit::cli {

// One file, mapped for reading. Throws std::runtime_error with a sentence if it is none.
class TracePart {
  public:
    explicit TracePart(const std::string &name);
    TracePart(const TracePart &) = delete;
    TracePart &operator=(const TracePart &) = delete;
    ~TracePart();

    const runtime::TraceFile &head() const { return *head_; }
    const std::string &name() const { return name_; }
    // The records that are whole, the oldest first; `dropped` were overwritten before.
    const std::vector<runtime::TraceRecord> &records() const { return records_; }
    std::uint64_t dropped() const { return dropped_; }

    // An operation or a wait in which a thread of the rank is, or was when it died.
    struct Open {
        std::string name;
        std::int64_t start_ns;
        std::uint64_t bytes;
        int peer;
        unsigned thread;
        std::uint32_t signal;  // that it waits for; 0: none
        std::uint64_t epoch;
        std::uint32_t events;
        std::string note;  // the program's text on its wait
    };
    std::vector<Open> open_operations() const;
    // The rank's latest events to each signal.
    struct Sent {
        int rank;
        std::uint32_t signal;
        std::uint64_t sent;     // the latest epoch, + 1; 0: none
        std::uint64_t refused;  // the epoch that was too early, + 1; 0: none since
        std::uint64_t owners;   // which the owner was in then
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

// The files that ranks left beside the text `name`, or `name` itself if it is one.
std::vector<std::string> part_names(const std::string &name);

// The trace of a job, from all that `names` and the files beside them tell: parts, and lines of
// texts. Of ranks that are in both the part counts. Throws std::runtime_error.
struct Trace {
    std::vector<std::unique_ptr<TracePart>> parts;
    std::vector<std::string> lines;     // events of texts, without commas
    std::vector<std::string> left_out;  // names of parts that belong to another job
};
Trace read_trace(const std::vector<std::string> &names);

// As Chrome trace JSON.
void write_trace(const Trace &trace, const std::string &name);

// In which calls the ranks are, one line each.
std::string where_text(const Trace &trace);

}  // namespace sennit::cli
