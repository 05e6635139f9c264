// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric/cut.hpp"

#include <dirent.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdlib>

namespace sennit::transport::fabric {
namespace {

using NameOf = int(int descriptor, sockaddr *name, socklen_t *bytes);

// Whether the descriptor is a TCP socket with this name. The descriptor may be any file of the
// program. A UDP socket may have the same name, since UDP ports are separate from TCP ports.
bool has_name(int descriptor, NameOf *name_of, const sockaddr_in &wanted) {
    int protocol = 0;
    socklen_t size = sizeof protocol;
    sockaddr_in name{};
    socklen_t bytes = sizeof name;
    return getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
           protocol == IPPROTO_TCP &&
           name_of(descriptor, reinterpret_cast<sockaddr *>(&name), &bytes) == 0 &&
           bytes == sizeof name && name.sin_family == AF_INET &&
           name.sin_addr.s_addr == wanted.sin_addr.s_addr && name.sin_port == wanted.sin_port;
}

// Calls `use` with each TCP socket whose local or remote address (by `name_of`) is this one.
template <class Use>
void for_each_socket(NameOf *name_of, const sockaddr_in &name, const Use &use) {
    DIR *const folder = opendir("/proc/self/fd");
    if (folder == nullptr) return;
    while (const dirent *entry = readdir(folder)) {
        if (entry->d_name[0] == '.') continue;
        const auto descriptor = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
        if (has_name(descriptor, name_of, name)) use(descriptor);
    }
    (void)closedir(folder);
}

// Fields that an older kernel does not know are 0.
tcp_info info_of(int descriptor) {
    tcp_info info{};
    socklen_t length = sizeof info;
    (void)getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length);
    return info;
}

// Whether nothing was read from the connection. The kernel counts a received FIN as one byte.
bool is_unread(int descriptor) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens != 0)
        return false;
    int unread = 0;
    return ioctl(descriptor, FIONREAD, &unread) == 0 &&
           info_of(descriptor).tcpi_bytes_received <= static_cast<std::uint64_t>(unread) + 1;
}

// The kernel limits the requested size to net.core.rmem_max, and doubles it, since the buffer also
// has the kernel's own records. After a program has set the size, the kernel raises the window
// limit only when it measures a new segment length.
void limit_window(int descriptor) {
    constexpr int kRoomBytes = 2 << 20;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &kRoomBytes, sizeof kRoomBytes);
    int bytes = 0;
    socklen_t size = sizeof bytes;
    if (getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0) return;
    const int window = bytes / 4;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof window);
}

}  // namespace

void cut_connections(const sockaddr_in &peer) {
    for_each_socket(getpeername, peer,
                    [](int descriptor) { (void)shutdown(descriptor, SHUT_RDWR); });
}

bool cut_unread(const sockaddr_in &own) {
    bool are_there_some = false;
    for_each_socket(getsockname, own, [&](int descriptor) {
        if (!is_unread(descriptor)) return;
        are_there_some = true;
        (void)shutdown(descriptor, SHUT_RDWR);
    });
    return are_there_some;
}

std::uint64_t bytes_of_connections(const sockaddr_in &peer) {
    std::uint64_t bytes = 0;
    for_each_socket(getpeername, peer, [&](int descriptor) {
        const tcp_info info = info_of(descriptor);
        bytes += info.tcpi_bytes_acked + info.tcpi_bytes_received;
    });
    return bytes;
}

void limit_windows(const sockaddr_in &own, const sockaddr_in &peer) {
    for_each_socket(getsockname, own, limit_window);
    for_each_socket(getpeername, peer, limit_window);
}

}  // namespace sennit::transport::fabric
