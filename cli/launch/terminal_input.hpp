// Standard input of rank 0. A file or pipe is inherited as it is, so what the program does not read
// stays there for others. A terminal can not be: ranks are in process groups of their own, and the
// kernel stops those that read the terminal. The keeper reads it for them and hands it on by a
// pipe.
#pragma once

#include <cstddef>
#include <string>

#include "launch/poller.hpp"

namespace sennit::cli {

class TerminalInput {
  public:
    explicit TerminalInput(Poller &poller) : poller_(&poller) {}
    TerminalInput(const TerminalInput &) = delete;
    TerminalInput &operator=(const TerminalInput &) = delete;
    ~TerminalInput() { stop(); }

    // What rank 0 gets as standard input: stdin itself, or the read end of a new pipe, which the
    // caller closes after the start (`to_close`). -1 and errno on failure.
    int start(bool &to_close);
    // The terminal is readable, or the pipe writable.
    void ready();
    // The launcher may have come to the foreground, or left it.
    void look_again();
    void stop();
    bool active() const { return pipe_fd_ >= 0; }

  private:
    void watch();

    Poller *poller_;
    int pipe_fd_ = -1;
    bool reads_ = false;
    bool writes_ = false;
    bool ended_ = false;  // the terminal said end of file
    std::string waiting_;
};

}  // namespace sennit::cli
