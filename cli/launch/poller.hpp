// A wrapper of epoll. An event has the purpose of the descriptor and an index, mostly the rank.
// Used by the keeper (docs/design/launcher.md) in one thread.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <vector>

namespace sennit::cli {

enum class Source : std::uint32_t {
    kChildren,    // signalfd for SIGCHLD
    kFront,       // pipe from the front
    kOutput,      // a rank's stdout; index is the rank
    kError,       // a rank's stderr
    kControl,     // launcher's end of a rank's control socket
    kConnection,  // private connection of a rank
    kEnd,         // pidfd of a rank's process
    kSink         // stdout or stderr of the launcher, with unwritten output
};

struct Event {
    Source source;
    int index;  // the rank; kChildren and kFront: 0; kSink: 0 stdout, 1 stderr
};

class Poller {
  public:
    Poller();
    Poller(const Poller &) = delete;
    Poller &operator=(const Poller &) = delete;
    ~Poller();

    // False if the kernel refuses. `events`: EPOLLIN, EPOLLOUT or both.
    bool add(int fd, Source source, int index, std::uint32_t events);
    // Call this before the descriptor is closed.
    void remove(int fd);
    void change(int fd, Source source, int index, std::uint32_t events);

    // Waits for at most timeout_ms (-1: for ever). The result is valid until the next call.
    const std::vector<Event> &wait(int timeout_ms);

  private:
    int fd_;
    std::vector<Event> events_;
};

}  // namespace sennit::cli
