// `sennit stats`: the counters of the ranks of a running or ended job, from the file of
// SENNIT_STATS.
#include <fcntl.h>
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "commands.hpp"
#include "died.hpp"
#include "observe/records.hpp"
#include "print_error.hpp"
#include "usage.hpp"

namespace sennit::cli {
namespace {

using Json = nlohmann::ordered_json;
using runtime::PeerCounters;
using runtime::StatsPart;
using runtime::StatsState;

constexpr const char *kStatsHelp =
    R"(Shows for each rank, by peer and path: the number of operations, their bytes, the number of waits
inside them and the time of these waits. Operations are cut into pieces, which are shown by rail
(sennit info --peers shows the rails). Messages to other nodes are shown by purpose: tasks are
events and atomic operations; an answer may travel with another message. Ranks count only if
SENNIT_STATS is set. Loads and stores through plain pointers, also of channels, are not counted.

Examples
  SENNIT_STATS=job.stats sennit run -n 4 ./prog      the job
  sennit stats job.stats                             while it runs, and after it
  sennit stats --json job.stats                      for programs
  SENNIT_STATS=1 sennit run -n 4 ./prog              no file: each rank prints its counters at its end
  sennit stats job.*.stats                           of several nodes, with SENNIT_STATS=job.%r.stats

The file
  The counters are at most 0.1 s old. The file must be new, or a plain file of the same user; links
  are refused.

Exit code
  0; 1 if a file cannot be read or has no counters; 2 wrong usage.)";

struct StatsOptions {
    std::vector<std::string> files;
    bool json = false;
};

Json row_of(const PeerCounters &counters, int peer, int path) {
    // relaxed: counters; no other data depends on them.
    const auto load = [](const std::atomic<std::uint64_t> &counter) {
        return counter.load(std::memory_order_relaxed);
    };
    return {{"peer", peer == runtime::kNobody ? Json(nullptr) : Json(peer)},
            {"path", sennit_path_name(static_cast<sennit_path>(path))},
            {"operations", load(counters.operations)},
            {"bytes", load(counters.bytes)},
            {"waits", load(counters.waits)},
            {"wait_ns", load(counters.wait_ns)}};
}

// A rank that has not ended may have died. This is known only if it ran on this machine.
std::string state_of(const StatsPart &part) {
    if (part.state == StatsState::ended) return "ended";
    return has_died(part.host, part.process_id) ? "died" : "running";
}

Json rank_of(const StatsPart &part, const std::vector<PeerCounters> &counters) {
    Json rank = {{"rank", part.rank},          {"state", state_of(part)},
                 {"process", part.process_id}, {"host", part.host},
                 {"peers", Json::array()},     {"rails", Json::array()},
                 {"messages", Json::array()}};
    for (int peer = runtime::kNobody; peer < part.size; ++peer) {
        for (int path = SENNIT_PATH_NONE; path < SENNIT_PATH_END; ++path) {
            Json row = row_of(counters[runtime::stats_index(part.size, peer, path)], peer, path);
            if (row["operations"] != 0 || row["waits"] != 0)
                rank["peers"].push_back(std::move(row));
        }
    }
    for (unsigned rail = 0; rail < runtime::kObservedRails; ++rail) {
        const Json row = row_of(counters[runtime::stats_rail_index(part.size, rail)], 0, 0);
        if (row["operations"] != 0)
            rank["rails"].push_back(
                {{"rail", rail}, {"pieces", row["operations"]}, {"bytes", row["bytes"]}});
    }
    for (unsigned kind = 0; kind < runtime::kCountedMessages; ++kind) {
        const Json row = row_of(counters[runtime::stats_message_index(part.size, kind)], 0, 0);
        if (row["operations"] != 0)
            rank["messages"].push_back({{"kind", runtime::kCountedNames[kind]},
                                        {"count", row["operations"]},
                                        {"bytes", row["bytes"]}});
    }
    return rank;
}

bool read_at(int file, std::size_t at, void *to, std::size_t bytes) {
    return pread(file, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

// Adds the ranks of one file to `ranks`. Throws std::runtime_error.
void read_stats(const std::string &name, Json &ranks) {
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw std::runtime_error(fmt::format("{}: {}", name, std::strerror(errno)));
    struct stat now {};
    const bool known = fstat(file, &now) == 0;
    const auto bytes = static_cast<std::size_t>(known ? now.st_size : 0);
    const std::size_t before = ranks.size();
    // Parts begin at multiples of 64 KiB; missing parts are holes.
    constexpr std::size_t kStep = runtime::stats_part_bytes(0);
    StatsPart part{};
    for (std::size_t at = 0; read_at(file, at, &part, sizeof part); at += kStep) {
        if (part.magic != runtime::kStatsMagic || part.version != runtime::kTraceVersion ||
            part.state == StatsState::none || part.size < 1)
            continue;
        const std::size_t count = runtime::stats_counters(part.size);
        if (count > bytes / sizeof(PeerCounters)) continue;
        std::vector<PeerCounters> counters(count);
        part.host[sizeof part.host - 1] = '\0';
        if (read_at(file, at + sizeof part, counters.data(), count * sizeof(PeerCounters)))
            ranks.push_back(rank_of(part, counters));
    }
    (void)close(file);
    if (ranks.size() == before) throw std::runtime_error(name + " has no counters of ranks");
}

std::string table_of(const Json &ranks) {
    std::string text;
    for (const Json &rank : ranks) {
        text += fmt::format("rank {} ({}, process {} on {})\n", rank["rank"].get<int>(),
                            rank["state"].get<std::string>(), rank["process"].get<int>(),
                            rank["host"].get<std::string>());
        text += fmt::format("  {:<8} {:<8} {:>12} {:>16} {:>10} {:>12}\n", "peer", "path",
                            "operations", "bytes", "waits", "waited");
        for (const Json &row : rank["peers"]) {
            const std::string peer =
                row["peer"].is_null() ? "several" : std::to_string(row["peer"].get<int>());
            const auto path = row["path"].get<std::string>();
            text += fmt::format(
                "  {:<8} {:<8} {:>12} {:>16} {:>10} {:>10.6f} s\n", peer,
                row["peer"].is_null() ? "" : path, row["operations"].get<std::uint64_t>(),
                row["bytes"].get<std::uint64_t>(), row["waits"].get<std::uint64_t>(),
                static_cast<double>(row["wait_ns"].get<std::uint64_t>()) * 1e-9);
        }
        for (const Json &row : rank["rails"])
            text +=
                fmt::format("  {:<8} {:<8} {:>12} {:>16}\n", "by rail", row["rail"].get<int>(),
                            row["pieces"].get<std::uint64_t>(), row["bytes"].get<std::uint64_t>());
        for (const Json &row : rank["messages"])
            text +=
                fmt::format("  {:<19} {:>10} {:>16}\n", row["kind"].get<std::string>(),
                            row["count"].get<std::uint64_t>(), row["bytes"].get<std::uint64_t>());
    }
    return text;
}

int stats(const StatsOptions &options) {
    Json ranks = Json::array();
    try {
        for (const std::string &name : options.files)
            read_stats(name, ranks);
    } catch (const std::exception &error) {
        print_error("sennit stats: {}\n", error.what());
        return 1;
    }
    std::sort(ranks.begin(), ranks.end(), [](const Json &a, const Json &b) {
        return a["rank"].get<int>() < b["rank"].get<int>();
    });
    const std::string text =
        options.json
            ? Json{{"ranks", ranks}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
            : table_of(ranks);
    (void)std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

void add_stats_command(CLI::App &app, int &exit_code) {
    auto options = std::make_shared<StatsOptions>();
    CLI::App *command =
        app.add_subcommand("stats", "Show what the ranks of a job did, by peer and path");
    command->footer(kStatsHelp);
    command->formatter(std::make_shared<UsageFormatter>("[--json] FILE..."));
    command->add_option("files", options->files, "the file of SENNIT_STATS")
        ->type_name("FILE")
        ->required();
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &exit_code] { exit_code = stats(*options); });
}

}  // namespace sennit::cli
