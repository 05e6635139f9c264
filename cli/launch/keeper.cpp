// The keeper: parent and subreaper of all ranks. Starts them, forwards their output, serves their
// bootstrap, waits for them, and ends the processes that are left. Called by the front in a forked
// child.
//
// Invariants: all signals are blocked here (the front sends those for the ranks as bytes); the loop
// blocks only in epoll; keep_job() returns only when no descendant is left, or when one could not
// be killed, which it reports.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <memory>
#include <unordered_map>

#include "launch/control.hpp"
#include "launch/descendants.hpp"
#include "launch/files.hpp"
#include "launch/foreign_program.hpp"
#include "launch/job.hpp"
#include "launch/output.hpp"
#include "launch/poller.hpp"
#include "launch/spawn.hpp"
#include "units.hpp"

namespace sennit::cli {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// On a terminal a prompt without a newline is shown after this time.
constexpr std::int64_t kPromptNs = 100'000'000;
// While no rank has connected, the keeper looks for libraries of an MPI after each such pause. The
// pause is at least kPausePerCheck times as long as the last check, which takes long on a node with
// many processes.
constexpr std::int64_t kCheckPauseNs = 100'000'000;
constexpr std::int64_t kPausePerCheck = 100;
// The time limit for the last output if the front has died or the user has interrupted twice.
constexpr std::int64_t kLastOutputNs = 200'000'000;

std::int64_t now_ns() {
    timespec t{};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string how_it_ended(int status, bool is_unfinished) {
    if (status == 0 && is_unfinished)
        return "ended without sennit_finalize, which counts as a failure";
    if (!WIFSIGNALED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
    return fmt::format("was killed by signal {} ({}{})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
}

// A rank that ends with 0 without sennit_finalize has failed, as with mpirun: some code, such as
// `stop` in Fortran, has ended this rank alone.
int exit_code_of(int status, bool is_unfinished) {
    if (status == 0 && is_unfinished) return kExitUnfinished;
    return WIFSIGNALED(status) ? kExitSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

class Keeper {
  public:
    Keeper(const Job &job, int front_fd)
        : job_(job),
          front_fd_(front_fd),
          sinks_{Sink(STDOUT_FILENO), Sink(STDERR_FILENO)},
          control_(job.cookie, job.ranks, poller_),
          shows_prompts_(job.at_terminal) {}

    int run();

  private:
    struct Stream {
        int fd;
        bool watched;
        LineKeeper lines;
        std::int64_t partial_since_ns;
    };
    struct RankProcess {
        pid_t process = -1;
        int pid_fd = -1;  // readable when the process has ended
        bool ended = false;
    };

    // Starting
    bool start_all();
    bool start_rank(const SpawnPlan &plan, int rank, int input_fd);
    bool open_stream(int rank, Source source, int &write_end);

    // The loop
    void loop();
    int time_to_wait_ms() const;
    void dispatch(const Event &event);
    void check_times();

    // Output
    Stream &stream(Source source, int rank) {
        return streams_[source == Source::kError][static_cast<std::size_t>(rank)];
    }
    void read_stream(Source source, int rank);
    void close_stream(Stream &from);
    void flush_sinks();
    void check_sink(int index);
    void show_prompt();
    void write_last_output();
    template <typename... Parts>
    void say(fmt::format_string<Parts...> format, Parts &&...parts) {
        const std::string message =
            "sennit run: " + fmt::format(format, std::forward<Parts>(parts)...) + "\n";
        sinks_[1].append(job_.by_oshrun ? as_oshrun(message) : message);
    }

    // Ending
    void look_for_foreign_libraries();
    void check_for_lone_ranks();
    void collect();
    void collect_in_order();
    void rank_ended(int rank, int status);
    void begin_ending(std::int64_t to_kill_ns);
    void signal_groups(int signal);
    void front_ready();
    void hand_on_signal(int signal);

    const Job &job_;
    int front_fd_;
    int children_fd_ = -1;
    Poller poller_;
    bool has_pid_fds_ = true;
    Poller ends_;  // the ranks' pidfds: the kernel lists them in the order in which they end
    Sink sinks_[2];
    bool sink_watched_[2] = {false, false};
    bool sink_failed_[2] = {false, false};  // and the failure was reported
    Control control_;
    bool shows_prompts_;  // prompts of rank 0, while it runs
    std::vector<RankProcess> ranks_;
    std::vector<Stream> streams_[2];
    std::unordered_map<pid_t, int> rank_of_;
    int alive_ = 0;

    bool no_descendants_ = false;
    bool front_lost_ = false;
    bool ending_ = false;     // SIGTERM was sent
    int interrupted_by_ = 0;  // the first ending signal from the user
    bool abandon_output_ = false;
    int exit_code_ = 0;  // of the first failure
    std::int64_t timeout_at_ns_ = kNever;
    std::int64_t leftover_at_ns_ = kNever;
    std::int64_t look_at_ns_ = kNever;
    ForeignProgram seen_;  // libraries in a process of rank 0
    std::int64_t kill_at_ns_ = kNever;
};

bool Keeper::open_stream(int rank, Source source, int &write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    write_end = ends[1];
    const bool is_error = source == Source::kError;
    const std::string tag = job_.tag ? fmt::format("[{}] ", rank) : "";
    streams_[is_error].push_back({ends[0], true, LineKeeper(sinks_[is_error], tag), 0});
    return poller_.add(ends[0], source, rank, EPOLLIN);
}

bool Keeper::start_rank(const SpawnPlan &plan, int rank, int input_fd) {
    RankFiles files{input_fd, -1, -1, -1};
    const char *step = "pipe";
    pid_t process = -1;
    if (open_stream(rank, Source::kOutput, files.standard_output) &&
        open_stream(rank, Source::kError, files.standard_error)) {
        step = "socketpair";
        files.control = control_.open_rank(rank);
        if (files.control >= 0) process = spawn_rank(plan, rank, files, step);
    }
    const int error = errno;
    for (const int fd : {files.standard_output, files.standard_error, files.control}) {
        if (fd >= 0) close(fd);
    }
    if (process > 0) {
        // If there is no pidfd, waitpid() finds the ended rank, but not in the order of the ends.
        const int pid_fd =
            has_pid_fds_ ? static_cast<int>(syscall(SYS_pidfd_open, process, 0)) : -1;
        if (pid_fd >= 0) (void)ends_.add(pid_fd, Source::kEnd, rank, EPOLLIN);
        ranks_.push_back({process, pid_fd, false});
        rank_of_[process] = rank;
        ++alive_;
        return true;
    }
    const bool from_exec = std::strcmp(step, "exec") == 0;
    if (from_exec && (error == ENOENT || error == ENOTDIR)) {
        // find_program() has found the file, so ENOENT means its interpreter.
        say("cannot start {}: its interpreter or loader is missing", job_.program);
        exit_code_ = kExitNotFound;
    } else if (from_exec) {
        say("cannot start {}: {}", job_.program, std::strerror(error));
        exit_code_ = kExitNotExecutable;
    } else {
        say("cannot start rank {} of {}: {}: {}", rank, job_.ranks, step, std::strerror(error));
        exit_code_ = kExitInternal;
    }
    return false;
}

bool Keeper::start_all() {
    rlimit limit{};
    const bool limit_known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
    SpawnPlan plan{&job_, rank_environment(job_.set_variables), std::nullopt};
    if (limit_known) plan.descriptors = limit;
    limit.rlim_cur = limit.rlim_max;
    if (limit_known) (void)setrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t needed = files_of_keeper(static_cast<std::uint64_t>(job_.ranks));
    has_pid_fds_ = !limit_known || limit.rlim_max == RLIM_INFINITY ||
                   limit.rlim_max >= needed + static_cast<rlim_t>(job_.ranks);
    if (limit_known && limit.rlim_max != RLIM_INFINITY && limit.rlim_max < needed) {
        say("{} need{} {} open files in this process, and its limit (ulimit -Hn) is {}",
            counted(job_.ranks, "rank"), job_.ranks == 1 ? "s" : "", needed, limit.rlim_max);
        exit_code_ = kExitInternal;
        return false;
    }

    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd < 0) {
        say("cannot open /dev/null, the standard input of ranks other than 0: {}",
            std::strerror(errno));
        exit_code_ = kExitInternal;
        return false;
    }
    bool started = true;
    for (int rank = 0; started && rank < job_.ranks; ++rank) {
        started = start_rank(plan, rank, rank == 0 ? job_.input_fd : null_fd);
    }
    if (job_.at_terminal) close(job_.input_fd);
    close(null_fd);
    return started;
}

int Keeper::run() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    children_fd_ = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (children_fd_ < 0 || !poller_.add(children_fd_, Source::kChildren, 0, EPOLLIN) ||
        !poller_.add(front_fd_, Source::kFront, 0, EPOLLIN)) {
        say("cannot watch the ranks: {}", std::strerror(errno));
        exit_code_ = kExitInternal;
    } else if (start_all()) {
        if (job_.timeout_seconds) {
            timeout_at_ns_ = now_ns() + static_cast<std::int64_t>(*job_.timeout_seconds * 1e9);
        }
        if (job_.ranks > 1) look_at_ns_ = now_ns() + kCheckPauseNs;
        loop();
    }
    if (!no_descendants_) signal_groups(SIGKILL);
    if (!no_descendants_ && !end_descendants(kKillToGiveUpNs)) {
        for (const pid_t process : descendants())
            say("process {} could not be ended", process);
    }
    check_for_lone_ranks();
    write_last_output();
    return exit_code_;
}

// Only rank 0 is checked: the ranks of a job usually run the same program.
void Keeper::look_for_foreign_libraries() {
    const std::int64_t began = now_ns();
    look_at_ns_ = kNever;
    if (!control_.has_no_claim() || ranks_[0].ended) return;
    std::vector<pid_t> processes = descendants(ranks_[0].process);
    processes.push_back(ranks_[0].process);
    ForeignProgram now;
    for (const pid_t process : processes) {
        now = foreign_libraries_in(process);
        if (now.any()) break;
    }
    // Forget the MPI of a helper process that has ended.
    if (now.any() || seen_.openshmem.empty()) seen_ = now;
    if (!seen_.openshmem.empty()) return;
    const std::int64_t end = now_ns();
    look_at_ns_ = end + std::max(kCheckPauseNs, kPausePerCheck * (end - began));
}

// An MPI or another OpenSHMEM that was not started by its own launcher makes each process a job of
// one rank. These jobs write the same files without an error, or fail without a reason.
void Keeper::check_for_lone_ranks() {
    if (job_.ranks == 1 || !control_.has_no_claim()) return;
    const ForeignProgram linked = foreign_libraries_of(job_.program);
    const ForeignProgram &found = linked.any() ? linked : seen_;
    const bool has_openshmem = !found.openshmem.empty();
    // If a program of an MPI fails, it reports the reason itself.
    const bool has_reason = exit_code_ != 0 && (!has_openshmem || interrupted_by_ != 0);
    if (!found.any() || has_reason) return;
    if (exit_code_ == 0) exit_code_ = kExitUsage;
    say("{}", lone_ranks_text(job_.program, job_.ranks, found, linked.any()));
}

void Keeper::loop() {
    while (!no_descendants_ && now_ns() < kill_at_ns_) {
        flush_sinks();
        for (const Event &event : poller_.wait(time_to_wait_ms()))
            dispatch(event);
        check_times();
    }
    if (!no_descendants_ && interrupted_by_ != 0 && exit_code_ == 0) {
        exit_code_ = kExitSignalBase + interrupted_by_;
    }
}

int Keeper::time_to_wait_ms() const {
    std::int64_t next = std::min({timeout_at_ns_, leftover_at_ns_, kill_at_ns_, look_at_ns_});
    if (shows_prompts_ && streams_[0][0].lines.has_partial()) {
        next = std::min(next, streams_[0][0].partial_since_ns + kPromptNs);
    }
    if (next == kNever) return -1;
    const std::int64_t left_ms = (next - now_ns() + 999'999) / 1'000'000;
    return static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 3'600'000));
}

void Keeper::dispatch(const Event &event) {
    switch (event.source) {
        case Source::kChildren:
            collect();
            break;
        case Source::kFront:
            front_ready();
            break;
        case Source::kOutput:
        case Source::kError:
            read_stream(event.source, event.index);
            break;
        case Source::kControl:
            control_.control_ready(event.index);
            break;
        case Source::kConnection:
            control_.connection_ready(event.index);
            break;
        case Source::kEnd:   // handled with kChildren
        case Source::kSink:  // flushed at the beginning of the loop
            break;
    }
}

void Keeper::check_times() {
    const std::int64_t now = now_ns();
    if (now >= timeout_at_ns_) {
        timeout_at_ns_ = kNever;
        if (alive_ > 0 && !ending_) {
            exit_code_ = kExitTimeout;
            say("the job has run for the {} s that --timeout allows; ending its {}",
                *job_.timeout_seconds, counted(alive_, "rank"));
            begin_ending(kTermToKillNs);
        }
    }
    if (now >= leftover_at_ns_) {
        leftover_at_ns_ = kNever;
        begin_ending(kTermToKillNs - kLeftoverGraceNs);
    }
    if (now >= look_at_ns_) look_for_foreign_libraries();
    if (shows_prompts_) show_prompt();
}

void Keeper::read_stream(Source source, int rank) {
    Stream &from = stream(source, rank);
    static char buffer[65536];
    // One buffer at a time, so that a rank that never stops writing does not block the loop.
    if (from.fd < 0) return;
    const ssize_t bytes = read(from.fd, buffer, sizeof buffer);
    if (bytes > 0) {
        from.lines.take(std::string_view(buffer, static_cast<std::size_t>(bytes)));
        from.partial_since_ns = shows_prompts_ ? now_ns() : 0;
    } else if (bytes == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_stream(from);
    }
}

void Keeper::close_stream(Stream &from) {
    if (from.fd < 0) return;
    from.lines.flush_partial();
    if (from.watched) poller_.remove(from.fd);
    close(from.fd);
    from.fd = -1;
}

// Writes as much as the sinks accept, and stops reading the ranks while a sink is full.
void Keeper::flush_sinks() {
    for (int i = 0; i < 2; ++i) {
        Sink &sink = sinks_[i];
        sink.flush();
        check_sink(i);
        const bool watch_sink = !sink.empty();
        if (watch_sink != sink_watched_[i]) {
            if (!watch_sink) poller_.remove(sink.fd());
            if (watch_sink && !poller_.add(sink.fd(), Source::kSink, i, EPOLLOUT)) continue;
            sink_watched_[i] = watch_sink;
        }
        const Source source = i == 1 ? Source::kError : Source::kOutput;
        for (std::size_t rank = 0; rank < streams_[i].size(); ++rank) {
            Stream &from = streams_[i][rank];
            if (from.fd < 0) continue;
            // The next write of the rank then raises SIGPIPE, or fails with EPIPE.
            if (sink.broken()) close_stream(from);
            const bool watch = !sink.full();
            if (from.fd < 0 || watch == from.watched) continue;
            if (watch) (void)poller_.add(from.fd, source, static_cast<int>(rank), EPOLLIN);
            if (!watch) poller_.remove(from.fd);
            from.watched = watch;
        }
    }
}

// Reports output that cannot be written, for example to a full disk: the job has failed. If the
// reader has closed the pipe, nothing is reported, and the ranks end by SIGPIPE.
void Keeper::check_sink(int index) {
    const int error = sinks_[index].error();
    if (error == 0 || error == EPIPE || sink_failed_[index]) return;
    sink_failed_[index] = true;
    if (exit_code_ == 0) exit_code_ = kExitInternal;
    say("cannot write the {} of the ranks: {}{}", index == 1 ? "standard error" : "standard output",
        std::strerror(error), alive_ > 0 && !ending_ ? "; ending the ranks" : "");
    begin_ending(kTermToKillNs);
}

void Keeper::show_prompt() {
    Stream &from = streams_[0][0];
    if (from.lines.has_partial() && now_ns() - from.partial_since_ns >= kPromptNs)
        from.lines.flush_partial();
}

// Writes the output that is still in the pipes when no descendant is left.
void Keeper::write_last_output() {
    for (auto &streams : streams_) {
        for (Stream &from : streams) {
            static char buffer[65536];
            for (ssize_t bytes = 1; from.fd >= 0 && bytes > 0 && !abandon_output_;) {
                bytes = read(from.fd, buffer, sizeof buffer);
                if (bytes > 0) {
                    from.lines.take(std::string_view(buffer, static_cast<std::size_t>(bytes)));
                }
            }
            close_stream(from);
        }
    }
    const std::int64_t limit_ns =
        front_lost_ || abandon_output_ ? now_ns() + kLastOutputNs : kNever;
    for (;;) {
        flush_sinks();
        if ((sinks_[0].empty() && sinks_[1].empty()) || now_ns() >= limit_ns) return;
        for (const Event &event : poller_.wait(limit_ns == kNever ? 1000 : 10)) {
            if (event.source == Source::kFront) front_ready();
        }
        // Nobody waits for the output if the front has died or the user has interrupted the job.
        if (front_lost_ || interrupted_by_ != 0) return;
    }
}

// Handles ended ranks in the order of their ends. The message names the first one, since others may
// have failed because of it.
void Keeper::collect_in_order() {
    for (;;) {
        const std::vector<Event> ended = ends_.wait(0);
        if (ended.empty()) return;
        for (const Event &event : ended) {
            RankProcess &rank = ranks_[static_cast<std::size_t>(event.index)];
            ends_.remove(rank.pid_fd);
            close(rank.pid_fd);
            rank.pid_fd = -1;
            int status = 0;
            if (waitpid(rank.process, &status, WNOHANG) != rank.process) continue;
            rank_of_.erase(rank.process);
            rank_ended(event.index, status);
        }
    }
}

void Keeper::collect() {
    signalfd_siginfo information;
    while (read(children_fd_, &information, sizeof information) > 0) {
    }
    collect_in_order();
    int status = 0;
    pid_t process = 0;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
        const auto found = rank_of_.find(process);
        // Other processes are orphans of a rank; the keeper is their subreaper.
        if (found == rank_of_.end()) continue;
        const int rank = found->second;
        rank_of_.erase(found);
        rank_ended(rank, status);
    }
    no_descendants_ = process < 0 && errno == ECHILD;
    if (alive_ == 0 && !no_descendants_ && !ending_ && leftover_at_ns_ == kNever) {
        leftover_at_ns_ = now_ns() + kLeftoverGraceNs;
    }
}

void Keeper::rank_ended(int rank, int status) {
    // Write its last output before the message about its end.
    for (const Source from : {Source::kOutput, Source::kError}) {
        read_stream(from, rank);
        stream(from, rank).lines.flush_partial();
    }
    RankProcess &ended = ranks_[static_cast<std::size_t>(rank)];
    ended.ended = true;
    --alive_;
    control_.rank_ended(rank);
    if (rank == 0) shows_prompts_ = false;
    const bool is_unfinished = control_.ended_without_goodbye(rank);
    const int code = exit_code_of(status, is_unfinished);
    if (code == 0 || ending_) return;
    if (exit_code_ == 0) exit_code_ = code;
    if (WIFSIGNALED(status) && WTERMSIG(status) == interrupted_by_) return;
    // Another rank, which may still run for a moment, may have made this one exit.
    const bool is_own_fault = WIFSIGNALED(status) || status == 0;
    const int ended_by = is_own_fault ? -1 : control_.ender_of_job();
    if (ended_by >= 0 && ended_by != rank) {
        const pid_t process = ranks_[static_cast<std::size_t>(ended_by)].process;
        if (job_.keep_going)
            say("rank {} (process {}) was ended by rank {} (process {}), with code {}", rank,
                ended.process, ended_by, process, code);
        if (job_.keep_going || interrupted_by_ != 0) return;
        say("rank {} (process {}) has ended the job with code {}", ended_by, process, code);
        begin_ending(kTermToKillNs);
        return;
    }
    const bool end_others = !job_.keep_going && interrupted_by_ == 0 && alive_ > 0;
    std::string others;
    if (end_others) {
        others = alive_ == 1 ? "; ending the other rank"
                             : fmt::format("; ending the other {} ranks", alive_);
    } else if (job_.keep_going && alive_ > 0) {
        others = "; the others go on (--keep-going)";
    }
    say("rank {} (process {}) {}{}", rank, ended.process, how_it_ended(status, is_unfinished),
        others);
    if (end_others) begin_ending(kTermToKillNs);
}

void Keeper::begin_ending(std::int64_t to_kill_ns) {
    if (ending_) return;
    ending_ = true;
    kill_at_ns_ = std::min(kill_at_ns_, now_ns() + to_kill_ns);
    signal_descendants(SIGTERM);
    // Without /proc, or if it hides other processes, only the groups of the ranks are known.
    if (descendants().empty()) signal_groups(SIGTERM);
}

void Keeper::signal_groups(int signal) {
    for (const RankProcess &rank : ranks_) {
        if (!rank.ended) (void)kill(-rank.process, signal);
    }
}

void Keeper::front_ready() {
    unsigned char signals[64];
    const ssize_t count = read(front_fd_, signals, sizeof signals);
    for (ssize_t i = 0; i < count; ++i)
        hand_on_signal(signals[i]);
    if (count != 0) return;
    poller_.remove(front_fd_);
    front_lost_ = true;
    abandon_output_ = true;
    exit_code_ = kExitInternal;
    begin_ending(kFrontLostToKillNs);
}

void Keeper::hand_on_signal(int signal) {
    if (std::ranges::find(kEndingSignals, signal) != kEndingSignals.end()) {
        if (interrupted_by_ != 0) {
            abandon_output_ = true;
            kill_at_ns_ = now_ns();  // a second signal kills at once
            return;
        }
        interrupted_by_ = signal;
        kill_at_ns_ = std::min(kill_at_ns_, now_ns() + kInterruptToKillNs);
    }
    signal_groups(signal);
}

}  // namespace

int keep_job(const Job &job, int front_fd) {
    sigset_t all;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, nullptr);
    // A signal to the launcher's process group, such as SIGKILL by `timeout`, must not end the
    // keeper, which ends the ranks.
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_NAME, "sennit-keeper");
    return Keeper(job, front_fd).run();
}

}  // namespace sennit::cli
