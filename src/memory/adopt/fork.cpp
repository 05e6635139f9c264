// SPDX-License-Identifier: BSD-3-Clause
// Makes adopted memory private in a forked child. The table is locked from before the fork until
// the child has its copies, so no page moves meanwhile. The parent waits until the child closes a
// pipe or ends, for at most kChildTimeoutMs. The child looks for adopted memory in the kernel's
// record, because realloc may have moved it since its registration. Every shared mapping of a
// memory file there is adopted memory: all others are excluded from fork (MADV_DONTFORK).
#include "memory/adopt/adopt.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/log.hpp"
#include "base/raw.hpp"
#include "memory/adopt/classify.hpp"
#include "memory/adopt/mover.hpp"
#include "memory/adopt/table.hpp"
#include "rank/process.hpp"

namespace sennit::memory::adopt {
namespace {

constexpr int kChildTimeoutMs = 60'000;

// Held across a fork, taken before the table's lock: one thread forks at a time.
pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

// Guarded by fork_lock.
struct Forking {
    Table *table = nullptr;
    int pipe_ends[2] = {-1, -1};
    std::uint64_t signals = 0;
    // A text for the log, written after all locks are released, because the log may be a function
    // of the program.
    const char *trouble = nullptr;
};
Forking forking;

// The frames of fork may be on adopted stack pages, if the function with the registered array has
// returned. The child would then store into its parent's frames before it has copies. A handler
// cannot refuse a fork, so `advice` MADV_DONTFORK excludes these pages from the child: it dies at
// once, and the parent continues. MADV_DOFORK ends the exclusion. An array whose function has not
// returned is above these frames, so the child copies it.
void advise_own_frames(const Table &table, int advice) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    for (std::uint32_t i = 0; i < table.live; ++i) {
        const PageRun &run = table.runs[table.in_order[i]];
        const std::uint64_t end = run.address + run.bytes;
        if (!run.on_stack || run.address > here || end < here - kFramesBelow) continue;
        (void)madvise(reinterpret_cast<void *>(run.address), run.bytes, advice);
        forking.trouble =
            "fork was called on registered stack memory of a function that has returned: the child "
            "dies";
    }
}

void close_pipe() {
    for (int &end : forking.pipe_ends) {
        if (end >= 0) (void)close(end);
        end = -1;
    }
}

void set_signals(std::uint64_t signals) {
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, &signals, 0, sizeof signals);
}

void before_fork() {
    std::uint64_t signals = 0;
    const std::uint64_t all = UINT64_MAX;
    // A signal handler in the child must not run on pages that are still the parent's.
    (void)raw_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &signals, sizeof signals);
    (void)pthread_mutex_lock(&fork_lock);
    Table *const table = table_if_open();
    if (table != nullptr) (void)pthread_mutex_lock(&table->lock);
    forking.table = table;
    forking.signals = signals;
    forking.trouble = nullptr;
    if (table != nullptr && has_adopted(*table) && pipe2(forking.pipe_ends, O_CLOEXEC) != 0)
        forking.trouble =
            "a forked child may see stores to registered memory right after the fork: there is no "
            "pipe by which to wait for it";
    if (table != nullptr) advise_own_frames(*table, MADV_DONTFORK);
}

// Returns when the child has closed the pipe or died, or after kChildTimeoutMs. If fork has failed,
// returns at once.
void wait_for_child() {
    if (forking.pipe_ends[0] < 0) return;
    (void)close(forking.pipe_ends[1]);
    forking.pipe_ends[1] = -1;
    pollfd end{forking.pipe_ends[0], POLLIN, 0};
    int result;
    do {
        result = poll(&end, 1, kChildTimeoutMs);
    } while (result < 0 && errno == EINTR);
    if (result == 0)
        forking.trouble =
            "a forked child may see stores to registered memory right after the fork: it "
            "was not ready after a minute";
    close_pipe();
}

void finish() {
    Table *const table = forking.table;
    const std::uint64_t signals = forking.signals;
    const char *const trouble = forking.trouble;
    forking.table = nullptr;
    if (table != nullptr) (void)pthread_mutex_unlock(&table->lock);
    (void)pthread_mutex_unlock(&fork_lock);
    set_signals(signals);
    if (trouble != nullptr) log(SENNIT_LOG_WARNING, "%s", trouble);
}

void in_parent() {
    wait_for_child();
    if (forking.table != nullptr) advise_own_frames(*forking.table, MADV_DOFORK);
    finish();
}

int file_shown(const Table &table, const Mapping &mapping) {
    for (const RunFile &run_file : table.files)
        if (run_file.file >= 0 && run_file.device == mapping.device &&
            run_file.inode == mapping.inode)
            return run_file.file;
    return -1;
}

void copy_or_close(const PageMove &move) {
    if (copy_for_child(move) == 0) return;
    // There is no memory for a copy: a fault is better than stores into the parent's memory.
    (void)mmap(reinterpret_cast<void *>(move.address), move.bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

// Copies the runs of the table. Called if the kernel's record cannot be read, for example because
// no descriptor is free.
void copy_runs(const Table &table) {
    for (std::uint32_t i = 0; i < table.live; ++i) {
        const PageRun &run = table.runs[table.in_order[i]];
        PageMove move;
        move.address = run.address;
        move.bytes = run.bytes;
        move.file_offset = run.file_offset;
        move.file = table.files[run.file].file;
        copy_or_close(move);
    }
}

void copy_shared_memory(const Table &table) {
    KernelRecord record;
    if (!record.is_open()) return copy_runs(table);
    Mapping mapping;
    for (std::uint64_t at = 0; record.find(at, &mapping); at = mapping.end) {
        const int file = mapping.shared ? file_shown(table, mapping) : -1;
        if (file < 0) continue;
        PageMove move;
        move.address = mapping.begin;
        move.bytes = mapping.end - mapping.begin;
        move.file_offset = mapping.file_offset;
        move.file = file;
        copy_or_close(move);
    }
}

void in_child() {
    if (forking.table != nullptr && has_adopted(*forking.table)) copy_shared_memory(*forking.table);
    close_pipe();
    if (forking.table != nullptr) table_forget_all(*forking.table);
    const std::uint64_t signals = forking.signals;
    forking.table = nullptr;
    (void)pthread_mutex_init(&fork_lock, nullptr);
    set_signals(signals);
}

constexpr ForkHooks kHooks{before_fork, in_parent, in_child};

}  // namespace

void watch_forks() {
    process_watch_forks(&kHooks);
}

}  // namespace sennit::memory::adopt
