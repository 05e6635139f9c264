// See cut.hpp.
#include "transport/fabric/cut.hpp"

#include <dirent.h>
#include <sys/socket.h>

#include <cstdlib>

namespace sennit::transport::fabric {
namespace {

bool leads_to(int descriptor, const sockaddr_in &peer) {
    sockaddr_in other{};
    socklen_t bytes = sizeof other;
    // The descriptor may be any file of the program.
    return getpeername(descriptor, reinterpret_cast<sockaddr *>(&other), &bytes) == 0 &&
           bytes == sizeof other && other.sin_family == AF_INET &&
           other.sin_addr.s_addr == peer.sin_addr.s_addr && other.sin_port == peer.sin_port;
}

}  // namespace

void cut_connections(const sockaddr_in &peer) {
    DIR *const folder = opendir("/proc/self/fd");
    if (folder == nullptr) return;
    while (const dirent *entry = readdir(folder)) {
        if (entry->d_name[0] == '.') continue;
        const auto descriptor = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
        if (leads_to(descriptor, peer)) (void)shutdown(descriptor, SHUT_RDWR);
    }
    (void)closedir(folder);
}

}  // namespace sennit::transport::fabric
