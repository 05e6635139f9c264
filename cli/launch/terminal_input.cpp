#include "launch/terminal_input.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace sennit::cli {
namespace {

// The length of the longest line of a terminal. A pipe of this size has one page, so it becomes
// writable again only when it is empty.
constexpr int kPipeBytes = 4096;

constexpr std::size_t kGivenBackMax = 65536;

bool in_foreground() {
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool is_over(int error) {
    return error != EINTR && error != EAGAIN;
}

}  // namespace

int TerminalInput::start() {
    if (isatty(STDIN_FILENO) == 0) return STDIN_FILENO;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    (void)fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
    read_fd_ = ends[0];
    write_fd_ = ends[1];
    return ends[0];
}

pollfd TerminalInput::wanted() const {
    if (!active()) return {-1, 0, 0};
    if (!waiting_.empty() || !room_) return {write_fd_, POLLOUT, 0};
    return {in_foreground() ? STDIN_FILENO : -1, POLLIN, 0};
}

void TerminalInput::ready() {
    if (!active()) return;
    if (waiting_.empty() && !room_) {
        room_ = true;
        return;
    }
    if (waiting_.empty()) {
        if (!in_foreground()) return;
        char buffer[kPipeBytes];
        const ssize_t bytes = read(STDIN_FILENO, buffer, sizeof buffer);
        if (bytes > 0) waiting_.assign(buffer, static_cast<std::size_t>(bytes));
        if (bytes == 0 || (bytes < 0 && is_over(errno))) {
            close(write_fd_);
            write_fd_ = -1;
            return;
        }
    }
    const ssize_t bytes = write(write_fd_, waiting_.data(), waiting_.size());
    if (bytes > 0) waiting_.erase(0, static_cast<std::size_t>(bytes));
    if (bytes > 0) room_ = false;
}

void TerminalInput::give_back() {
    if (read_fd_ < 0) return;
    (void)fcntl(read_fd_, F_SETFL, O_NONBLOCK);
    char buffer[kPipeBytes];
    const ssize_t bytes = read(read_fd_, buffer, sizeof buffer);
    std::string unread(buffer, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    unread += waiting_;
    if (unread.empty() || !in_foreground()) return;
    // The kernel would append the unread input to lines that were typed later. So first read these
    // lines too, and write them back after the unread input.
    for (pollfd next{STDIN_FILENO, POLLIN, 0};
         poll(&next, 1, 0) > 0 && unread.size() < kGivenBackMax;) {
        const ssize_t more = read(STDIN_FILENO, buffer, sizeof buffer);
        if (more <= 0) break;
        unread.append(buffer, static_cast<std::size_t>(more));
    }
    for (const char &byte : unread)
        if (ioctl(STDIN_FILENO, TIOCSTI, &byte) != 0) return;
}

}  // namespace sennit::cli
