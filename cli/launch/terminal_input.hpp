// Standard input of rank 0. A file or pipe is inherited, so data that the program does not read
// stays there for others. A terminal cannot be inherited: ranks are in their own process groups,
// and the kernel stops background groups that read the terminal. The front is in the foreground
// group; it reads the terminal and passes the input on by a pipe. If the program does not read its
// input, the lines that the user types for the shell must not be lost. So the front reads a line
// only while the pipe is empty, and at the end writes unread input back to the terminal, if the
// kernel allows it (TIOCSTI).
#pragma once

#include <poll.h>

#include <string>

namespace sennit::cli {

class TerminalInput {
  public:
    TerminalInput() = default;
    TerminalInput(const TerminalInput &) = delete;
    TerminalInput &operator=(const TerminalInput &) = delete;

    // Returns the standard input for rank 0: the pipe, or stdin itself if it is no terminal. -1 and
    // errno on failure.
    int start();
    bool active() const { return write_fd_ >= 0; }

    // The descriptor to poll: the terminal or the pipe. It is -1 while the launcher is in the
    // background, where a read would fail; then call this again soon, since `fg` causes no event.
    pollfd wanted() const;
    void ready();
    void give_back();

  private:
    int read_fd_ = -1;  // for give_back(); rank 0 has another descriptor
    int write_fd_ = -1;
    std::string waiting_;
    bool room_ = true;  // the pipe is empty
};

}  // namespace sennit::cli
