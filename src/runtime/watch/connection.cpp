// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/watch/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/tcp_connect.hpp"

namespace sennit::watch {

int WatchConnection::connect(std::uint32_t address, std::uint16_t port) {
    close();
    socket_ = start_connection(address, port);
    if (socket_ < 0) return errno;
    const int yes = 1;
    (void)setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return 0;
}

int WatchConnection::connected() {
    const int error = connection_error(socket_);
    is_open_ = error == 0;
    return error;
}

bool WatchConnection::accept(int listener) {
    close();
    socket_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    is_open_ = socket_ >= 0;
    const int yes = 1;
    if (is_open_) (void)setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return is_open_;
}

void WatchConnection::close() {
    // socket_ must never have the number of a closed descriptor: another thread may fork at any
    // time, and NodeWatch::forked() closes socket_ in the child.
    const int socket = std::exchange(socket_, -1);
    if (socket >= 0) (void)::close(socket);
    is_open_ = false;
    have_ = 0;
}

void WatchConnection::take_over(WatchConnection &other) {
    close();
    socket_ = std::exchange(other.socket_, -1);
    is_open_ = std::exchange(other.is_open_, false);
    have_ = std::exchange(other.have_, 0);
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
}

// If the buffer is full, the other side has not read hundreds of messages. Then the connection
// counts as ended.
bool WatchConnection::send(const Note &message) {
    const ssize_t sent = ::send(socket_, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent == static_cast<ssize_t>(sizeof message);
}

WatchConnection::Read WatchConnection::read(Note *message) {
    const ssize_t got = recv(socket_, bytes_ + have_, sizeof bytes_ - have_, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Read::none;
    if (got <= 0) return Read::ended;
    have_ += static_cast<std::size_t>(got);
    if (have_ < sizeof bytes_) return Read::none;
    have_ = 0;
    std::memcpy(message, bytes_, sizeof *message);
    return Read::whole;
}

}  // namespace sennit::watch
