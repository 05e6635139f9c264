// The output of ranks, in whole lines. A Sink is the launcher's own stdout or stderr. A LineKeeper
// forwards whole lines from one stream of one rank to a Sink. Used by the keeper only. Invariants:
// nothing here blocks; bytes are not changed, only tags are added; a line of up to kLineBytesMax is
// written to the sink in one piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sennit::cli {

inline constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;
// With more unwritten output than this, the launcher does not read the ranks' output, and the ranks
// wait in write().
inline constexpr std::size_t kSinkBytesMax = std::size_t{1} << 20;

class Sink {
  public:
    explicit Sink(int fd);

    void append(std::string_view text) {
        if (!broken()) waiting_.append(text);
    }
    // Writes as much as possible without blocking.
    void flush();

    int fd() const { return fd_; }
    bool empty() const { return waiting_.empty(); }
    bool full() const { return waiting_.size() > kSinkBytesMax; }
    // No further output can be written, because of error().
    bool broken() const { return error_ != 0; }
    // errno of the failed write, EPIPE if the reader has closed the pipe; 0 if none failed.
    int error() const { return error_; }

  private:
    bool write_some();
    void break_off(int error);

    int fd_;
    bool never_blocks_;  // a regular file
    int error_ = 0;
    std::string waiting_;
    std::size_t written_ = 0;  // bytes of waiting_
};

class LineKeeper {
  public:
    LineKeeper(Sink &sink, std::string tag) : sink_(&sink), tag_(std::move(tag)) {}

    void take(std::string_view bytes);
    // Called when the stream has ended or its incomplete line must be shown.
    void flush_partial();
    bool has_partial() const { return !partial_.empty(); }

  private:
    void pass(std::string_view lines);

    Sink *sink_;
    std::string tag_;       // "" if none
    std::string partial_;   // the line so far
    bool in_line_ = false;  // the sink already has the beginning of this line, with the tag
};

}  // namespace sennit::cli
