// Makes one trace from the files of a job's ranks: texts, which ranks write when they end, and
// parts, which ranks map while they run (docs/design/trace.md).
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

#include "died.hpp"
#include "observe/text.hpp"
#include "trace/part.hpp"
#include "units.hpp"

namespace sennit::cli {
namespace {

using Json = nlohmann::json;

// The events of a text, by rank. The last line may be incomplete.
struct Lines {
    std::map<int, std::vector<std::string>> of_rank;
    std::set<std::string> jobs;
};

// A hint for a name with %r, as in SENNIT_TRACE with one file for each rank.
std::string hint(const std::string &name) {
    const std::size_t place = name.find("%r");
    return place == std::string::npos ? "" : fmt::format("; use {}*", name.substr(0, place));
}

void read_lines(const std::string &name, Lines *lines) {
    std::ifstream file(name);
    if (!file) {
        const int error = errno;
        throw std::runtime_error(fmt::format("{}: {}{}", name, std::strerror(error), hint(name)));
    }
    std::string line;
    if (!std::getline(file, line) || line != "[")
        throw std::runtime_error(name + " is no trace that Sennit wrote");
    while (std::getline(file, line)) {
        if (!line.empty() && line.back() == ',') line.pop_back();
        const Json event = Json::parse(line, nullptr, false);
        if (!event.is_object() || event.value("name", "") == "sennit") continue;
        if (event.contains("args") && event["args"].contains("job"))
            lines->jobs.insert(event["args"]["job"].get<std::string>());
        lines->of_rank[event.value("pid", 0)].push_back(line);
    }
}

std::string job_of(const TracePart &part) {
    return fmt::format("{:016x}", part.head().job_cookie);
}

// The job to show: the job of the texts, because each job overwrites the text of an earlier job.
// Without texts, the job of the latest part.
std::string latest_job(const Lines &lines, const std::vector<std::unique_ptr<TracePart>> &parts) {
    if (!lines.jobs.empty()) return *lines.jobs.begin();
    std::string job;
    std::int64_t latest = INT64_MIN;
    for (const auto &part : parts) {
        if (part->head().start_ns < latest) continue;
        latest = part->head().start_ns;
        job = job_of(*part);
    }
    return job;
}

// CLOCK_MONOTONIC, the clock of the ranks of this machine.
std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string open_text(const TracePart &part, const TracePart::Open &open) {
    std::array<char, sizeof(runtime::TraceName)> name{};
    runtime::quoted(open.name.c_str(), name.data(), name.size());
    return fmt::format(
        ",\n{{\"name\":\"{}\",\"cat\":\"{}\",\"ph\":\"B\",\"ts\":{},\"pid\":{},\"tid\":{},\"args\":"
        "{{\"peer\":{},\"bytes\":{},\"unfinished\":true}}}}",
        name.data(), runtime::category_of(name.data()),
        runtime::Microseconds(open.start_ns + part.head().clock_offset_ns).text, part.head().rank,
        open.thread, open.peer, open.bytes);
}

void write_part(const TracePart &part, std::ofstream &out) {
    std::array<char, 2 * runtime::kEventTextBytes> text{};
    (void)runtime::rank_text(part.head(), part.dropped(), text.data(), text.size());
    out << text.data();
    for (const runtime::TraceRecord &record : part.records()) {
        (void)runtime::record_text(part.head(), record, text.data(), text.size());
        out << text.data();
    }
    for (const TracePart::Open &open : part.open_operations())
        out << open_text(part, open);
}

}  // namespace

Trace read_trace(const std::vector<std::string> &names) {
    Trace trace;
    Lines lines;
    std::vector<std::unique_ptr<TracePart>> parts;
    std::set<std::string> read;  // a part may be named, and also be found beside a text
    for (const std::string &name : names) {
        const std::vector<std::string> beside = part_names(name);
        const bool is_part = beside.size() == 1 && beside[0] == name;
        if (!is_part && (beside.empty() || access(name.c_str(), F_OK) == 0))
            read_lines(name, &lines);
        for (const std::string &part : beside)
            if (read.insert(std::filesystem::path(part).lexically_normal().string()).second)
                parts.push_back(std::make_unique<TracePart>(part));
    }
    const std::string job = latest_job(lines, parts);
    for (auto &part : parts) {
        if (job_of(*part) != job) {
            trace.left_out.push_back(part->name());
            continue;
        }
        lines.of_rank.erase(part->head().rank);
        trace.parts.push_back(std::move(part));
    }
    for (const auto &[rank, events] : lines.of_rank)
        trace.lines.insert(trace.lines.end(), events.begin(), events.end());
    return trace;
}

void write_trace(const Trace &trace, const std::string &name) {
    // The output may have the name of an input, so write another file first.
    const std::string temporary = fmt::format("{}.{}.tmp", name, getpid());
    {
        std::ofstream out(temporary);
        out << "[\n"
            << fmt::format(
                   "{{\"name\":\"sennit\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":{{\"version\":"
                   "\"{}\"}}}}",
                   sennit_version());
        for (const auto &part : trace.parts)
            write_part(*part, out);
        for (const std::string &line : trace.lines)
            out << ",\n" << line;
        out << "\n]\n";
        out.close();
        if (out && std::rename(temporary.c_str(), name.c_str()) == 0) return;
    }
    const int error = errno;
    (void)std::remove(temporary.c_str());
    throw std::runtime_error(fmt::format("{}: {}", name, std::strerror(error)));
}

namespace {

// "rank 1", "ranks 1, 2".
std::string ranks_text(const std::vector<int> &ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (const int &rank : ranks)
        text += fmt::format("{}{}", &rank == ranks.data() ? "" : ", ", rank);
    return text;
}

// Lists the ranks whose event of the awaited epoch is missing. Only ranks that have sent to this
// signal before are known.
std::string awaited_text(const Trace &trace, int owner, const TracePart::Open &waits) {
    std::string missing;
    std::vector<int> senders;
    int count = 0;
    for (const auto &part : trace.parts) {
        for (const TracePart::Sent &one : part->sent_events()) {
            if (one.rank != owner || one.signal != waits.signal) continue;
            if (one.sent > waits.epoch) {
                senders.push_back(part->head().rank);
                continue;
            }
            missing += fmt::format("{} rank {}", missing.empty() ? "" : ",", part->head().rank);
            ++count;
            if (one.sent != 0) missing += fmt::format(" (its last was of epoch {})", one.sent - 1);
        }
    }
    const std::string from =
        count == 1         ? "missing is one from"
        : count > 1        ? "missing: one each from"
        : !senders.empty() ? fmt::format(
                                 "no rank that has sent to it ({}) is behind: another rank "
                                 "has sent nothing, it expects more events than are sent, "
                                 "or its senders skipped this epoch",
                                 ranks_text(senders))
                           : "no rank that runs has sent to it (events of SENNIT_EPOCH_CURRENT are "
                             "not recorded)";
    return fmt::format("  waits for signal {:#x}, which expects {} of epoch {}: {}{}\n",
                       waits.signal, counted(waits.events, "event"), waits.epoch, from, missing);
}

std::string refused_text(const TracePart::Sent &one) {
    return fmt::format(
        "  its event of epoch {} for signal {:#x} of rank {} was too early: rank {} has not reset "
        "epoch {} (by sennit_signal_reset, or by the next start of its message plan)\n",
        one.refused - 1, one.signal, one.rank, one.rank, one.owners);
}

// The line of a rank that is in no call. `is_alive`: the rank runs on this host.
std::string between_text(const TracePart &part, bool is_alive) {
    const TracePart::Ended last = part.last_ended();
    std::string text = " in no call";
    if (is_alive && !last.name.empty() && now_ns() > last.end_ns)
        text += fmt::format(" for {:.3f} s", static_cast<double>(now_ns() - last.end_ns) / 1e9);
    if (!last.name.empty()) text += fmt::format(", after {}", last.name);
    return text;
}

}  // namespace

std::string where_text(const Trace &trace) {
    std::string text;
    for (const auto &part : trace.parts) {
        const runtime::TraceFile &head = part->head();
        const ProcessState state = process_state(head.host, head.process_id);
        const bool is_alive = state == ProcessState::running || state == ProcessState::stopped;
        const bool is_stopped = state == ProcessState::stopped;
        text += fmt::format("rank {} (process {} on {}){}", head.rank, head.process_id, head.host,
                            state == ProcessState::dead ? " died:"
                            : is_stopped                ? " is stopped (by a signal or a debugger):"
                                                        : ":");
        const std::vector<TracePart::Open> open = part->open_operations();
        if (open.empty()) text += between_text(*part, is_alive);
        for (const TracePart::Open &one : open) {
            text += fmt::format("{} {}", &one == &open.front() ? "" : ";", one.name);
            if (one.peer >= 0) text += fmt::format(" with rank {}", one.peer);
            if (is_alive && now_ns() > one.start_ns)
                text += fmt::format(" for {:.3f} s",
                                    static_cast<double>(now_ns() - one.start_ns) / 1e9);
            if (one.thread != 0) text += fmt::format(" (thread {})", one.thread);
        }
        text += "\n";
        // A stopped rank may wait for nothing: its events may all be there.
        for (const TracePart::Open &one : open)
            if (one.signal != 0 && !is_stopped) text += awaited_text(trace, head.rank, one);
        for (const TracePart::Open &one : open)
            if (!one.note.empty()) text += fmt::format("  {}\n", one.note);
        if (const std::string note = part->outside_note(); !note.empty())
            text += fmt::format("  {}\n", note);
        for (const TracePart::Sent &one : part->sent_events())
            if (one.refused != 0) text += refused_text(one);
    }
    return text;
}

}  // namespace sennit::cli
