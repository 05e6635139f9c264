// SPDX-License-Identifier: BSD-3-Clause
// The exchange of descriptors within a node, by sockets of type SOCK_SEQPACKET, which do not divide
// messages.
#include "bootstrap/node_exchange.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/array.hpp"
#include "base/fail.hpp"
#include "bootstrap/descriptor_limit.hpp"
#include "bootstrap/number.hpp"

namespace sennit::runtime {
namespace {

constexpr std::uint32_t kMessageMagic = 0x53454E44;
constexpr int kRanksPerMessage = 64;  // two descriptors each; the kernel allows 253 in a message

// The message that carries descriptors: for each rank in `ranks` its memory file, then its pidfd if
// bit i of `has_pid_fd` is set (i: the index in `ranks`).
struct DescriptorMessage {
    std::uint32_t magic = kMessageMagic;
    std::int32_t count = 0;
    std::uint64_t job_cookie = 0;
    std::uint64_t has_pid_fd = 0;
    std::int32_t ranks[kRanksPerMessage] = {};
};

struct Descriptors {
    int list[2 * kRanksPerMessage];
    int count = 0;
};

void set_address(const std::uint8_t *name, sockaddr_un *address, socklen_t *length) {
    *address = sockaddr_un{};
    address->sun_family = AF_UNIX;
    // The first byte of the path stays 0, which makes the name an abstract one.
    char *out = address->sun_path + 1;
    const char prefix[] = "sennit-";
    std::memcpy(out, prefix, sizeof prefix - 1);
    out += sizeof prefix - 1;
    to_hex(name, kSocketNameBytes, out);
    out += 2 * kSocketNameBytes;
    *length = static_cast<socklen_t>(out - reinterpret_cast<char *>(address));
}

sennit_status fail_late() {
    return fail(SENNIT_ERR_TIMEOUT, "a rank of this node did not exchange descriptors in time");
}

// Waits until the socket is readable or writable. Errors: TIMEOUT, OS.
sennit_status wait_socket(int socket, short events, const Deadline &deadline) {
    for (;;) {
        const std::int64_t left_ms = deadline.left_ns() / 1000000;
        pollfd one{socket, events, 0};
        const int ready = poll(&one, 1, left_ms > 100 ? 100 : static_cast<int>(left_ms));
        if (ready > 0) return SENNIT_OK;
        if (ready < 0 && errno != EINTR) return fail_os(SENNIT_ERR_OS, errno, "poll");
        if (deadline.over()) return fail_late();
    }
}

sennit_status send_message(int socket, const DescriptorMessage &message,
                           const Descriptors &descriptors, const Deadline &deadline) {
    iovec part{const_cast<DescriptorMessage *>(&message), sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors.list)] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    const auto bytes = sizeof(int) * static_cast<std::size_t>(descriptors.count);
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.list, bytes);
    for (;;) {
        if (sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return SENNIT_OK;
        if (errno == EINTR) continue;
        // The kernel limits a user's descriptors in flight; the number falls as others receive.
        if (errno == ETOOMANYREFS && !deadline.over()) {
            (void)poll(nullptr, 0, 1);
            continue;
        }
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            return fail_os(SENNIT_ERR_OS, errno, "sending descriptors to a rank of this node");
        const sennit_status status = wait_socket(socket, POLLOUT, deadline);
        if (status != SENNIT_OK) return status;
    }
}

void close_all(const Descriptors &descriptors) {
    for (int i = 0; i < descriptors.count; ++i)
        (void)close(descriptors.list[i]);
}

// Receives one message; the caller closes its descriptors. Errors: BOOTSTRAP (other protocol, other
// cookie, closed by the other side), TIMEOUT, OS (of this rank).
sennit_status receive_message(int socket, std::uint64_t cookie, const Deadline &deadline,
                              DescriptorMessage *message, Descriptors *descriptors) {
    const sennit_status status = wait_socket(socket, POLLIN, deadline);
    if (status != SENNIT_OK) return status;
    iovec part{message, sizeof *message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors->list)] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const int reason = errno;
    descriptors->count = 0;
    cmsghdr *rights = got > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
    if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
        const std::size_t bytes = rights->cmsg_len - CMSG_LEN(0);
        std::memcpy(descriptors->list, CMSG_DATA(rights), bytes);
        descriptors->count = static_cast<int>(bytes / sizeof(int));
    }
    const bool is_ours = got == static_cast<ssize_t>(sizeof *message) &&
                         message->magic == kMessageMagic && message->job_cookie == cookie &&
                         message->count > 0 && message->count <= kRanksPerMessage;
    const int expected = is_ours ? message->count + __builtin_popcountll(message->has_pid_fd) : -1;
    if (descriptors->count == expected) return SENNIT_OK;
    close_all(*descriptors);
    if (got < 0) return fail_os(SENNIT_ERR_BOOTSTRAP, reason, "receiving descriptors");
    // The kernel drops descriptors for which there is no room or which a security module refuses.
    if (is_ours)
        return fail(SENNIT_ERR_OS,
                    "%d of %d descriptors of other ranks were dropped on their way to this one: "
                    "too many open files (ulimit -n)?",
                    expected - descriptors->count, expected);
    return fail(SENNIT_ERR_BOOTSTRAP,
                "a rank of this node closed the exchange or sent invalid data");
}

void append(DescriptorMessage *message, Descriptors *descriptors, int rank, int memory_file,
            int pid_fd) {
    message->ranks[message->count] = rank;
    descriptors->list[descriptors->count++] = memory_file;
    if (pid_fd >= 0) {
        message->has_pid_fd |= std::uint64_t{1} << message->count;
        descriptors->list[descriptors->count++] = pid_fd;
    }
    ++message->count;
}

// Stores received descriptors in their Peers, and closes those that are not needed.
void store(Rank &rank, const DescriptorMessage &message, const Descriptors &descriptors) {
    int next = 0;
    for (int i = 0; i < message.count; ++i) {
        const int owner = message.ranks[i];
        const int memory_file = descriptors.list[next++];
        const int pid_fd = (message.has_pid_fd >> i & 1) != 0 ? descriptors.list[next++] : -1;
        const bool wanted = owner >= 0 && owner < world_size(rank) && owner != rank.world_rank &&
                            rank.peers[owner].memory_file < 0;
        if (wanted) {
            rank.peers[owner].memory_file = memory_file;
            rank.peers[owner].pid_fd = pid_fd;
        } else {
            (void)close(memory_file);
            if (pid_fd >= 0) (void)close(pid_fd);
        }
    }
}

// The uid of the other side, or -1.
uid_t user_of(int socket) {
    ucred who{};
    socklen_t length = sizeof who;
    const bool known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0;
    return known ? who.uid : static_cast<uid_t>(-1);
}

bool same_user(int socket) {
    return user_of(socket) == geteuid();
}

// The error has the number of the failed rank, but not the reason: that rank reports it in the next
// allgather of start-up.
sennit_status fail_gave_up(int member) {
    return fail_peer(SENNIT_ERR_BOOTSTRAP, member, "", "rank %d gave up during start-up", member);
}

// Whether nothing listens at the member's name: it has died, or has failed and closed its listener.
bool has_given_up(const std::uint8_t *name) {
    const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return false;
    sockaddr_un address;
    socklen_t length;
    set_address(name, &address, &length);
    const bool refused =
        connect(made, reinterpret_cast<sockaddr *>(&address), length) != 0 && errno == ECONNREFUSED;
    (void)close(made);
    return refused;
}

int place_of(const NodeExchange &exchange, int world_rank) {
    for (int i = 0; i < exchange.count; ++i)
        if (exchange.members[i] == world_rank) return i;
    return -1;
}

// Called by the leader: accepts one connection and stores its socket at the place of its member.
// Closes a connection that is not from a member, which is no error.
sennit_status accept_member(Rank &rank, const NodeExchange &exchange, const Deadline &deadline,
                            int *sockets) {
    sennit_status status = wait_socket(exchange.listener->socket, POLLIN, deadline);
    if (status != SENNIT_OK) return status;
    const int socket = accept4(exchange.listener->socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0)
        return errno == EINTR || errno == ECONNABORTED
                   ? SENNIT_OK
                   : fail_os(SENNIT_ERR_OS, errno, "accepting a rank of this node");
    DescriptorMessage message;
    Descriptors descriptors;
    const Deadline limit = Deadline::after(2'000'000'000);
    status = same_user(socket)
                 ? receive_message(socket, rank.job_cookie, limit, &message, &descriptors)
                 : SENNIT_ERR_BOOTSTRAP;
    if (status != SENNIT_OK) {
        (void)close(socket);
        return status == SENNIT_ERR_OS ? status : SENNIT_OK;
    }
    const int place = place_of(exchange, message.ranks[0]);
    if (place < 0 || sockets[place] >= 0) {
        close_all(descriptors);
        (void)close(socket);
        return SENNIT_OK;
    }
    store(rank, message, descriptors);
    sockets[place] = socket;
    return SENNIT_OK;
}

sennit_status collect(Rank &rank, const NodeExchange &exchange, const Deadline &deadline,
                      int *sockets) {
    // Interval of the checks for members that failed.
    constexpr std::int64_t kCheck_ns = 200'000'000;
    for (;;) {
        int missing = 0;
        for (int i = 1; i < exchange.count; ++i)
            missing += sockets[i] < 0 ? 1 : 0;
        if (missing == 0) return SENNIT_OK;
        const Deadline check = Deadline::after(std::min(kCheck_ns, deadline.left_ns()));
        const sennit_status status = accept_member(rank, exchange, check, sockets);
        const bool waits = status == SENNIT_ERR_TIMEOUT && !deadline.over();
        if (status != SENNIT_OK && !waits) return status;
        for (int i = 1; i < exchange.count && waits; ++i)
            if (sockets[i] < 0 && has_given_up(exchange.socket_names[i]))
                return fail_gave_up(exchange.members[i]);
    }
}

int descriptor_of(Rank &rank, int member, int own_pid_fd, bool memory_file) {
    if (member == rank.world_rank) return memory_file ? rank.memory_file : own_pid_fd;
    return memory_file ? rank.peers[member].memory_file : rank.peers[member].pid_fd;
}

sennit_status distribute(Rank &rank, const NodeExchange &exchange, int own_pid_fd,
                         const Deadline &deadline, const int *sockets) {
    for (int first = 0; first < exchange.count; first += kRanksPerMessage) {
        DescriptorMessage message;
        message.job_cookie = rank.job_cookie;
        Descriptors descriptors;
        const int end =
            first + kRanksPerMessage < exchange.count ? first + kRanksPerMessage : exchange.count;
        for (int i = first; i < end; ++i) {
            const int member = exchange.members[i];
            append(&message, &descriptors, member, descriptor_of(rank, member, own_pid_fd, true),
                   descriptor_of(rank, member, own_pid_fd, false));
        }
        for (int i = 1; i < exchange.count; ++i) {
            const sennit_status status = send_message(sockets[i], message, descriptors, deadline);
            if (status != SENNIT_OK && thread_error()->os_errno == EPIPE)
                return fail_gave_up(exchange.members[i]);
            if (status != SENNIT_OK) return status;
        }
    }
    return SENNIT_OK;
}

sennit_status lead(Rank &rank, const NodeExchange &exchange, int own_pid_fd,
                   const Deadline &deadline) {
    const Array<int> sockets(static_cast<std::size_t>(exchange.count));
    if (sockets == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the exchange of descriptors");
    for (int i = 0; i < exchange.count; ++i)
        sockets[i] = -1;
    sennit_status status = collect(rank, exchange, deadline, sockets);
    if (status == SENNIT_OK) status = distribute(rank, exchange, own_pid_fd, deadline, sockets);
    for (int i = 0; i < exchange.count; ++i)
        if (sockets[i] >= 0) (void)close(sockets[i]);
    return status;
}

sennit_status connect_leader(const NodeExchange &exchange, const Deadline &deadline, int *out) {
    const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return fail_os(SENNIT_ERR_OS, errno, "socket");
    sockaddr_un address;
    socklen_t length;
    set_address(exchange.socket_names[0], &address, &length);
    while (connect(made, reinterpret_cast<sockaddr *>(&address), length) != 0) {
        const int reason = errno;
        const bool is_full = reason == EAGAIN;  // the leader's queue of connections is full
        if (is_full && !deadline.over()) {
            (void)poll(nullptr, 0, 1);
            continue;
        }
        (void)close(made);
        if (is_full) return fail_late();
        if (reason == ECONNREFUSED) return fail_gave_up(exchange.members[0]);
        return fail_os(SENNIT_ERR_OS, reason, "connecting to the first rank of this node");
    }
    *out = made;
    return SENNIT_OK;
}

sennit_status follow(Rank &rank, const NodeExchange &exchange, int own_pid_fd,
                     const Deadline &deadline) {
    int leader = -1;
    sennit_status status = connect_leader(exchange, deadline, &leader);
    if (status != SENNIT_OK) return status;
    DescriptorMessage message;
    message.job_cookie = rank.job_cookie;
    Descriptors descriptors;
    append(&message, &descriptors, rank.world_rank, rank.memory_file, own_pid_fd);
    if (!same_user(leader)) {
        status = fail(SENNIT_ERR_BOOTSTRAP,
                      "rank %d runs as user %u, and rank %d of its node as user %u",
                      rank.world_rank, geteuid(), exchange.members[0], user_of(leader));
        (void)close(leader);
        return status;
    }
    status = send_message(leader, message, descriptors, deadline);
    for (int received = 0; status == SENNIT_OK && received < exchange.count;) {
        DescriptorMessage reply;
        Descriptors theirs;
        status = receive_message(leader, rank.job_cookie, deadline, &reply, &theirs);
        if (status == SENNIT_ERR_BOOTSTRAP) status = fail_gave_up(exchange.members[0]);
        if (status != SENNIT_OK) break;
        store(rank, reply, theirs);
        received += reply.count;
    }
    (void)close(leader);
    return status;
}

}  // namespace

sennit_status listener_open(Listener *listener) {
    if (getrandom(listener->name, sizeof listener->name, 0) !=
        static_cast<ssize_t>(sizeof listener->name))
        return fail_os(SENNIT_ERR_OS, errno, "getrandom");
    listener->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener->socket < 0) return fail_os(SENNIT_ERR_OS, errno, "socket");
    sockaddr_un address;
    socklen_t length;
    set_address(listener->name, &address, &length);
    if (bind(listener->socket, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
        listen(listener->socket, 1024) != 0) {
        const int reason = errno;
        listener_close(listener);
        return fail_os(SENNIT_ERR_OS, reason, "listening on an abstract socket");
    }
    return SENNIT_OK;
}

void listener_close(Listener *listener) {
    if (listener->socket >= 0) (void)close(listener->socket);
    listener->socket = -1;
}

sennit_status node_exchange(Rank &rank, const NodeExchange &exchange, const Deadline &deadline) {
    if (exchange.count < 2) return SENNIT_OK;
    const bool leads = exchange.members[0] == rank.world_rank;
    // The leader needs two descriptors and a socket for each other rank. Another rank needs two
    // descriptors of each rank, also of itself, because the leader sends them to all, and one
    // socket. Both need the pidfd of this process and a spare descriptor.
    const int others = exchange.count - 1;
    const sennit_status reserved =
        reserve_descriptors((leads ? 3 : 2) * others + (leads ? 2 : 5), exchange.count);
    if (reserved != SENNIT_OK) return reserved;
    // Old kernels and some containers refuse this. Then /proc or the launcher shows a death.
    const int own_pid_fd = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
    const sennit_status status = leads ? lead(rank, exchange, own_pid_fd, deadline)
                                       : follow(rank, exchange, own_pid_fd, deadline);
    if (own_pid_fd >= 0) (void)close(own_pid_fd);
    return status;
}

}  // namespace sennit::runtime
