// SPDX-License-Identifier: BSD-3-Clause
// A TCP connection between the watches of two nodes, and its messages, which all have one size and
// the cookie of the job. No call blocks. An invalid message ends the connection.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::watch {

enum class NoteKind : std::uint32_t {
    none = 0,
    question = 1,  // time_ns: clock of the asking node; value: its lease, 0: starts none
    answer = 2,    // time_ns: that of the question
    gone = 3,      // rank has died
    leaving = 4,   // rank ends and closes its port
    quiet = 5,     // the node of rank does not answer: the receiver should watch it too
    // value 0: asks when rank last polled its network; another value: the answer, value - 1 ns ago
    looks = 6,
    left = 7  // rank has left: everything that it sent has arrived
};

struct Note {
    std::uint64_t cookie;
    NoteKind kind;
    std::int32_t from;  // world rank
    std::int32_t rank;
    std::uint32_t unused;
    std::int64_t time_ns;
    std::int64_t value;
};
static_assert(sizeof(Note) == 40 && offsetof(Note, time_ns) == 24);

class WatchConnection {
  public:
    WatchConnection() = default;
    ~WatchConnection() { close(); }
    WatchConnection(const WatchConnection &) = delete;
    WatchConnection &operator=(const WatchConnection &) = delete;

    // Starts to connect. 0, or the error of an immediate failure; connected() returns the result.
    int connect(std::uint32_t address, std::uint16_t port);
    // 0 (connected), EINPROGRESS, or the error that ended it.
    int connected();
    // Accepts a connection of the listener. False: none.
    bool accept(int listener);
    void close();
    // Takes the socket of the other object, which then has none.
    void take_over(WatchConnection &other);

    int socket() const { return socket_; }
    bool exists() const { return socket_ >= 0; }
    // Whether messages can be sent.
    bool is_open() const { return is_open_; }

    // False: the connection has ended.
    bool send(const Note &message);
    // Reads the next complete message. `none`: not yet. `ended`: by the other side.
    enum class Read { whole, none, ended };
    Read read(Note *message);

  private:
    int socket_ = -1;
    bool is_open_ = false;
    std::size_t have_ = 0;
    alignas(Note) std::byte bytes_[sizeof(Note)];
};

}  // namespace sennit::watch
