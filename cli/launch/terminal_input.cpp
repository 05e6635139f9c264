// See terminal_input.hpp.
#include "launch/terminal_input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace sennit::cli {
namespace {

// In the background a read would fail (SIGTTIN is blocked here).
bool in_foreground() {
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

}  // namespace

int TerminalInput::start(bool &to_close) {
    to_close = false;
    if (isatty(STDIN_FILENO) == 0) return STDIN_FILENO;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    pipe_fd_ = ends[1];
    to_close = true;
    watch();
    return ends[0];
}

void TerminalInput::watch() {
    const bool read_now = active() && !ended_ && waiting_.empty() && in_foreground();
    const bool write_now = active() && !waiting_.empty();
    if (read_now != reads_) {
        if (read_now) {
            (void)poller_->add(STDIN_FILENO, Source::kTerminal, 0, EPOLLIN);
        } else {
            poller_->remove(STDIN_FILENO);
        }
        reads_ = read_now;
    }
    if (write_now != writes_) {
        if (write_now) {
            (void)poller_->add(pipe_fd_, Source::kInput, 0, EPOLLOUT);
        } else {
            poller_->remove(pipe_fd_);
        }
        writes_ = write_now;
    }
}

void TerminalInput::ready() {
    if (!active()) return;
    if (waiting_.empty() && !ended_ && in_foreground()) {
        char buffer[4096];
        const ssize_t bytes = read(STDIN_FILENO, buffer, sizeof buffer);
        if (bytes > 0) waiting_.assign(buffer, static_cast<std::size_t>(bytes));
        if (bytes == 0 || (bytes < 0 && errno != EINTR && errno != EAGAIN)) ended_ = true;
    }
    if (!waiting_.empty()) {
        const ssize_t bytes = write(pipe_fd_, waiting_.data(), waiting_.size());
        if (bytes > 0) waiting_.erase(0, static_cast<std::size_t>(bytes));
        if (bytes < 0 && errno != EINTR && errno != EAGAIN) {
            stop();  // rank 0 does not read any more
            return;
        }
    }
    if (ended_ && waiting_.empty()) {
        stop();
        return;
    }
    watch();
}

void TerminalInput::look_again() {
    if (active()) watch();
}

void TerminalInput::stop() {
    if (!active()) return;
    if (reads_) poller_->remove(STDIN_FILENO);
    if (writes_) poller_->remove(pipe_fd_);
    reads_ = writes_ = false;
    close(pipe_fd_);
    pipe_fd_ = -1;
}

}  // namespace sennit::cli
