// Runs one command of a benchmark in its own process group, with a time limit. No process of the
// group is left.
#pragma once

#include <signal.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sennit::cli {

// While an object exists, SIGINT and SIGTERM do not end this process: they stay pending until
// was_stopped() or the next run_process(). Child processes get the original signal mask.
class Signals {
  public:
    Signals();
    ~Signals();
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;

    int descriptor() const { return m_descriptor; }
    const sigset_t &before() const { return m_before; }
    // Whether SIGINT or SIGTERM was received since the last call.
    bool was_stopped() const;

  private:
    sigset_t m_before{};
    int m_descriptor = -1;
};

// SIGINT or SIGTERM was received.
class StoppedBySignal : public std::runtime_error {
  public:
    StoppedBySignal() : std::runtime_error("stopped by a signal") {}
};

struct ProcessResult {
    int exit_code = -1;  // 128 + signal if a signal ended the command
    bool timed_out = false;
    double elapsed_ns = 0.0;  // from before the fork until the end was noticed
};

using LineHandler = std::function<void(const std::string &)>;

// stdin is empty. stdout goes to `on_line` line by line; without `on_line` it is discarded. stderr
// is the caller's. After timeout_s the group gets SIGTERM, and SIGKILL 3 s later. SIGINT or SIGTERM
// to the caller ends the group, and then throws StoppedBySignal. A command that cannot be executed
// has exit code 127. Throws std::runtime_error if a pipe or a process cannot be made.
ProcessResult run_process(const std::vector<std::string> &command, double timeout_s,
                          const LineHandler &on_line);
// run_process() with a Signals object that the caller uses for several processes: a signal that was
// received between two processes throws StoppedBySignal, too.
ProcessResult run_process(const Signals &signals, const std::vector<std::string> &command,
                          double timeout_s, const LineHandler &on_line);

// Starts `command` `count` times and waits for all. Returns the nanoseconds that this took. Throws
// std::runtime_error if a process cannot be started or fails.
double spawn_and_wait(const std::vector<std::string> &command, int count);

}  // namespace sennit::cli
