// The output of ranks, in whole lines. A Sink is the launcher's own stdout or stderr; a LineKeeper
// is between one stream of one rank and a Sink and forwards whole lines. Used by the keeper only.
//
// Invariants: nothing here blocks; bytes are never changed except for the tag; a line is written to
// the sink in one piece unless it is longer than kLineBytesMax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sennit::cli {

inline constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;
// Above this much unwritten output the ranks are not read any more: they wait in write().
inline constexpr std::size_t kSinkBytesMax = std::size_t{1} << 20;

class Sink {
  public:
    explicit Sink(int fd);

    void append(std::string_view text) {
        if (!broken()) waiting_.append(text);
    }
    // Writes what can be written now.
    void flush();

    int fd() const { return fd_; }
    bool empty() const { return waiting_.empty(); }
    bool full() const { return waiting_.size() > kSinkBytesMax; }
    // Nothing more can be written, because of error().
    bool broken() const { return error_ != 0; }
    // errno of the write that failed: EPIPE where nobody reads any more. 0 if none did.
    int error() const { return error_; }

  private:
    bool write_some();
    void break_off(int error);

    int fd_;
    bool never_blocks_;  // a file or a null device: no readiness to ask for
    int error_ = 0;
    std::string waiting_;
    std::size_t written_ = 0;  // of waiting_
};

class LineKeeper {
  public:
    LineKeeper(Sink &sink, std::string tag) : sink_(&sink), tag_(std::move(tag)) {}

    void take(std::string_view bytes);
    // The stream has ended, or its incomplete line must be shown now.
    void flush_partial();
    bool has_partial() const { return !partial_.empty(); }

  private:
    void pass(std::string_view lines);

    Sink *sink_;
    std::string tag_;       // "" if none
    std::string partial_;   // the line so far
    bool in_line_ = false;  // the sink already has the beginning of this line, tag and all
};

}  // namespace sennit::cli
