// SPDX-License-Identifier: BSD-3-Clause
// The trace of one rank: a ring of records in a mapped file. At the end of the rank its text is
// written and the mapped file removed. `sennit trace merge` uses the files of dead ranks.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/build_info.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "observe/observer_state.hpp"
#include "observe/own_file.hpp"
#include "observe/text.hpp"

namespace sennit::runtime {
namespace {

constexpr std::size_t kGrowBytes = std::size_t{1} << 20;
constexpr std::uint64_t kFewestRecords = 64;
constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 30;

std::size_t file_bytes(std::uint64_t records) {
    return sizeof(TraceFile) + records * sizeof(TraceRecord);
}

TraceRecord *records_of(TraceFile *trace) {
    return reinterpret_cast<TraceRecord *>(trace + 1);
}

// A file beyond the limit would raise SIGXFSZ, which ends the program.
std::uint64_t allowed_records(std::uint64_t wanted) {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
    if (limit.rlim_cur <= sizeof(TraceFile)) return 0;
    return std::min<std::uint64_t>(wanted,
                                   (limit.rlim_cur - sizeof(TraceFile)) / sizeof(TraceRecord));
}

// Reserves disk space for more records: a store to a mapped page without space raises SIGBUS.
// False: no space.
bool grow(Observer &observer) {
    TraceFile &trace = *observer.trace;
    // relaxed: only the holder of the lock changes it.
    const std::uint64_t before = trace.capacity.load(std::memory_order_relaxed);
    const std::uint64_t after =
        std::min(observer.most_records, before + kGrowBytes / sizeof(TraceRecord));
    int error = 0;
    do {
        error = posix_fallocate(observer.trace_fd, static_cast<off_t>(file_bytes(before)),
                                static_cast<off_t>(file_bytes(after) - file_bytes(before)));
    } while (error == EINTR);
    if (error != 0) {
        observer.most_records = before;
        return false;
    }
    // SYNC trace-record: pairs with the acquire of `written` in cli/trace/part.cpp; the new
    // capacity comes before the first record that counts on it.
    trace.capacity.store(after, std::memory_order_release);
    return true;
}

// Maps the file of this rank. False with errno.
bool map_part(Observer &observer) {
    // Another job may still map a file of that name. That job keeps its file, and this rank makes a
    // new file.
    remove_own_file(observer.part_name);
    const int file = open_own_file(observer.part_name, O_RDWR | O_CREAT | O_EXCL);
    if (file < 0) return false;
    const std::size_t bytes = file_bytes(observer.most_records);
    void *place = MAP_FAILED;
    int error = ftruncate(file, static_cast<off_t>(bytes)) != 0
                    ? errno
                    : posix_fallocate(file, 0, static_cast<off_t>(sizeof(TraceFile)));
    if (error == 0) {
        place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (place == MAP_FAILED) error = errno;
    }
    if (error != 0) {
        (void)close(file);
        (void)unlink(observer.part_name);
        errno = error;
        return false;
    }
    (void)madvise(place, bytes, MADV_DONTFORK);
    observer.trace = static_cast<TraceFile *>(place);
    observer.mapped_bytes = bytes;
    observer.trace_fd = file;
    return true;
}

void fill_head(Observer &observer, std::int64_t started_ns) {
    TraceFile &trace = *observer.trace;
    trace.version = kTraceVersion;
    trace.rank = observer.rank->world_rank;
    trace.size = observer.size;
    trace.process_id = getpid();
    trace.start_ns = started_ns;
    if (gethostname(trace.host, sizeof trace.host - 1) != 0) trace.host[0] = '\0';
    (void)std::snprintf(trace.names[0].text, sizeof trace.names[0].text, "other");
    trace.magic = kTraceMagic;
}

// Like write(), but beyond the limit of file sizes it only fails with EFBIG. The kernel also sends
// SIGXFSZ to the writing thread, which would end the program; this function removes that signal.
ssize_t write_without_signal(int file, const char *from, std::size_t bytes) {
    sigset_t limit;
    sigset_t before;
    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    const ssize_t wrote = write(file, from, bytes);
    const int error = errno;
    const timespec at_once{};
    if (wrote < 0 && error == EFBIG) (void)sigtimedwait(&limit, nullptr, &at_once);
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return wrote;
}

// Buffered text for a file.
class Text {
  public:
    explicit Text(int file) : file_(file), buffer_(static_cast<char *>(std::malloc(kBytes))) {}
    Text(const Text &) = delete;
    Text &operator=(const Text &) = delete;
    ~Text() {
        std::free(buffer_);
        if (file_ >= 0) (void)close(file_);
    }
    bool is_ready() const { return file_ >= 0 && buffer_ != nullptr; }

    // The place for the next event, kEventTextBytes * 2 long. The file gets only whole events,
    // since several ranks append to it.
    char *place() {
        if (used_ + kEventTextBytes * 2 > kBytes) flush();
        return buffer_ + used_;
    }
    void add(int bytes) { used_ += static_cast<std::size_t>(std::max(bytes, 0)); }
    // False with errno: not everything was written.
    bool end() {
        flush();
        if (error_ != 0) errno = error_;
        return error_ == 0;
    }

  private:
    static constexpr std::size_t kBytes = std::size_t{1} << 16;

    void flush() {
        std::size_t at = 0;
        while (at < used_ && error_ == 0) {
            const ssize_t wrote = write_without_signal(file_, buffer_ + at, used_ - at);
            if (wrote < 0 && errno != EINTR) error_ = errno;
            if (wrote > 0) at += static_cast<std::size_t>(wrote);
        }
        used_ = 0;
    }

    int file_;
    char *buffer_;
    std::size_t used_ = 0;
    int error_ = 0;
};

void add_head(Text &text) {
    text.add(std::snprintf(text.place(), kEventTextBytes,
                           "[\n{\"name\":\"sennit\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":"
                           "{\"version\":\"%s\"}}",
                           build_info().version));
}

void add_foot(Text &text) {
    text.add(std::snprintf(text.place(), kEventTextBytes, "\n]\n"));
}

void add_records(Text &text, TraceFile &trace) {
    // relaxed twice: this thread is the last writer.
    const std::uint64_t written = trace.written.load(std::memory_order_relaxed);
    const std::uint64_t capacity = trace.capacity.load(std::memory_order_relaxed);
    const std::uint64_t first = written > capacity ? written - capacity : 0;
    text.add(rank_text(trace, first, text.place(), kEventTextBytes * 2));
    for (std::uint64_t i = first; i < written; ++i)
        text.add(
            record_text(trace, records_of(&trace)[i % capacity], text.place(), kEventTextBytes));
}

// Called by rank 0: starts the common text of all ranks before the others can append to it.
bool begin_text(const Observer &observer) {
    remove_own_file(observer.trace_name);
    Text text(open_own_file(observer.trace_name, O_WRONLY | O_CREAT | O_EXCL));
    if (!text.is_ready()) return false;
    add_head(text);
    return text.end();
}

}  // namespace

void trace_open(Observer &observer, const char *pattern, std::int64_t started_ns) {
    const int rank = observer.rank->world_rank;
    observer.one_file = !names_rank(pattern);
    char suffix[32];
    (void)std::snprintf(suffix, sizeof suffix, ".%d.part", rank);
    if (!file_name(pattern, rank, "", observer.trace_name) ||
        !file_name(pattern, rank, suffix, observer.part_name)) {
        log(SENNIT_LOG_WARNING, "SENNIT_TRACE=%.100s is too long for a name", pattern);
        return;
    }
    const auto args = static_cast<std::uint64_t>(std::max<std::int64_t>(knobs().trace_events, 0));
    observer.most_records = allowed_records(std::clamp(args, kFewestRecords, kMostRecords));
    errno = EFBIG;  // the limit permits no record
    if (observer.most_records == 0 || !map_part(observer)) {
        log(SENNIT_LOG_WARNING, "nothing is traced: rank %d cannot write %.200s: %s", rank,
            observer.part_name, file_error(errno));
        return;
    }
    fill_head(observer, started_ns);
    const bool has_room = grow(observer);
    if (has_room && (rank != 0 || !observer.one_file || begin_text(observer))) return;
    log(SENNIT_LOG_WARNING, "nothing is traced by rank %d: %.200s: %s", rank,
        has_room ? observer.trace_name : observer.part_name, file_error(has_room ? errno : ENOSPC));
    trace_close(observer);
}

std::uint16_t trace_name(Observer &observer, const char *name) {
    auto slot = reinterpret_cast<std::uintptr_t>(name) / 8 % kNameSlots;
    for (; observer.name_keys[slot] != nullptr; slot = (slot + 1) % kNameSlots)
        if (observer.name_keys[slot] == name) return observer.name_values[slot];
    TraceFile &trace = *observer.trace;
    // relaxed: only the holder of the lock changes it.
    const std::uint64_t used = trace.names_used.load(std::memory_order_relaxed);
    if (used >= kTraceNames) return 0;
    const std::uint64_t number = used + 1;
    (void)std::snprintf(trace.names[number].text, sizeof(TraceName), "%s", name);
    // SYNC trace-name: pairs with the acquire in cli/trace/part.cpp; the text comes before.
    trace.names_used.store(number, std::memory_order_release);
    observer.name_keys[slot] = name;
    observer.name_values[slot] = static_cast<std::uint16_t>(number);
    return observer.name_values[slot];
}

void trace_append(Observer &observer, const TraceRecord &record) {
    TraceFile &trace = *observer.trace;
    // All relaxed: only the holder of the lock changes them.
    const std::uint64_t number = trace.written.load(std::memory_order_relaxed);
    std::uint64_t capacity = trace.capacity.load(std::memory_order_relaxed);
    if (number >= capacity && capacity < observer.most_records && grow(observer))
        capacity = trace.capacity.load(std::memory_order_relaxed);
    records_of(&trace)[number % capacity] = record;
    // SYNC trace-record: pairs with the acquire in cli/trace/part.cpp; the record is whole.
    trace.written.store(number + 1, std::memory_order_release);
}

void observer_write(Rank &rank) {
    if (!observer_traces(rank) || rank.observer->is_written) return;
    Observer &observer = *rank.observer;
    if (!observer.one_file) remove_own_file(observer.trace_name);
    Text text(open_own_file(observer.trace_name,
                            O_WRONLY | (observer.one_file ? O_APPEND : O_CREAT | O_EXCL)));
    bool done = text.is_ready();
    if (done) {
        if (!observer.one_file) add_head(text);
        add_records(text, *observer.trace);
        if (!observer.one_file) add_foot(text);
        done = text.end();
    }
    observer.is_written = done;
    if (done) return;
    log(SENNIT_LOG_WARNING,
        "the trace of rank %d could not be written into %.120s: %s; sennit trace merge restores it "
        "from %.120s",
        rank.world_rank, observer.trace_name, file_error(errno), observer.part_name);
}

void observer_finish(Rank &rank, bool all_arrived) {
    if (!observer_traces(rank) || !all_arrived || rank.world_rank != 0) return;
    const Observer &observer = *rank.observer;
    if (!observer.one_file || !observer.is_written) return;
    Text text(open_own_file(observer.trace_name, O_WRONLY | O_APPEND));
    if (!text.is_ready()) return;
    add_foot(text);
    (void)text.end();
}

void trace_close(Observer &observer) {
    if (observer.trace == nullptr) return;
    // The file stays for `sennit trace merge`, unless the text was written or start-up has failed.
    // A failed start-up reports its reason itself.
    if (observer.is_written || !observer.is_ready) (void)unlink(observer.part_name);
    // relaxed: only the holder of the lock changes it.
    const std::uint64_t used = observer.trace->capacity.load(std::memory_order_relaxed);
    (void)munmap(observer.trace, observer.mapped_bytes);
    (void)ftruncate(observer.trace_fd, static_cast<off_t>(file_bytes(used)));
    (void)close(observer.trace_fd);
    observer.trace = nullptr;
}

}  // namespace sennit::runtime
