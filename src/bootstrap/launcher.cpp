// SPDX-License-Identifier: BSD-3-Clause
// The rank's side of `sennit run`: claims the rank on the inherited control socket, then does
// allgather and barrier over a private connection (launch_protocol.hpp).
//
// Invariants: the private connection is close-on-exec from its creation, the control socket from
// the first claim. So a program that a rank starts later cannot claim the rank, although it
// inherits the environment. No call waits more than a second longer than its timeout. After an
// error within a frame the connection is broken: every further call fails.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/late_notice.hpp"
#include "bootstrap/launch_protocol.hpp"
#include "bootstrap/number.hpp"

namespace sennit::runtime {
namespace {

// The environment's values, checked as far as possible without the launcher.
struct Claim {
    int control_fd;
    int rank;
    int size;
    pid_t launcher;
    unsigned char cookie[kLaunchCookieBytes];
};

struct Connection {
    int fd;
    int rank;
    int size;
    std::uint32_t sequence;
    bool broken;
};

bool read_job(Claim *claim) {
    const char *text = std::getenv(kLaunchJobVariable);
    if (text == nullptr) return false;
    char *dash = nullptr;
    errno = 0;
    const long launcher = std::strtol(text, &dash, 10);
    if (errno != 0 || launcher < 1 || launcher > INT_MAX || *dash != '-') return false;
    claim->launcher = static_cast<pid_t>(launcher);
    return from_hex(dash + 1, claim->cookie, kLaunchCookieBytes);
}

// Whether the descriptor is the control socket of the launcher that the environment names. The
// program may have closed the descriptor, and its number may be that of another file. This is
// checked before anything is sent.
bool control_socket_is_ours(const Claim &claim, char *reason, std::size_t bytes) {
    const int fd = claim.control_fd;
    struct stat status {};
    if (fstat(fd, &status) != 0) {
        (void)std::snprintf(reason, bytes,
                            "%s names descriptor %d, which is not open: this process was started "
                            "by a rank, not by `sennit run`",
                            kLaunchControlVariable, fd);
        return false;
    }
    int type = 0;
    socklen_t type_bytes = sizeof type;
    ucred creator{};
    socklen_t creator_bytes = sizeof creator;
    if (!S_ISSOCK(status.st_mode) || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_bytes) != 0 ||
        type != SOCK_SEQPACKET ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &creator, &creator_bytes) != 0) {
        (void)std::snprintf(reason, bytes,
                            "descriptor %d is not the control socket of `sennit run`", fd);
        return false;
    }
    // The kernel reports 0 for a launcher outside of this process's pid namespace.
    if (creator.pid != 0 && creator.pid != claim.launcher) {
        (void)std::snprintf(reason, bytes,
                            "descriptor %d was made by process %d, not by the launcher %d that the "
                            "environment names",
                            fd, static_cast<int>(creator.pid), static_cast<int>(claim.launcher));
        return false;
    }
    return true;
}

bool read_claim(Claim *claim, char *reason, std::size_t bytes) {
    if (std::getenv(kLaunchControlVariable) == nullptr) {
        (void)std::snprintf(reason, bytes, "not started by `sennit run` (%s is not set)",
                            kLaunchControlVariable);
        return false;
    }
    if (!number_of(std::getenv(kLaunchControlVariable), 0, INT_MAX, &claim->control_fd) ||
        !number_of(std::getenv(kLaunchSizeVariable), 1, kLaunchRanksMax, &claim->size) ||
        !number_of(std::getenv(kLaunchRankVariable), 0, claim->size - 1, &claim->rank) ||
        !read_job(claim)) {
        (void)std::snprintf(reason, bytes, "%s, %s, %s or %s is missing or malformed",
                            kLaunchControlVariable, kLaunchRankVariable, kLaunchSizeVariable,
                            kLaunchJobVariable);
        return false;
    }
    return control_socket_is_ours(*claim, reason, bytes);
}

bool present(char *reason, std::size_t bytes) {
    Claim claim{};
    if (!read_claim(&claim, reason, bytes)) return false;
    (void)std::snprintf(reason, bytes, "started by `sennit run` as rank %d of %d", claim.rank,
                        claim.size);
    return true;
}

// Waits until the descriptor is ready or the time is over. Errors: TIMEOUT, OS.
sennit_status wait_ready(int fd, short events, const Deadline &deadline) {
    for (;;) {
        int timeout_ms = -1;
        if (!deadline.forever()) {
            const std::int64_t left_ms = (deadline.left_ns() + 999999) / 1000000;
            timeout_ms = left_ms > INT_MAX ? INT_MAX : static_cast<int>(left_ms);
        }
        pollfd entry{fd, events, 0};
        const int ready = poll(&entry, 1, timeout_ms);
        if (ready > 0) return SENNIT_OK;
        if (ready < 0 && errno != EINTR) return fail_os(SENNIT_ERR_OS, errno, "poll");
        if (deadline.over()) {
            return fail(SENNIT_ERR_TIMEOUT, "the launcher or another rank did not answer in time");
        }
    }
}

sennit_status launcher_gone() {
    return fail(SENNIT_ERR_BOOTSTRAP, "`sennit run` closed the connection: it has ended");
}

// Calls `move` until all bytes are transferred. move(at) transfers some bytes, beginning with byte
// `at`, and returns like send() and recv().
template <class Move>
sennit_status move_all(int fd, std::size_t bytes, short event, const char *what,
                       const Deadline &deadline, Move move) {
    for (std::size_t at = 0; at < bytes;) {
        const ssize_t moved = move(at);
        if (moved > 0) {
            at += static_cast<std::size_t>(moved);
            continue;
        }
        if (moved == 0 || errno == EPIPE || errno == ECONNRESET) return launcher_gone();
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return fail_os(SENNIT_ERR_OS, errno, "%s", what);
        const sennit_status status = wait_ready(fd, event, deadline);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

sennit_status send_all(int fd, const void *data, std::size_t bytes, const Deadline &deadline) {
    return move_all(fd, bytes, POLLOUT, "send to the launcher", deadline, [=](std::size_t at) {
        return send(fd, static_cast<const char *>(data) + at, bytes - at,
                    MSG_NOSIGNAL | MSG_DONTWAIT);
    });
}

sennit_status receive_all(int fd, void *data, std::size_t bytes, const Deadline &deadline) {
    return move_all(fd, bytes, POLLIN, "receive from the launcher", deadline, [=](std::size_t at) {
        return recv(fd, static_cast<char *>(data) + at, bytes - at, MSG_DONTWAIT);
    });
}

// The payload of an answer as text.
struct Sentence {
    char text[192] = "";
};

sennit_status receive_sentence(int fd, const LaunchFrame &frame, const Deadline &deadline,
                               Sentence *sentence) {
    if (frame.bytes >= sizeof sentence->text) {
        return fail(SENNIT_ERR_BOOTSTRAP, "the launcher sent a malformed answer");
    }
    return receive_all(fd, sentence->text, static_cast<std::size_t>(frame.bytes), deadline);
}

// Reads the reason, which is the payload of a refusal.
sennit_status receive_reason(int fd, const LaunchFrame &frame, const Deadline &deadline) {
    Sentence reason;
    const sennit_status status = receive_sentence(fd, frame, deadline, &reason);
    if (status != SENNIT_OK) return status;
    const char *text = reason.text;
    if (frame.kind == LaunchKind::kLost) {
        return fail_peer(SENNIT_ERR_PEER_LOST, frame.peer, "", "%s", text);
    }
    return fail(SENNIT_ERR_BOOTSTRAP, "`sennit run` refused: %s", text);
}

sennit_status receive_frame(int fd, LaunchKind wanted, LaunchFrame *frame,
                            const Deadline &deadline) {
    const sennit_status status = receive_all(fd, frame, sizeof *frame, deadline);
    if (status != SENNIT_OK) return status;
    if (frame->magic != kLaunchMagic) {
        return fail(SENNIT_ERR_BOOTSTRAP, "the launcher speaks another protocol");
    }
    if (frame->kind == LaunchKind::kLost || frame->kind == LaunchKind::kRefused) {
        return receive_reason(fd, *frame, deadline);
    }
    if (frame->kind != wanted && frame->kind != LaunchKind::kLate) {
        return fail(SENNIT_ERR_BOOTSTRAP, "the launcher sent an answer of kind %u instead of %u",
                    static_cast<unsigned>(frame->kind), static_cast<unsigned>(wanted));
    }
    return SENNIT_OK;
}

// Sends the hello together with the launcher's end of the private connection.
sennit_status send_hello(const Claim &claim, int launcher_end, const Deadline &deadline) {
    LaunchHello hello{};
    hello.magic = kLaunchMagic;
    hello.version = kLaunchVersion;
    hello.rank = claim.rank;
    hello.size = claim.size;
    std::memcpy(hello.cookie, claim.cookie, sizeof hello.cookie);

    iovec part{&hello, sizeof hello};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &launcher_end, sizeof launcher_end);

    for (;;) {
        if (sendmsg(claim.control_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
            return SENNIT_OK;
        }
        if (errno == EPIPE || errno == ECONNRESET) return launcher_gone();
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return fail_os(SENNIT_ERR_OS, errno, "send to the launcher");
        const sennit_status status = wait_ready(claim.control_fd, POLLOUT, deadline);
        if (status != SENNIT_OK) return status;
    }
}

// Makes the private connection; *fd is the rank's end.
sennit_status claim_rank(const Claim &claim, const Deadline &deadline, int *fd) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        return fail_os(SENNIT_ERR_OS, errno, "socketpair for the launcher");
    }
    sennit_status status = send_hello(claim, ends[1], deadline);
    (void)close(ends[1]);
    LaunchFrame frame{};
    if (status == SENNIT_OK) {
        status = receive_frame(ends[0], LaunchKind::kWelcome, &frame, deadline);
    }
    if (status != SENNIT_OK) {
        (void)close(ends[0]);
        return status;
    }
    // Programs that this process starts later must not take the rank as theirs.
    (void)fcntl(claim.control_fd, F_SETFD, FD_CLOEXEC);
    *fd = ends[0];
    return SENNIT_OK;
}

LaunchFrame frame_of(const Connection &connection, LaunchKind kind, std::uint32_t sequence) {
    LaunchFrame frame{};
    frame.magic = kLaunchMagic;
    frame.kind = kind;
    frame.sequence = sequence;
    frame.peer = connection.rank;
    return frame;
}

// Waits for the answer to allgather `sequence`. When a warning is due (LateNotice), and at the
// timeout, asks the launcher which ranks are late, for the text of the warning or error.
sennit_status await_gathered(const Connection &connection, std::uint32_t sequence,
                             const Deadline &deadline, LaunchFrame *answer) {
    constexpr std::int64_t kAnswer_ns = 500'000'000;
    const LaunchFrame question = frame_of(connection, LaunchKind::kWhoIsLate, sequence);
    LateNotice notice;
    int waited_s = 0;
    for (bool last = false;;) {
        const Deadline until = last ? Deadline::after(kAnswer_ns) : notice.next(deadline);
        sennit_status status = wait_ready(connection.fd, POLLIN, until);
        if (status == SENNIT_ERR_TIMEOUT && !last) {
            last = deadline.over();
            waited_s = notice.due_s();
            status =
                send_all(connection.fd, &question, sizeof question, Deadline::after(kAnswer_ns));
            if (status != SENNIT_OK) return status;
            continue;
        }
        if (status != SENNIT_OK) return status;
        const Deadline rest = last ? until : deadline;
        status = receive_frame(connection.fd, LaunchKind::kGathered, answer, rest);
        if (status != SENNIT_OK || answer->kind != LaunchKind::kLate) return status;
        Sentence late;
        status = receive_sentence(connection.fd, *answer, rest, &late);
        if (status != SENNIT_OK) return status;
        if (last) return fail_peer(SENNIT_ERR_TIMEOUT, answer->peer, "", "%s in time", late.text);
        if (answer->sequence == static_cast<std::uint32_t>(connection.rank))
            log(SENNIT_LOG_WARNING, "after %d s %s", waited_s, late.text);
    }
}

sennit_status exchange(Connection *connection, const void *mine, void *all, std::size_t bytes,
                       const Deadline &deadline) {
    const auto size = static_cast<std::uint64_t>(connection->size);
    if (bytes > kLaunchGatherBytesMax / size) {
        return fail(SENNIT_ERR_UNSUPPORTED, "an allgather of %zu bytes a rank is too large", bytes);
    }
    if (connection->broken) {
        return fail(SENNIT_ERR_BOOTSTRAP, "the connection to `sennit run` failed before");
    }
    LaunchFrame frame = frame_of(*connection, LaunchKind::kGather, connection->sequence++);
    frame.bytes = bytes;
    // Cleared below only after the whole answer was read.
    connection->broken = true;
    sennit_status status = send_all(connection->fd, &frame, sizeof frame, deadline);
    if (status == SENNIT_OK) status = send_all(connection->fd, mine, bytes, deadline);
    LaunchFrame answer{};
    if (status == SENNIT_OK) {
        status = await_gathered(*connection, frame.sequence, deadline, &answer);
    }
    if (status != SENNIT_OK) return status;
    if (answer.sequence != frame.sequence || answer.bytes != bytes * size) {
        return fail(SENNIT_ERR_BOOTSTRAP, "the launcher answered another allgather");
    }
    status = receive_all(connection->fd, all, static_cast<std::size_t>(answer.bytes), deadline);
    if (status == SENNIT_OK) connection->broken = false;
    return status;
}

int allgather(void *context, const void *mine, void *all, std::size_t bytes,
              std::int64_t timeout_ns) {
    return exchange(static_cast<Connection *>(context), mine, all, bytes,
                    Deadline::after(timeout_ns));
}

int barrier(void *context, std::int64_t timeout_ns) {
    return exchange(static_cast<Connection *>(context), nullptr, nullptr, 0,
                    Deadline::after(timeout_ns));
}

// Replaces kGoodbye if the connection is broken: there the launcher would read kGoodbye as the rest
// of an unfinished frame. Sent on the control socket.
void send_farewell() {
    Claim claim{};
    char reason[200];
    if (read_claim(&claim, reason, sizeof reason))
        (void)send(claim.control_fd, &kLaunchFarewell, sizeof kLaunchFarewell,
                   MSG_NOSIGNAL | MSG_DONTWAIT);
}

void release(void *context) {
    auto *connection = static_cast<Connection *>(context);
    if (connection->broken) {
        send_farewell();
    } else {
        const LaunchFrame frame = frame_of(*connection, LaunchKind::kGoodbye, connection->sequence);
        // If this fails, `sennit run` takes the rank for one that ended without sennit_finalize.
        (void)send(connection->fd, &frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    (void)close(connection->fd);
    std::free(connection);
}

sennit_status open(std::int64_t timeout_ns, sennit_bootstrap *out) {
    Claim claim{};
    char reason[200];
    if (!read_claim(&claim, reason, sizeof reason)) {
        return fail(SENNIT_ERR_BOOTSTRAP, "%s", reason);
    }
    auto *connection = static_cast<Connection *>(std::calloc(1, sizeof(Connection)));
    if (connection == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the launcher's state");
    int fd = -1;
    const sennit_status status = claim_rank(claim, Deadline::after(timeout_ns), &fd);
    if (status != SENNIT_OK) {
        std::free(connection);
        return status;
    }
    *connection = Connection{fd, claim.rank, claim.size, 0, false};
    *out = sennit_bootstrap{sizeof(sennit_bootstrap),
                            "launcher",
                            connection,
                            claim.rank,
                            claim.size,
                            allgather,
                            barrier,
                            release};
    return SENNIT_OK;
}

}  // namespace

int launcher_connection(const sennit_bootstrap &bootstrap) {
    return bootstrap.release == release ? static_cast<Connection *>(bootstrap.context)->fd : -1;
}

const Launcher kSennitLauncher = {"launcher", present, open};

}  // namespace sennit::runtime
