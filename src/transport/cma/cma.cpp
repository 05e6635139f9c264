// SPDX-License-Identifier: BSD-3-Clause
// Path cma: the kernel copies between this process and a peer's (process_vm_readv, _writev). The
// peer's program need not help, but the kernel must permit the copies; a test with real reads and
// writes at start shows whether it does. Used for private memory that a peer registered, and for
// all memory of a peer that no better path reaches. A segment's handle is its address in the owner.
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include "base/array.hpp"
#include "base/fail.hpp"
#include "base/system_file.hpp"
#include "memory/file.hpp"
#include "runtime/detector.hpp"
#include "transport/cma/batch.hpp"
#include "transport/control_view.hpp"
#include "transport/node_paths.hpp"
#include "transport/node_transport.hpp"

namespace sennit::transport {
namespace {

// The data with which a peer tests the path. `token` is also in the control block's header, and
// identifies the process.
struct CmaAddress {
    std::int64_t process_id;
    std::uint64_t control_address;
    std::uint64_t token;
};
static_assert(sizeof(CmaAddress) <= kAddressBytes);

constexpr Traits kTraits{"cma", SENNIT_PATH_CMA, false, true, 1, 0, SIZE_MAX, true, true};

// The process ID of a pidfd in this process's pid namespace; -1 if unknown.
pid_t process_of(int pid_fd) {
    char name[64];
    (void)std::snprintf(name, sizeof name, "/proc/self/fdinfo/%d", pid_fd);
    return static_cast<pid_t>(number_in_file(name, "\nPid:", UINT64_MAX));
}

bool moved_whole(ssize_t moved, std::size_t bytes) {
    return moved == static_cast<ssize_t>(bytes);
}

class Cma final : public NodeTransport {
  public:
    const Traits &traits() const override { return kTraits; }

    sennit_status open(Rank &rank, const char *settings, const EventSink &sink) override {
        const sennit_status status = NodeTransport::open(rank, settings, sink);
        if (status != SENNIT_OK) return status;
        while (token_ == 0) {
            if (getrandom(&token_, sizeof token_, 0) != static_cast<ssize_t>(sizeof token_))
                return fail_os(SENNIT_ERR_OS, errno, "getrandom");
        }
        // The bootstrap's allgather orders this store before any peer's read.
        rank.control->header.probe_token = token_;
        return SENNIT_OK;
    }

    void address(Address *out) override {
        const CmaAddress own{getpid(), reinterpret_cast<std::uintptr_t>(rank_->control), token_};
        *out = Address{};
        std::memcpy(out->bytes, &own, sizeof own);
    }

    sennit_status connect(const Address *addresses, const Deadline &deadline) override {
        const std::size_t size = size_of(*rank_);
        processes_ = Array<pid_t>(size);
        views_ = Array<bool>(size);
        checked_ = Array<std::atomic<std::int64_t>>(size);
        if (processes_ == nullptr || views_ == nullptr || checked_ == nullptr)
            return fail(SENNIT_ERR_NOMEM, "no memory for the table of processes");
        return NodeTransport::connect(addresses, deadline);
    }

    Reason reach(int peer) override {
        Peer &other = rank_->peers[peer];
        if (!other.same_node) return {Reason::Code::other_node, 0};
        // Ranks of one process without each other's memory files use plain pointers.
        if (other.same_process && other.memory_file < 0) return {Reason::Code::same_process, 0};
        const Reason tried = probe(peer);
        if (tried.code != Reason::Code::taken || other.control != nullptr) return tried;
        const Reason viewed = control_view_open(*rank_, peer);
        views_[peer] = viewed.code == Reason::Code::taken;
        return viewed;
    }

    void forget(int peer) override {
        if (views_[peer]) control_view_close(*rank_, peer);
        views_[peer] = false;
    }

    sennit_status attach(int, const SegmentRecord &record, RemoteMemory *out) override {
        out->handle = record.owner_address;
        return SENNIT_OK;
    }

    sennit_status copy(int peer, Operation::Kind kind, const RemoteMemory &remote,
                       const CopyRun *runs, std::size_t count) override {
        if (is_gone(peer)) [[unlikely]]
            return lost(peer);
        if (count == 1) [[likely]] {
            // Keep this case short: after a system call branch prediction is cold, and each jump
            // costs several times as much.
            const iovec local{runs->local, runs->bytes};
            const iovec there{reinterpret_cast<void *>(remote.handle + runs->offset), runs->bytes};
            const ssize_t moved =
                kind == Operation::Kind::get
                    ? process_vm_readv(processes_[peer], &local, 1, &there, 1, 0)
                    : process_vm_writev(processes_[peer], &local, 1, &there, 1, 0);
            if (moved_whole(moved, runs->bytes)) [[likely]]
                return SENNIT_OK;
        }
        return copy_in_batches(peer, kind, remote, runs, count);
    }

  private:
    // The process ID of a dead peer may be reused. So the first copy in each tick of the kernel's
    // clock (at most 10 ms) checks the peer: the kernel reuses an ID only after all others, which
    // takes longer.
    bool is_gone(int peer) {
        timespec now{};
        (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        const std::int64_t tick = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
        // All relaxed: threads that check twice do no harm.
        if (checked_[peer].load(std::memory_order_relaxed) != tick) [[unlikely]] {
            checked_[peer].store(tick, std::memory_order_relaxed);
            return peer_gone(*rank_, peer) != Gone::no;
        }
        return known_gone(*rank_, peer) != Gone::no;
    }

    // Also repeats a single run that was not moved whole.
    [[gnu::noinline]] sennit_status copy_in_batches(int peer, Operation::Kind kind,
                                                    const RemoteMemory &remote, const CopyRun *runs,
                                                    std::size_t count) {
        while (count > 0) {
            RunBatch batch;
            const std::size_t taken = batch.fill(remote.handle, runs, count);
            const sennit_status status = move(peer, kind, batch);
            if (status != SENNIT_OK) return status;
            runs += taken;
            count -= taken;
        }
        return SENNIT_OK;
    }

    Reason probe(int peer);
    Reason probe_process(int peer, pid_t process);
    sennit_status move(int peer, Operation::Kind kind, RunBatch &batch);
    sennit_status explain(int peer, int error, const RunBatch &batch);

    sennit_status lost(int peer) {
        return fail_peer(SENNIT_ERR_PEER_LOST, peer, "cma", "rank %d is gone", peer);
    }

    // By peer.
    Array<pid_t> processes_;                    // 0 until the test succeeds
    Array<std::atomic<std::int64_t>> checked_;  // time of the last check of the peer
    Array<bool> views_;                         // this transport has mapped the control block
    std::uint64_t token_ = 0;
};

Reason Cma::probe(int peer) {
    CmaAddress own;
    std::memcpy(&own, addresses_[peer].bytes, sizeof own);
    if (own.token == 0) return {Reason::Code::not_allowed_there, 0};
    const Reason named = probe_process(peer, static_cast<pid_t>(own.process_id));
    const int pid_fd = rank_->peers[peer].pid_fd;
    if (named.code == Reason::Code::taken || pid_fd < 0) return named;
    const pid_t seen = process_of(pid_fd);
    return seen <= 0 || seen == own.process_id ? named : probe_process(peer, seen);
}

// Reads the header and writes a word of it: a filter of system calls may permit only reads. All
// peers write the same word, so they do not disturb each other.
Reason Cma::probe_process(int peer, pid_t process) {
    CmaAddress own;
    std::memcpy(&own, addresses_[peer].bytes, sizeof own);
    ControlHeader header;
    iovec mine{&header, sizeof header};
    iovec theirs{reinterpret_cast<void *>(own.control_address), sizeof header};
    const ssize_t got = process_vm_readv(process, &mine, 1, &theirs, 1, 0);
    if (got < 0) return Reason::of(Reason::Code::kernel_refused, errno);
    if (!moved_whole(got, sizeof header) || header.magic != kControlMagic || header.rank != peer ||
        header.probe_token != own.token)
        return {Reason::Code::wrong_content, 0};
    const std::uint64_t echo = own.token;
    mine = {const_cast<std::uint64_t *>(&echo), sizeof echo};
    theirs = {reinterpret_cast<void *>(own.control_address + offsetof(ControlHeader, probe_echo)),
              sizeof echo};
    const ssize_t put = process_vm_writev(process, &mine, 1, &theirs, 1, 0);
    if (put < 0) return Reason::of(Reason::Code::kernel_refused, errno);
    std::uint64_t back = 0;
    mine = {&back, sizeof back};
    const ssize_t again = process_vm_readv(process, &mine, 1, &theirs, 1, 0);
    if (again < 0) return Reason::of(Reason::Code::kernel_refused, errno);
    if (!moved_whole(put, sizeof echo) || !moved_whole(again, sizeof back) || back != echo)
        return {Reason::Code::wrong_content, 0};
    processes_[peer] = process;
    return {Reason::Code::taken, 0};
}

// The kernel moves at most 2 GiB per call and stops at the first unreachable page. Another call for
// the rest then returns the error.
sennit_status Cma::move(int peer, Operation::Kind kind, RunBatch &batch) {
    const auto call = kind == Operation::Kind::get ? process_vm_readv : process_vm_writev;
    for (;;) {
        const ssize_t moved = call(processes_[peer], batch.local(), batch.local_count(),
                                   batch.remote(), batch.remote_count(), 0);
        if (moved_whole(moved, batch.bytes())) return SENNIT_OK;
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0) return explain(peer, errno, batch);
        if (moved == 0) return explain(peer, EFAULT, batch);
        batch.drop(static_cast<std::size_t>(moved));
    }
}

[[gnu::cold]] sennit_status Cma::explain(int peer, int error, const RunBatch &batch) {
    switch (error) {
        case ESRCH:
            note_gone(*rank_, peer, Gone::died);
            return lost(peer);
        case EFAULT:
            for (std::size_t i = 0; i < batch.local_count(); ++i) {
                if (memory::is_mapped(batch.local()[i].iov_base, batch.local()[i].iov_len))
                    continue;
                return fail_peer(SENNIT_ERR_ARG, peer, "cma",
                                 "the private buffer at %p is not mapped in this process",
                                 batch.local()[i].iov_base);
            }
            return fail_peer(
                SENNIT_ERR_NOT_REGISTERED, peer, "cma",
                "%zu byte%s at %p of rank %d: its process has freed the memory without "
                "sennit_deregister, or one side may not be written",
                batch.bytes(), plural(batch.bytes()), batch.remote()[0].iov_base, peer);
        case ENOMEM:
            return fail_peer(SENNIT_ERR_NOMEM, peer, "cma", "the kernel had no memory for a copy");
        default:
            (void)fail_os(SENNIT_ERR_OS, error,
                          "the kernel refuses to copy between this process and that of rank %d, "
                          "though it permitted that at start",
                          peer);
            thread_error()->peer = peer;
            thread_error()->path = "cma";
            return SENNIT_ERR_OS;
    }
}

}  // namespace

Transport *make_cma() {
    return new (std::nothrow) Cma;
}

}  // namespace sennit::transport
