// SPDX-License-Identifier: BSD-3-Clause
// Makes TCP connections without blocking the caller.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace sennit {

// Returns a connecting socket; address and port in network byte order. -1: errno says why.
inline int start_connection(std::uint32_t address, std::uint16_t port) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = port;
    name.sin_addr.s_addr = address;
    if (made < 0 || ::connect(made, reinterpret_cast<sockaddr *>(&name), sizeof name) == 0 ||
        errno == EINPROGRESS)
        return made;
    const int error = errno;
    (void)::close(made);
    errno = error;
    return -1;
}

// 0: connected. EINPROGRESS: not yet connected. Another value: the error of the connection.
inline int connection_error(int socket) {
    pollfd one{socket, POLLOUT, 0};
    if (poll(&one, 1, 0) != 1) return EINPROGRESS;
    int error = 0;
    socklen_t bytes = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

}  // namespace sennit
