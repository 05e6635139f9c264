// A rank that ends while its watch receives nothing: from just before sennit_finalize on,
// connections of libsennit are cut, and new ones fail. It can still find out that a port has no
// owner. Started by watch_test.py.
#include <sennit/sennit.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events.hpp"

namespace {

struct Made {
    int socket;
    in_port_t port;
};

std::mutex lock;
std::vector<Made> connections;  // the watch's connections
bool is_cut = false;
int self = -1;

in_port_t port_of(const sockaddr *name) {
    return reinterpret_cast<const sockaddr_in *>(name)->sin_port;
}

void cut(const Made &made) {
    sockaddr_in name{};
    socklen_t bytes = sizeof name;
    auto *any = reinterpret_cast<sockaddr *>(&name);
    // The socket may have been closed, and its number reused.
    if (getpeername(made.socket, any, &bytes) == 0 && name.sin_port == made.port)
        (void)shutdown(made.socket, SHUT_RDWR);
}

// Connections of libfabric and of the path's own library stay.
bool is_of_watch(const void *caller, const sockaddr *name) {
    Dl_info found{};
    return name->sa_family == AF_INET && dladdr(caller, &found) != 0 &&
           std::strstr(found.dli_fname, "/libsennit.so") != nullptr;
}

bool has_owner(const sockaddr *name, socklen_t bytes) {
    const int trial = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto real = reinterpret_cast<decltype(&connect)>(dlsym(RTLD_NEXT, "connect"));
    const bool is_refused = real(trial, name, bytes) != 0 && errno == ECONNREFUSED;
    (void)close(trial);
    return !is_refused;
}

}  // namespace

// Found before libc's function.
extern "C" int connect(int made, const sockaddr *name, socklen_t bytes) {
    const auto real = reinterpret_cast<decltype(&connect)>(dlsym(RTLD_NEXT, "connect"));
    if (!is_of_watch(__builtin_return_address(0), name)) return real(made, name, bytes);
    const std::lock_guard<std::mutex> guard(lock);
    if (is_cut) {
        const bool is_refused = !has_owner(name, bytes);
        if (is_refused) say(self, "refused", 1);
        errno = is_refused ? ECONNREFUSED : ETIMEDOUT;
        return -1;
    }
    connections.push_back({made, port_of(name)});
    return real(made, name, bytes);
}

int main() {
    must(sennit_init(nullptr), "init");
    self = sennit_rank();
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
    {
        const std::lock_guard<std::mutex> guard(lock);
        is_cut = true;
        for (const Made &made : connections)
            cut(made);
        say(self, "cuts", static_cast<long>(connections.size()));
    }
    must(sennit_finalize(), "finalize");
    say(self, "ended", 0);
    return 0;
}
