// SPDX-License-Identifier: BSD-3-Clause
// Launchers with PMI-1 (MPICH's mpiexec.hydra and relatives): each process gets a connected socket
// in PMI_FD, or an address in PMI_PORT.
//
// The connection belongs to the process and outlives sennit_finalize. A launcher closes it after
// the request "finalize", and a later MPI_Init would then end the job. So Sennit sends that request
// only when the process exits, only after sennit_finalize, and only if no MPI of the process has
// used PMI-1. For the launcher, a rank that exits without the request has died, as with MPI.
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/mpi_presence.hpp"
#include "bootstrap/number.hpp"
#include "bootstrap/pmi1_wire.hpp"

namespace sennit::runtime {
namespace {

constexpr std::int64_t kFinalizeTimeout_ns = 2'000'000'000;

// The process's connection to its launcher. One rank of the process at a time uses it.
struct Session {
    Pmi1Wire *wire = nullptr;  // never freed: the exit handler needs it
    int fd = -1;
    bool fd_is_ours = false;  // connected to PMI_PORT; false: inherited in PMI_FD, never closed
    dev_t device = 0;  // identity of fd's socket: MPI may close fd, and the number may be reused
    ino_t inode = 0;
    bool initialised_by_us = false;
    bool exit_handler_is_set = false;
    bool rank_is_open = false;
    pid_t pid = 0;  // of this process: a forked child must not use the connection
    int rank = -1;
    int size = 0;
    std::uint32_t generation = 0;  // of the exchanges; continues in a later sennit_init
};

Session session;

bool is_socket(int fd, dev_t *device, ino_t *inode) {
    struct stat found {};
    if (fstat(fd, &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
    *device = found.st_dev;
    *inode = found.st_ino;
    return true;
}

// Whether the descriptor still is the session's socket, and the wire can be used.
bool still_connected() {
    dev_t device = 0;
    ino_t inode = 0;
    return session.wire != nullptr && !session.wire->broken() &&
           is_socket(session.fd, &device, &inode) && device == session.device &&
           inode == session.inode;
}

// The state of an MPI of this process that uses the same connection. Open MPI does not.
MpiState mpi_on_socket() {
    const MpiPresence mpi = mpi_presence();
    return mpi.is_open_mpi ? MpiState::kAbsent : mpi.state;
}

void finalize_at_exit() {
    if (!session.initialised_by_us || session.rank_is_open) return;
    if (session.pid != getpid() || !still_connected()) return;
    const MpiState mpi = mpi_on_socket();
    if (mpi == MpiState::kRunning || mpi == MpiState::kOver) return;
    (void)session.wire->finalise(Deadline::after(kFinalizeTimeout_ns));
}

// The launcher expects one connection per process and would mix up a second one with the first.
sennit_status fail_port_taken() {
    return fail(SENNIT_ERR_BOOTSTRAP,
                "MPI has taken the one connection to PMI_PORT; use sennit_init_mpi, or start "
                "without -pmi-port");
}

// Whether an exchange may start.
sennit_status check_connection() {
    const MpiState mpi = mpi_on_socket();
    if (still_connected() && session.fd_is_ours && mpi == MpiState::kRunning)
        return fail_port_taken();
    if (still_connected()) return SENNIT_OK;
    if (mpi == MpiState::kOver)
        return fail(SENNIT_ERR_BOOTSTRAP,
                    "MPI_Finalize has closed the connection to the PMI-1 launcher; call "
                    "sennit_init before it");
    return fail(SENNIT_ERR_BOOTSTRAP, "the connection to the PMI-1 launcher is closed");
}

int pmi1_allgather(void *, const void *mine, void *all, std::size_t bytes,
                   std::int64_t timeout_ns) {
    const sennit_status status = check_connection();
    if (status != SENNIT_OK) return status;
    const Pmi1Exchange exchange{session.rank, session.size, ++session.generation};
    return session.wire->allgather(exchange, mine, all, bytes, Deadline::after(timeout_ns));
}

int pmi1_barrier(void *, std::int64_t timeout_ns) {
    const sennit_status status = check_connection();
    if (status != SENNIT_OK) return status;
    return session.wire->barrier(Deadline::after(timeout_ns));
}

void pmi1_release(void *) {
    session.rank_is_open = false;
}

bool pmi1_present(char *reason, std::size_t bytes) {
    const char *fd_text = getenv("PMI_FD");
    const char *port = getenv("PMI_PORT");
    int fd = -1;
    int rank = -1;
    int size = 0;
    dev_t device = 0;
    ino_t inode = 0;
    if (fd_text == nullptr && port != nullptr) {
        const char *id = getenv("PMI_ID");
        (void)std::snprintf(reason, bytes, "PMI_PORT is %s and PMI_ID is %s", port,
                            id != nullptr ? id : "not set");
        return id != nullptr;
    }
    if (fd_text == nullptr) {
        (void)std::snprintf(reason, bytes, "neither PMI_FD nor PMI_PORT is set");
        return false;
    }
    if (!number_of(fd_text, 0, INT32_MAX, &fd) || !is_socket(fd, &device, &inode)) {
        (void)std::snprintf(reason, bytes,
                            "PMI_FD (%s) is no open socket: meant for another process, or closed "
                            "by MPI_Finalize",
                            fd_text);
        return false;
    }
    if (!number_of(getenv("PMI_RANK"), 0, INT32_MAX, &rank) ||
        !number_of(getenv("PMI_SIZE"), 1, INT32_MAX, &size) || rank >= size) {
        (void)std::snprintf(reason, bytes,
                            "PMI_FD is set, but PMI_RANK and PMI_SIZE do not say who"
                            " this is");
        return false;
    }
    (void)std::snprintf(reason, bytes, "PMI_FD is %d: rank %d of %d", fd, rank, size);
    return true;
}

// Connects to one address, until the deadline or for a minute. Returns the socket, or -1 with the
// errno in *error.
int connect_to(const addrinfo &address, Deadline deadline, int *error) {
    const int fd = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                          address.ai_protocol);
    if (fd < 0) {
        *error = errno;
        return -1;
    }
    if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return fd;
    *error = errno;
    if (*error == EINPROGRESS) {
        pollfd entry{fd, POLLOUT, 0};
        const std::int64_t wait_ms = std::min<std::int64_t>(deadline.left_ns() / 1'000'000, 60'000);
        socklen_t length = sizeof *error;
        *error = ETIMEDOUT;
        if (poll(&entry, 1, static_cast<int>(wait_ms)) > 0)
            (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &length);
        if (*error == 0) return fd;
    }
    (void)close(fd);
    return -1;
}

// Connects to PMI_PORT, "host:port". The deadline does not limit the look-up of the host's name.
sennit_status connect_to_port(const char *address, Deadline deadline, int *connected) {
    char host[256];
    const char *colon = std::strrchr(address, ':');
    if (colon == nullptr || static_cast<std::size_t>(colon - address) >= sizeof host)
        return fail(SENNIT_ERR_BOOTSTRAP, "PMI_PORT is no host:port: %s", address);
    (void)std::snprintf(host, sizeof host, "%.*s", static_cast<int>(colon - address), address);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    const int result = getaddrinfo(host, colon + 1, &hints, &found);
    if (result != 0)
        return fail(SENNIT_ERR_BOOTSTRAP, "the host of PMI_PORT (%s) is unknown: %s", address,
                    gai_strerror(result));
    int error = ECONNREFUSED;
    int fd = -1;
    for (const addrinfo *entry = found; entry != nullptr && fd < 0; entry = entry->ai_next)
        fd = connect_to(*entry, deadline, &error);
    freeaddrinfo(found);
    if (fd < 0) return fail_os(SENNIT_ERR_BOOTSTRAP, error, "connecting to PMI_PORT (%s)", address);
    *connected = fd;
    return SENNIT_OK;
}

// Finds the socket and makes the wire; sends nothing.
sennit_status take_socket(Deadline deadline, bool *is_ours) {
    int fd = -1;
    const char *port = getenv("PMI_PORT");
    *is_ours = getenv("PMI_FD") == nullptr;
    if (!*is_ours) {
        (void)number_of(getenv("PMI_FD"), 0, INT32_MAX, &fd);
        (void)number_of(getenv("PMI_RANK"), 0, INT32_MAX, &session.rank);
        (void)number_of(getenv("PMI_SIZE"), 1, INT32_MAX, &session.size);
    } else {
        if (mpi_on_socket() == MpiState::kRunning) return fail_port_taken();
        const sennit_status status = connect_to_port(port, deadline, &fd);
        if (status != SENNIT_OK) return status;
    }
    auto *wire = new (std::nothrow) Pmi1Wire(fd);
    if (wire == nullptr || !is_socket(fd, &session.device, &session.inode)) {
        if (*is_ours) (void)close(fd);
        delete wire;
        return fail(SENNIT_ERR_NOMEM, "no memory for the connection to the PMI-1 launcher");
    }
    session.wire = wire;
    session.fd = fd;
    session.fd_is_ours = *is_ours;
    session.pid = getpid();
    return SENNIT_OK;
}

void drop_socket() {
    if (session.fd_is_ours) (void)close(session.fd);
    delete session.wire;
    session.wire = nullptr;
    session.fd = -1;
    session.initialised_by_us = false;
}

// Whether a later MPI_Init would fail. hydra accepts a second "init" on the same socket. Slurm
// (--mpi=pmi2) ends the job at a second "init", so MPI_Init must be called first. The variable
// HYDI_CONTROL_FD shows a hydra that runs inside a job of Slurm.
bool mpi_init_would_fail() {
    const bool is_slurm = getenv("PMI_JOBID") != nullptr && getenv("SLURM_STEP_ID") != nullptr &&
                          getenv("HYDI_CONTROL_FD") == nullptr;
    return is_slurm && mpi_on_socket() == MpiState::kIdle;
}

sennit_status start_session(Deadline deadline) {
    bool is_ours = false;
    if (mpi_init_would_fail())
        return fail(SENNIT_ERR_BOOTSTRAP,
                    "Slurm's PMI-1 serves one library of a process, and this program has an MPI: "
                    "call MPI_Init before sennit_init, or start it with srun --mpi=pmix");
    sennit_status status = take_socket(deadline, &is_ours);
    if (status != SENNIT_OK) return status;
    if (is_ours)
        status = session.wire->introduce(getenv("PMI_ID"), deadline, &session.rank, &session.size);
    // After MPI_Init the session has started, and MPI ends it.
    if (status == SENNIT_OK && (is_ours || mpi_on_socket() != MpiState::kRunning)) {
        status = session.wire->initialise(deadline);
        session.initialised_by_us = status == SENNIT_OK;
    }
    if (status == SENNIT_OK) status = session.wire->learn_limits(deadline);
    if (status != SENNIT_OK) drop_socket();
    return status;
}

sennit_status pmi1_open(std::int64_t timeout_ns, sennit_bootstrap *out) {
    if (session.rank_is_open)
        return fail(SENNIT_ERR_STATE, "a rank of this process uses the PMI-1 launcher already");
    if (session.wire != nullptr && session.pid != getpid())
        return fail(SENNIT_ERR_STATE, "a forked child cannot use the PMI-1 launcher");
    char reason[kReasonBytes];
    if (session.wire == nullptr && !pmi1_present(reason, sizeof reason))
        return fail(SENNIT_ERR_BOOTSTRAP, "not started by a PMI-1 launcher: %s", reason);
    if (session.wire != nullptr) {
        const sennit_status status = check_connection();
        if (status != SENNIT_OK) return status;
    } else {
        if (!session.exit_handler_is_set && std::atexit(finalize_at_exit) != 0)
            return fail(SENNIT_ERR_NOMEM, "no memory for the handler that leaves the launcher");
        session.exit_handler_is_set = true;
        const sennit_status status = start_session(Deadline::after(timeout_ns));
        if (status != SENNIT_OK) return status;
    }
    session.rank_is_open = true;
    *out = sennit_bootstrap{sizeof *out,  "pmi1",         &session,     session.rank,
                            session.size, pmi1_allgather, pmi1_barrier, pmi1_release};
    return SENNIT_OK;
}

}  // namespace

const Launcher kPmi1Launcher{"pmi1", pmi1_present, pmi1_open};

}  // namespace sennit::runtime
