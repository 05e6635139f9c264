// SPDX-License-Identifier: BSD-3-Clause
#include "observe/stats_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/condition.hpp"
#include "base/mutex.hpp"
#include "base/own_thread.hpp"
#include "observe/own_file.hpp"

namespace sennit::runtime {

struct StatsFile {
    int fd = -1;
    off_t offset = 0;
    std::size_t bytes = 0;  // size of the part
    const PeerCounters *counters = nullptr;
    // The next and the last written version of the part. They are in pages of their own, because
    // adoption (memory/adopt) may move memory beside a program's buffers while the thread writes.
    StatsPart *next = nullptr;
    StatsPart *written = nullptr;
    int error = 0;  // of the first failed write

    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Condition wake;
    bool has_thread = false;
    bool ends = false;  // under the lock
    pthread_t thread;
};

namespace {

std::size_t counters_of(const StatsFile &file) {
    return (file.bytes - sizeof(StatsPart)) / sizeof(PeerCounters);
}

void take_counters(StatsFile &file) {
    auto *to = reinterpret_cast<PeerCounters *>(file.next + 1);
    const auto copy = [](std::atomic<std::uint64_t> &word,
                         const std::atomic<std::uint64_t> &counter) {
        // relaxed twice: sums on which nothing depends, and a copy that only this thread has.
        word.store(counter.load(std::memory_order_relaxed), std::memory_order_relaxed);
    };
    for (std::size_t i = 0; i < counters_of(file); ++i) {
        copy(to[i].operations, file.counters[i].operations);
        copy(to[i].bytes, file.counters[i].bytes);
        copy(to[i].waits, file.counters[i].waits);
        copy(to[i].wait_ns, file.counters[i].wait_ns);
    }
}

void write_all(StatsFile &file) {
    const auto *from = reinterpret_cast<const std::byte *>(file.next);
    std::size_t done = 0;
    while (done < file.bytes) {
        const ssize_t wrote =
            pwrite(file.fd, from + done, file.bytes - done, file.offset + static_cast<off_t>(done));
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
        if (wrote > 0 || errno == EINTR) continue;
        if (file.error == 0) file.error = errno;
        return;
    }
}

// Called by one thread at a time: the writer, and the closing thread after the writer has ended.
void write_if_changed(StatsFile &file) {
    take_counters(file);
    if (std::memcmp(file.next, file.written, file.bytes) == 0) return;
    write_all(file);
    std::memcpy(static_cast<void *>(file.written), file.next, file.bytes);
}

void *run_writer(void *argument) {
    auto &file = *static_cast<StatsFile *>(argument);
    const MutexLock lock(file.lock);
    while (!file.ends) {
        write_if_changed(file);
        (void)file.wake.wait(file.lock, Deadline::after(kWriteNs));
    }
    return nullptr;
}

// If no thread can be started, everything is written at the end.
void start_writer(StatsFile &file) {
    file.has_thread = create_own_thread(&file.thread, run_writer, &file) == 0;
}

StatsPart *make_part(std::size_t bytes) {
    void *place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return place == MAP_FAILED ? nullptr : static_cast<StatsPart *>(place);
}

void fill_head(const Observer &observer, StatsPart *part) {
    part->magic = kStatsMagic;
    part->version = kTraceVersion;
    part->rank = observer.rank->world_rank;
    part->size = observer.size;
    part->process_id = getpid();
    part->job_cookie = observer.rank->job_cookie;
    part->state = StatsState::running;
    (void)gethostname(part->host, sizeof part->host - 1);
}

// A write beyond the limit of the file size raises SIGXFSZ, which ends the program.
bool is_allowed(const StatsFile &file) {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           static_cast<rlim_t>(file.offset) + file.bytes <= limit.rlim_cur;
}

void destroy(StatsFile *file) {
    if (file->next != nullptr) (void)munmap(file->next, file->bytes);
    if (file->written != nullptr) (void)munmap(file->written, file->bytes);
    if (file->fd >= 0) (void)close(file->fd);
    (void)pthread_mutex_destroy(&file->lock);
    delete file;
}

// Opens the file and writes the first version of the part. False with errno.
bool open_part(const Observer &observer, StatsFile *file) {
    file->bytes = sizeof(StatsPart) + stats_counters(observer.size) * sizeof(PeerCounters);
    file->offset = static_cast<off_t>(stats_part_bytes(observer.size)) * observer.rank->world_rank;
    file->counters = observer.counters;
    errno = EFBIG;
    if (!is_allowed(*file)) return false;
    file->fd = open_own_file(observer.stats_name, O_WRONLY | O_CREAT);
    if (file->fd < 0) return false;
    file->next = make_part(file->bytes);
    file->written = make_part(file->bytes);
    if (file->next == nullptr || file->written == nullptr) return false;
    fill_head(observer, file->next);
    write_if_changed(*file);
    errno = file->error;
    return file->error == 0;
}

}  // namespace

StatsFile *stats_file_open(const Observer &observer) {
    auto *file = new (std::nothrow) StatsFile;
    if (file == nullptr) return nullptr;
    if (open_part(observer, file)) {
        start_writer(*file);
        return file;
    }
    const int error = errno;
    destroy(file);
    errno = error;
    return nullptr;
}

bool stats_file_close(StatsFile *file) {
    {
        const MutexLock lock(file->lock);
        file->ends = true;
        file->wake.wake_one();
    }
    if (file->has_thread) (void)pthread_join(file->thread, nullptr);
    file->next->state = StatsState::ended;
    write_if_changed(*file);
    const int error = file->error;
    destroy(file);
    errno = error;
    return error == 0;
}

}  // namespace sennit::runtime
