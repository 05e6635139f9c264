// The end of all PEs by one of them, whatever the others are doing.
//
// Each PE has a thread that sleeps in a read from a datagram socket. Whoever ends the job writes
// the exit status to every other one's socket, and the threads end their processes. The sockets
// have names that the kernel gives (abstract: nothing is left behind), and a message counts only
// with the receiver's random word, which the PEs of the job alone know.
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "state.hpp"

namespace shmem {
namespace {

struct Address {
    sockaddr_un name;
    std::uint32_t name_bytes;
    std::uint64_t secret[2];
};
struct Message {
    std::uint64_t secret[2];
    int status;
};

struct Ending {
    int socket = -1;
    pthread_t thread{};
    bool has_thread = false;
    Address mine{};
    std::unique_ptr<Address[]> all;
};
Ending ending;

void *wait_for_end(void *) {
    for (;;) {
        Message message{};
        const ssize_t got = recv(ending.socket, &message, sizeof message, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) return nullptr;  // ending_stop()
        if (got != sizeof message ||
            std::memcmp(message.secret, ending.mine.secret, sizeof message.secret) != 0)
            continue;
        std::fflush(nullptr);
        _exit(message.status);
    }
}

// False: this PE will not be ended from outside.
bool open_socket() {
    ending.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ending.socket < 0) return false;
    // With no name the kernel gives one.
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    socklen_t bytes = sizeof any.sun_family;
    if (bind(ending.socket, reinterpret_cast<sockaddr *>(&any), bytes) != 0) return false;
    bytes = sizeof ending.mine.name;
    if (getsockname(ending.socket, reinterpret_cast<sockaddr *>(&ending.mine.name), &bytes) != 0)
        return false;
    ending.mine.name_bytes = bytes;
    return getrandom(ending.mine.secret, sizeof ending.mine.secret, 0) ==
           static_cast<ssize_t>(sizeof ending.mine.secret);
}

bool start_thread() {
    constexpr std::size_t kStack = 128 * 1024;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, kStack);
    sigset_t every;
    sigset_t before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    const int error = pthread_create(&ending.thread, &attributes, wait_for_end, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return error == 0;
}

void tell_others(int status) {
    if (ending.all == nullptr) return;
    for (int pe = 0; pe < state.pes; ++pe) {
        const Address &to = ending.all[static_cast<std::size_t>(pe)];
        if (pe == state.me || to.name_bytes == 0) continue;
        const Message message{{to.secret[0], to.secret[1]}, status};
        (void)sendto(ending.socket, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL,
                     reinterpret_cast<const sockaddr *>(&to.name), to.name_bytes);
    }
}

}  // namespace

void ending_start() {
    if (!open_socket()) ending.mine.name_bytes = 0;
    ending.all = std::make_unique<Address[]>(static_cast<std::size_t>(state.pes));
    must("shmem_init", sennit_allgather(SENNIT_TEAM_WORLD, &ending.mine, ending.all.get(),
                                        sizeof ending.mine, SENNIT_FOREVER));
    if (ending.mine.name_bytes != 0) ending.has_thread = start_thread();
}

void ending_stop() {
    if (ending.has_thread) {
        shutdown(ending.socket, SHUT_RDWR);
        pthread_join(ending.thread, nullptr);
    }
    if (ending.socket >= 0) close(ending.socket);
    ending = Ending{};
}

}  // namespace shmem

SHMEM_DEFINE(void, shmem_global_exit, (int status)) {
    shmem::tell_others(status);
    std::fflush(nullptr);
    std::exit(status);
}
