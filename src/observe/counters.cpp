// The counters of one rank: in memory of its own, and with SENNIT_STATS=FILE from observer_ready()
// on in its part of that file, where `sennit stats` reads them at any time.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "observe/observer_state.hpp"

namespace sennit::runtime {
namespace {

PeerCounters *counters_in(StatsPart *part) {
    return reinterpret_cast<PeerCounters *>(part + 1);
}

std::uint64_t load(const std::atomic<std::uint64_t> &counter) {
    // relaxed: a sum that nothing else hangs on.
    return counter.load(std::memory_order_relaxed);
}

void add_to(sennit_counters *sum, const PeerCounters &one) {
    sum->operations += load(one.operations);
    sum->bytes += load(one.bytes);
    sum->waits += load(one.waits);
    sum->wait_ns += load(one.wait_ns);
}

// Maps this rank's part of the file, with room on the disk: a page that has none would be a SIGBUS.
// Null with errno.
StatsPart *map_part(const Observer &observer) {
    const std::size_t bytes = stats_part_bytes(observer.size);
    const auto offset = static_cast<off_t>(bytes) * observer.rank->world_rank;
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        static_cast<rlim_t>(offset) + bytes > limit.rlim_cur) {
        errno = EFBIG;
        return nullptr;
    }
    const int file = open(observer.stats_name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return nullptr;
    int error = 0;
    do {
        error = posix_fallocate(file, offset, static_cast<off_t>(bytes));
    } while (error == EINTR);
    void *place = MAP_FAILED;
    if (error == 0) {
        place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
        if (place == MAP_FAILED) error = errno;
    }
    (void)close(file);
    errno = error;
    if (place == MAP_FAILED) return nullptr;
    (void)madvise(place, bytes, MADV_DONTFORK);
    return static_cast<StatsPart *>(place);
}

void fill_head(const Observer &observer, StatsPart *part) {
    part->version = kTraceVersion;
    part->rank = observer.rank->world_rank;
    part->size = observer.size;
    part->process_id = getpid();
    part->job_cookie = observer.rank->job_cookie;
    (void)gethostname(part->host, sizeof part->host - 1);
    part->magic = kStatsMagic;
    // SYNC stats-state: pairs with the acquire in cli/stats.cpp; the head comes before.
    part->state.store(static_cast<std::uint32_t>(StatsState::running), std::memory_order_release);
}

// The counters begun in memory go on in the part.
void move_to(Observer *observer, StatsPart *part) {
    PeerCounters *before = observer->counters;
    PeerCounters *after = counters_in(part);
    for (std::size_t i = 0; i < stats_counters(observer->size); ++i) {
        const auto copy = [](std::atomic<std::uint64_t> &to,
                             const std::atomic<std::uint64_t> &from) {
            // relaxed: no other thread knows of the rank yet.
            to.store(load(from), std::memory_order_relaxed);
        };
        copy(after[i].operations, before[i].operations);
        copy(after[i].bytes, before[i].bytes);
        copy(after[i].waits, before[i].waits);
        copy(after[i].wait_ns, before[i].wait_ns);
    }
    delete[] before;
    observer->counters = after;
    observer->part = part;
}

void print_row(const Rank &rank, int peer, sennit_path path, const sennit_counters &counters) {
    char whom[64];
    if (peer == kNobody) {
        (void)std::snprintf(whom, sizeof whom, "with several");
    } else {
        (void)std::snprintf(whom, sizeof whom, "with rank %d by %s", peer, sennit_path_name(path));
    }
    log(SENNIT_LOG_NONE, "rank %d: %s: %llu operations, %llu bytes, %llu waits of %.6f s in all",
        rank.world_rank, whom, static_cast<unsigned long long>(counters.operations),
        static_cast<unsigned long long>(counters.bytes),
        static_cast<unsigned long long>(counters.waits),
        static_cast<double>(counters.wait_ns) * 1e-9);
}

}  // namespace

void counters_open(Observer &observer, const char *setting) {
    observer.counters = new (std::nothrow) PeerCounters[stats_counters(observer.size)]{};
    if (observer.counters == nullptr) {
        log(SENNIT_LOG_WARNING, "no memory to count with");
        return;
    }
    observer.prints = std::strcmp(setting, "1") == 0 || std::strcmp(setting, "yes") == 0;
    if (observer.prints) return;
    if (!file_name(setting, observer.rank->world_rank, "", observer.stats_name)) {
        log(SENNIT_LOG_WARNING, "SENNIT_STATS=%.100s is too long for a name", setting);
        observer.stats_name[0] = '\0';
        return;
    }
    // What an earlier job left. The others open the file after all have met.
    if (observer.rank->world_rank == 0 || names_rank(setting)) (void)unlink(observer.stats_name);
}

void observer_ready(Rank &rank) {
    if (rank.observer == nullptr) return;
    Observer &observer = *rank.observer;
    observer.is_ready = true;
    if (observer.trace != nullptr) observer.trace->job_cookie = rank.job_cookie;
    if (observer.counters == nullptr || observer.stats_name[0] == '\0') return;
    StatsPart *part = map_part(observer);
    if (part == nullptr) {
        log(SENNIT_LOG_WARNING, "rank %d can not write its counters into %.200s: %s",
            rank.world_rank, observer.stats_name, std::strerror(errno));
        return;
    }
    fill_head(observer, part);
    move_to(&observer, part);
}

void counters_close(Observer &observer) {
    if (observer.counters == nullptr) return;
    if (observer.prints) (void)observer_print(*observer.rank);
    if (observer.part == nullptr) {
        delete[] observer.counters;
    } else {
        // SYNC stats-state: pairs with the acquire in cli/stats.cpp; the last counts
        // come before.
        observer.part->state.store(static_cast<std::uint32_t>(StatsState::ended),
                                   std::memory_order_release);
        (void)munmap(observer.part, stats_part_bytes(observer.size));
    }
    observer.counters = nullptr;
    observer.part = nullptr;
}

sennit_status observer_counters(const Rank &rank, int peer, sennit_path path,
                                sennit_counters *counters) {
    const Observer *observer = rank.observer;
    if (observer == nullptr || observer->counters == nullptr)
        return fail(SENNIT_ERR_UNSUPPORTED,
                    "nothing is counted: set SENNIT_STATS before the start");
    sennit_counters sum{};
    const int first = path == SENNIT_PATH_NONE ? 0 : path;
    const int last = path == SENNIT_PATH_NONE ? SENNIT_PATH_END - 1 : path;
    for (int at = first; at <= last; ++at)
        add_to(&sum, observer->counters[stats_index(observer->size, peer, at)]);
    *counters = sum;
    return SENNIT_OK;
}

sennit_status observer_print(const Rank &rank) {
    sennit_counters counters{};
    const sennit_status status = observer_counters(rank, kNobody, SENNIT_PATH_NONE, &counters);
    if (status != SENNIT_OK) return status;
    const Observer &observer = *rank.observer;
    for (int peer = kNobody; peer < observer.size; ++peer) {
        for (int path = SENNIT_PATH_NONE; path < SENNIT_PATH_END; ++path) {
            counters = {};
            add_to(&counters, observer.counters[stats_index(observer.size, peer, path)]);
            if (counters.operations == 0 && counters.waits == 0) continue;
            print_row(rank, peer, static_cast<sennit_path>(path), counters);
        }
    }
    return SENNIT_OK;
}

}  // namespace sennit::runtime
