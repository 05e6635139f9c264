// See cut.hpp.
#include "transport/fabric/cut.hpp"

#include <dirent.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include <cstdlib>

namespace sennit::transport::fabric {
namespace {

// The descriptor may be any file of the program. A socket of UDP has a peer too, and ports of its
// own.
bool leads_to(int descriptor, const sockaddr_in &peer) {
    int protocol = 0;
    socklen_t size = sizeof protocol;
    sockaddr_in other{};
    socklen_t bytes = sizeof other;
    return getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
           protocol == IPPROTO_TCP &&
           getpeername(descriptor, reinterpret_cast<sockaddr *>(&other), &bytes) == 0 &&
           bytes == sizeof other && other.sin_family == AF_INET &&
           other.sin_addr.s_addr == peer.sin_addr.s_addr && other.sin_port == peer.sin_port;
}

template <class Use>
void for_each_connection(const sockaddr_in &peer, const Use &use) {
    DIR *const folder = opendir("/proc/self/fd");
    if (folder == nullptr) return;
    while (const dirent *entry = readdir(folder)) {
        if (entry->d_name[0] == '.') continue;
        const auto descriptor = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
        if (leads_to(descriptor, peer)) use(descriptor);
    }
    (void)closedir(folder);
}

}  // namespace

void cut_connections(const sockaddr_in &peer) {
    for_each_connection(peer, [](int descriptor) { (void)shutdown(descriptor, SHUT_RDWR); });
}

std::uint64_t bytes_of_connections(const sockaddr_in &peer) {
    std::uint64_t bytes = 0;
    for_each_connection(peer, [&](int descriptor) {
        // An older kernel fills less of it.
        tcp_info info{};
        socklen_t length = sizeof info;
        if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0)
            bytes += info.tcpi_bytes_acked + info.tcpi_bytes_received;
    });
    return bytes;
}

}  // namespace sennit::transport::fabric
