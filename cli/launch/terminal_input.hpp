// Standard input of rank 0. A file or pipe is inherited as it is, so what the program does not read
// stays there for others. A terminal can not be: ranks are in process groups of their own, and the
// kernel stops those that read the terminal. The front, which is in the group that may, reads it
// for them and hands it on by a pipe.
//
// A program that does not read must not cost the user what he types meanwhile for the shell. So a
// line is taken only while the pipe is empty, and at the end what is still there goes back to the
// terminal, where the kernel allows it (TIOCSTI).
#pragma once

#include <poll.h>

#include <string>

namespace sennit::cli {

class TerminalInput {
  public:
    TerminalInput() = default;
    TerminalInput(const TerminalInput &) = delete;
    TerminalInput &operator=(const TerminalInput &) = delete;

    // What rank 0 gets as standard input: the terminal's own pipe, or stdin itself. -1 and errno on
    // failure.
    int start();
    bool active() const { return write_fd_ >= 0; }

    // What to wait for: the terminal or the pipe. Its fd is -1 while the launcher is in the
    // background, where a read would fail; then ask again soon, since `fg` tells nobody.
    pollfd wanted() const;
    void ready();
    void give_back();

  private:
    int read_fd_ = -1;  // for give_back(); rank 0 has its own
    int write_fd_ = -1;
    std::string waiting_;
    bool room_ = true;  // the pipe is empty
};

}  // namespace sennit::cli
