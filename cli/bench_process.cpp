// Signals are received by a signalfd, so one poll waits for output, the end of the child, signals
// of the user and the time limit.
#include "bench_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

extern char **environ;

namespace sennit::cli {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTermToKill{3000};
constexpr milliseconds kDrainAfterEnd{1000};  // a descendant may hold the pipe open

[[noreturn]] void fail_os(const std::string &what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

sigset_t watched_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM}) {
        sigaddset(&set, number);
    }
    return set;
}

[[noreturn]] void become(const std::vector<std::string> &command, int output,
                         const sigset_t &mask) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int input = open("/dev/null", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    std::vector<char *> words;
    for (const std::string &word : command) {
        words.push_back(const_cast<char *>(word.c_str()));
    }
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
}

// Collects output and passes it on in whole lines.
class Lines {
  public:
    explicit Lines(const LineHandler &handler) : m_handler(handler) {}

    // False at the end of the output.
    bool read_from(int descriptor) {
        char buffer[4096];
        const ssize_t got = read(descriptor, buffer, sizeof buffer);
        if (got < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        if (got == 0) {
            if (!m_text.empty()) m_handler(std::exchange(m_text, {}));
            return false;
        }
        m_text.append(buffer, static_cast<std::size_t>(got));
        for (auto end = m_text.find('\n'); end != std::string::npos; end = m_text.find('\n')) {
            m_handler(m_text.substr(0, end));
            m_text.erase(0, end + 1);
        }
        return true;
    }

  private:
    const LineHandler &m_handler;
    std::string m_text;
};

// The child and its process group. The destructor ends them.
class Group {
  public:
    Group(const std::vector<std::string> &command, int output, const Signals &signals)
        : m_start(Clock::now()), m_pid(fork()) {
        if (m_pid < 0) {
            fail_os("fork");
        }
        if (m_pid == 0) {
            become(command, output, signals.before());
        }
        setpgid(m_pid, m_pid);
    }
    ~Group() {
        kill(-m_pid, SIGKILL);
        if (!m_ended) {
            waitpid(m_pid, nullptr, 0);
        }
    }
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;

    void send(int signal_number) const { kill(-m_pid, signal_number); }
    bool has_ended() const { return m_ended; }
    Clock::time_point start() const { return m_start; }

    void look_for_end(ProcessResult &result) {
        int status = 0;
        if (!m_ended && waitpid(m_pid, &status, WNOHANG) == m_pid) {
            m_ended = true;
            result.elapsed_ns =
                std::chrono::duration<double, std::nano>(Clock::now() - m_start).count();
            result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }

  private:
    Clock::time_point m_start;
    pid_t m_pid;
    bool m_ended = false;
};

int milliseconds_until(Clock::time_point when) {
    const auto left = std::chrono::ceil<milliseconds>(when - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

// Waits for the end of the group. `pipe` is -1 if its output is not read.
ProcessResult watch(Group &group, const Signals &signals, int pipe, double timeout_s,
                    const LineHandler &on_line) {
    ProcessResult result;
    Lines lines(on_line);
    bool stopped_by_user = false;
    bool output_open = pipe >= 0;
    auto deadline = group.start() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(timeout_s));
    int ends_sent = 0;
    while (!group.has_ended() || output_open) {
        pollfd wanted[2] = {{signals.descriptor(), POLLIN, 0},
                            {output_open ? pipe : -1, POLLIN, 0}};
        poll(wanted, 2, milliseconds_until(deadline));
        const bool stop_now = signals.was_stopped();
        if (output_open && wanted[1].revents != 0) {
            output_open = lines.read_from(pipe);
        }
        const bool had_ended = group.has_ended();
        group.look_for_end(result);
        if (!had_ended && group.has_ended()) {
            deadline = Clock::now() + kDrainAfterEnd;
        }
        stopped_by_user |= stop_now;
        if (!stop_now && Clock::now() < deadline) {
            continue;
        }
        if (group.has_ended()) {
            break;
        }
        result.timed_out |= !stopped_by_user;
        group.send(ends_sent++ == 0 ? SIGTERM : SIGKILL);
        deadline = Clock::now() + kTermToKill;
    }
    if (stopped_by_user) {
        throw StoppedBySignal();
    }
    return result;
}

}  // namespace

Signals::Signals() {
    const sigset_t set = watched_signals();
    sigprocmask(SIG_BLOCK, &set, &m_before);
    m_descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (m_descriptor < 0) {
        sigprocmask(SIG_SETMASK, &m_before, nullptr);
        fail_os("signalfd");
    }
}

Signals::~Signals() {
    close(m_descriptor);
    sigprocmask(SIG_SETMASK, &m_before, nullptr);
}

bool Signals::was_stopped() const {
    signalfd_siginfo info{};
    bool stop = false;
    while (read(m_descriptor, &info, sizeof info) == sizeof info) {
        stop |= info.ssi_signo != SIGCHLD;
    }
    return stop;
}

ProcessResult run_process(const std::vector<std::string> &command, double timeout_s,
                          const LineHandler &on_line) {
    return run_process(Signals(), command, timeout_s, on_line);
}

ProcessResult run_process(const Signals &signals, const std::vector<std::string> &command,
                          double timeout_s, const LineHandler &on_line) {
    if (signals.was_stopped()) {
        throw StoppedBySignal();
    }
    if (!on_line) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        Group group(command, nowhere, signals);
        close(nowhere);
        return watch(group, signals, -1, timeout_s, on_line);
    }
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        fail_os("pipe");
    }
    fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
    struct Closer {
        int descriptor;
        ~Closer() { close(descriptor); }
    } const reader{pipe_ends[0]};
    Group group(command, pipe_ends[1], signals);
    close(pipe_ends[1]);
    return watch(group, signals, pipe_ends[0], timeout_s, on_line);
}

double spawn_and_wait(const std::vector<std::string> &command, int count) {
    const auto start = Clock::now();
    std::vector<pid_t> children;
    std::vector<char *> words;
    for (const std::string &word : command) {
        words.push_back(const_cast<char *>(word.c_str()));
    }
    words.push_back(nullptr);
    int error = 0;
    for (int i = 0; i < count && error == 0; ++i) {
        pid_t child = 0;
        error = posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), environ);
        if (error == 0) {
            children.push_back(child);
        }
    }
    bool all_ok = true;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        all_ok = all_ok && status == 0;
    }
    if (error != 0) {
        errno = error;
        fail_os(command[0]);
    }
    if (!all_ok) {
        throw std::runtime_error(command[0] + " failed");
    }
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace sennit::cli
