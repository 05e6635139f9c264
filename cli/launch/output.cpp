// The launcher must not block in its output, but O_NONBLOCK would also affect the process that
// started it, since the descriptor is shared. So the launcher polls a pipe or terminal before each
// write, and writes at most PIPE_BUF bytes.
#include "launch/output.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace sennit::cli {
namespace {

constexpr std::size_t kFileBytesAtOnce = std::size_t{1} << 20;
constexpr std::size_t kKeptCapacity = std::size_t{64} << 10;

bool is_writable(int fd) {
    pollfd entry{fd, POLLOUT, 0};
    return poll(&entry, 1, 0) > 0;
}

}  // namespace

Sink::Sink(int fd) : fd_(fd) {
    struct stat status {};
    never_blocks_ = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool Sink::write_some() {
    if (!never_blocks_ && !is_writable(fd_)) return false;
    // A pipe that polls writable has room for PIPE_BUF bytes.
    const std::size_t most = never_blocks_ ? kFileBytesAtOnce : PIPE_BUF;
    const std::size_t bytes = std::min(waiting_.size() - written_, most);
    const ssize_t wrote = write(fd_, waiting_.data() + written_, bytes);
    if (wrote >= 0) {
        written_ += static_cast<std::size_t>(wrote);
        return true;
    }
    if (errno == EINTR) return true;
    if (errno == EAGAIN) return false;
    break_off(errno);
    return false;
}

void Sink::flush() {
    while (written_ < waiting_.size() && write_some()) {
    }
    if (written_ == waiting_.size()) {
        waiting_.clear();
        written_ = 0;
        if (waiting_.capacity() > kLineBytesMax) waiting_.shrink_to_fit();
    } else if (written_ > kSinkBytesMax) {
        waiting_.erase(0, written_);
        written_ = 0;
    }
}

void Sink::break_off(int error) {
    error_ = error;
    waiting_.clear();
    written_ = 0;
}

void LineKeeper::pass(std::string_view lines) {
    if (tag_.empty()) {
        sink_->append(lines);
        return;
    }
    while (!lines.empty()) {
        const std::size_t newline = lines.find('\n');
        const std::size_t end = newline == std::string_view::npos ? lines.size() : newline + 1;
        if (!in_line_) sink_->append(tag_);
        sink_->append(lines.substr(0, end));
        in_line_ = newline == std::string_view::npos;
        lines.remove_prefix(end);
    }
}

void LineKeeper::take(std::string_view bytes) {
    const std::size_t newline = bytes.rfind('\n');
    if (newline != std::string_view::npos) {
        if (partial_.empty()) {
            pass(bytes.substr(0, newline + 1));
        } else {
            partial_.append(bytes.substr(0, newline + 1));
            pass(partial_);
            partial_.clear();
            if (partial_.capacity() > kKeptCapacity) partial_.shrink_to_fit();
        }
        bytes.remove_prefix(newline + 1);
    }
    partial_.append(bytes);
    if (partial_.size() > kLineBytesMax) flush_partial();
}

void LineKeeper::flush_partial() {
    if (partial_.empty()) return;
    pass(partial_);
    partial_.clear();
}

}  // namespace sennit::cli
