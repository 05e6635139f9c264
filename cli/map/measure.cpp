#include "map/measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>

#include "bench_launch.hpp"
#include "bench_process.hpp"
#include "bench_table.hpp"
#include "doctor/finding.hpp"
#include "print_error.hpp"

namespace sennit::cli::map {

namespace {

using Clock = std::chrono::steady_clock;

// The most ranks of a measuring job: processes, and threads of one process.
constexpr std::size_t kRanks = 256;
constexpr std::size_t kThreads = 64;
// The part of the free memory that is used.
constexpr double kOfMemory = 0.6;
// In addition to the budget: a job needs time to start, and each size has some transfers at least.
constexpr double kJobSeconds = 600;

struct Part {
    std::string bench;  // map-pairs or map-at-once
    std::vector<std::string> ways;
    bool are_threads = false;
    double weight = 0;  // its share of the budget
};

bool has(const std::vector<std::string> &words, const char *word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> chosen(const Options &options, std::initializer_list<const char *> among) {
    std::vector<std::string> ways;
    for (const char *const way : among)
        if (has(options.ways, way)) ways.push_back(way);
    return ways;
}

// XPMEM needs a job of its own: the mechanism of registration is chosen once for a process.
std::vector<Part> parts_of(const Options &options) {
    std::vector<Part> parts;
    if (has(options.parts, "pairs")) {
        parts.push_back(
            {"map-pairs", chosen(options, {"mapped", "cma", "adopted", "threads"}), false, 6});
        if (has(options.ways, "xpmem")) parts.push_back({"map-pairs", {"xpmem"}, false, 1});
    }
    if (has(options.parts, "at-once")) {
        parts.push_back({"map-at-once", chosen(options, {"mapped", "cma", "adopted"}), false, 3});
        parts.push_back({"map-at-once", chosen(options, {"xpmem"}), false, 1});
        parts.push_back({"map-at-once", chosen(options, {"threads"}), true, 1});
    }
    std::erase_if(parts, [&](const Part &part) {
        const bool is_flag_alone = part.bench == "map-pairs" && has(options.ways, "flag");
        return part.ways.empty() && !is_flag_alone;
    });
    return parts;
}

// Shows progress and the remaining time on a terminal.
class Progress {
  public:
    Progress(double seconds, std::size_t pairs) : m_seconds(seconds), m_pairs(pairs) {}
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void see(const bench::MapFigure &figure) {
        if (figure.part == "at-once")
            m_what = fmt::format("{} transfers at once, {}", figure.transfers, figure.group);
        else {
            m_seen.insert({figure.from, figure.to});
            m_what = fmt::format("pair {} of {}", m_seen.size(), m_pairs);
        }
        if (!m_shows) return;
        const int left = static_cast<int>(std::max(0.0, std::ceil(m_seconds - elapsed())));
        print_error("\r\x1b[Ksennit map: {}, {}:{:02} of the budget left", m_what, left / 60,
                    left % 60);
        std::fflush(stderr);
    }
    void clear() const {
        if (m_shows) print_error("\r\x1b[K");
    }
    double elapsed() const { return std::chrono::duration<double>(Clock::now() - m_start).count(); }

  private:
    double m_seconds;
    std::size_t m_pairs;
    Clock::time_point m_start = Clock::now();
    std::set<std::pair<int, int>> m_seen;
    std::string m_what;
    bool m_shows = isatty(STDERR_FILENO) != 0;
};

Json json_of(const std::vector<Group> &groups) {
    Json list = Json::array();
    for (const Group &group : groups)
        list.push_back({{"name", group.name}, {"transfers", group.transfers}});
    return list;
}

// One measurement of a map, and the state that its jobs share.
class Measuring {
  public:
    Measuring(const Options &options, Figures *figures,
              const std::function<void(const Json &)> &on_line)
        : m_options(options),
          m_figures(figures),
          m_on_line(on_line),
          m_progress(options.seconds, pairs()) {}
    void run();

  private:
    std::size_t pairs() const;
    std::vector<int> processors() const;
    std::vector<std::uint64_t> fitting_sizes(const Part &part);
    std::vector<std::string> command(const Part &part, const std::vector<std::uint64_t> &sizes,
                                     double seconds) const;
    void run_part(const Part &part, double seconds);
    void leave_out(const std::string &what, const std::string &reason);
    bool is_left_out(const char *what) const;
    bool is_left_out_for(const std::string &reason) const;
    void take(const std::string &text);

    const Options &m_options;
    Figures *m_figures;
    const std::function<void(const Json &)> &m_on_line;
    Progress m_progress;
    Signals m_signals;  // keeps an interrupt between two jobs from ending the program
};

std::size_t Measuring::pairs() const {
    const std::size_t all = m_figures->machine.cores.size() * m_figures->machine.cores.size();
    return m_options.pairs > 0 ? std::min(all, m_options.pairs) : all;
}

std::vector<int> Measuring::processors() const {
    std::vector<int> processors;
    for (const Core &core : m_figures->machine.cores)
        processors.push_back(core.processor);
    return processors;
}

void Measuring::take(const std::string &text) {
    const Json line = Json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object()) {
        m_progress.clear();
        print_error("{}\n", text);  // output of another program: show it
    } else if (take_line(line, m_figures)) {
        m_on_line(line);
        if (!m_figures->all.empty()) m_progress.see(m_figures->all.back());
    }
}

void Measuring::leave_out(const std::string &what, const std::string &reason) {
    take(Json{{"map", "left-out"}, {"what", what}, {"reason", reason}}.dump());
}

bool Measuring::is_left_out(const char *what) const {
    return std::any_of(m_figures->left_out.begin(), m_figures->left_out.end(),
                       [&](const LeftOut &one) { return one.what == what; });
}

bool Measuring::is_left_out_for(const std::string &reason) const {
    return std::any_of(m_figures->left_out.begin(), m_figures->left_out.end(),
                       [&](const LeftOut &one) { return one.reason == reason; });
}

// Sizes that fit into memory. Each rank has one source for each way, and one destination.
std::vector<std::uint64_t> Measuring::fitting_sizes(const Part &part) {
    const bool at_once = part.bench == "map-at-once";
    const std::size_t owners = at_once ? m_figures->machine.cores.size() : 1;
    const double there = static_cast<double>(free_memory(System{})) * kOfMemory;
    std::vector<std::uint64_t> sizes = at_once ? m_options.sizes_at_once : m_options.sizes;
    std::erase_if(sizes, [&](std::uint64_t bytes) {
        const std::uint64_t pool =
            at_once ? std::max(2 * bytes, 2 * m_figures->machine.largest_cache + bytes) : bytes;
        const double wanted = static_cast<double>(pool * owners * (part.ways.size() + 1));
        if (wanted <= there) return false;
        leave_out(fmt::format("{}{}", format_bytes(bytes), at_once ? " at once" : ""),
                  fmt::format("it needs {:.1f} GB of memory, and {:.1f} are free", wanted / 1e9,
                              there / 1e9));
        return true;
    });
    return sizes;
}

std::vector<std::string> Measuring::command(const Part &part,
                                            const std::vector<std::uint64_t> &sizes,
                                            double seconds) const {
    const bool at_once = part.bench == "map-at-once";
    const Machine &machine = m_figures->machine;
    const std::size_t ranks = at_once ? machine.cores.size() : 2;
    const Json arguments{{"threads", part.are_threads},
                         {"cores", processors()},
                         {"ways", part.ways},
                         {"pairs", m_options.pairs},
                         {"setup_pairs", nearest_pairs(machine)},
                         {"flag", has(m_options.ways, "flag") && !has(part.ways, "xpmem")},
                         {"groups", json_of(groups_of(machine))},
                         {"pool_bytes", 2 * machine.largest_cache},
                         {"seconds", seconds}};
    const std::size_t rounds = at_once ? m_options.rounds_at_once : m_options.rounds;
    const std::string count = std::to_string(ranks);
    std::vector<std::string> words{own_launcher().path, "run", "-n", count, "--bind", "none"};
    if (part.are_threads) words.clear();
    words.insert(words.end(), {measuring_program("worker", "sennit"), part.bench, "--job", "sennit",
                               "--ranks", count, "--time-limit",
                               std::to_string(static_cast<int>(seconds + kJobSeconds) + 5),
                               "--bytes", fmt::format("{}", fmt::join(sizes, ",")), "--rounds",
                               std::to_string(rounds), "--map", arguments.dump()});
    return words;
}

void Measuring::run_part(const Part &part, double seconds) {
    const std::size_t most = part.are_threads ? kThreads : kRanks;
    if (part.bench == "map-at-once" && m_figures->machine.cores.size() > most) {
        leave_out(fmt::format("{}, at once", fmt::join(part.ways, ", ")),
                  fmt::format("more than {} cores: choose some by --cores", most));
        return;
    }
    const std::vector<std::uint64_t> sizes = fitting_sizes(part);
    if (sizes.empty()) return;
    const std::vector<std::string> words = command(part, sizes, seconds);
    if (m_options.show_commands) print_error("{}\n", fmt::join(words, " "));
    const ProcessResult result = run_process(m_signals, words, seconds + kJobSeconds,
                                             [this](const std::string &text) { take(text); });
    if (result.exit_code == 0) return;
    m_figures->end = "failed";
    leave_out(fmt::format("{} by {}", part.bench, fmt::join(part.ways, ", ")),
              result.timed_out ? "the job did not end in time"
                               : fmt::format("the job ended with code {}", result.exit_code));
}

void Measuring::run() {
    m_figures->end = "complete";
    const std::vector<Part> parts = parts_of(m_options);
    double weight = 0;
    for (const Part &part : parts)
        weight += part.weight;
    try {
        for (const Part &part : parts) {
            const double share = part.weight / weight;
            weight -= part.weight;
            if (has(part.ways, "xpmem") && is_left_out("xpmem")) continue;
            run_part(part, share * std::max(0.1, m_options.seconds - m_progress.elapsed()));
        }
        if (m_signals.was_stopped()) throw StoppedBySignal();
    } catch (const StoppedBySignal &) {
        m_figures->end = "interrupted";
        return;
    }
    std::set<std::pair<int, int>> measured;
    for (const bench::MapFigure &figure : m_figures->all)
        if (figure.part == "pair" || figure.part == "flag")
            measured.insert({figure.from, figure.to});
    const bool is_sample = has(m_options.parts, "pairs") && measured.size() < pairs();
    if (m_figures->end == "complete" && (is_sample || is_left_out_for(bench::kOverBudget)))
        m_figures->end = bench::kOverBudget;
}

}  // namespace

void measure(const Options &options, Figures *figures,
             const std::function<void(const Json &)> &on_line) {
    Measuring(options, figures, on_line).run();
}

}  // namespace sennit::cli::map
