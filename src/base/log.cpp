// SPDX-License-Identifier: BSD-3-Clause
// The receiver of log lines belongs to the process, not to a rank. A mutex guards it, so that a
// callback is never called with the context of another callback.
#include "base/log.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "base/fail.hpp"
#include "base/mutex.hpp"
#include "base/thread_callback.hpp"

namespace sennit {
namespace {

struct Receiver {
    sennit_log_function function = nullptr;
    void *context = nullptr;
    sennit_log_level level = SENNIT_LOG_WARNING;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Receiver receiver;

std::atomic<int (*)()> rank_source{nullptr};

Receiver current() {
    const MutexLock held(lock);
    return receiver;
}

// Calls the program's log function. A failing call of Sennit inside that function would log again
// without end, so its line is dropped. The thread's last error does not change.
void call_log_function(const Receiver &to, sennit_log_level level, const char *line) {
    const InCallback here(Callback::log);
    if (here.was_in(Callback::log)) return;
    const sennit_error error = *thread_error();
    to.function(to.context, level, line);
    *thread_error() = error;
}

const char *level_name(sennit_log_level level) {
    if (level == SENNIT_LOG_ERROR) return "error";
    if (level == SENNIT_LOG_WARNING) return "warning";
    return level == SENNIT_LOG_INFO ? "info" : "debug";
}

// Lines of level NONE are output that the user asked for. They name their rank themselves.
void write_line(sennit_log_level level, const char *line) {
    if (level == SENNIT_LOG_NONE) {
        (void)std::fprintf(stderr, "sennit: %s\n", line);
        return;
    }
    // relaxed: set before the process has a rank, and it points to a function, not to data.
    int (*const source)() = rank_source.load(std::memory_order_relaxed);
    const int rank = source != nullptr ? source() : -1;
    char who[24] = "";
    if (rank >= 0) (void)std::snprintf(who, sizeof who, "rank %d: ", rank);
    (void)std::fprintf(stderr, "sennit: %s%s: %s\n", who, level_name(level), line);
}

}  // namespace

void log_set(sennit_log_function function, void *context, sennit_log_level level) {
    const MutexLock held(lock);
    receiver = Receiver{function, context, level};
}

void log_set_rank_source(int (*rank)()) {
    // relaxed: there is no rank yet.
    rank_source.store(rank, std::memory_order_relaxed);
}

void log_set_level(sennit_log_level level) {
    const MutexLock held(lock);
    receiver.level = level;
}

void log(sennit_log_level level, const char *format, ...) {
    const Receiver to = current();
    if (level > to.level) return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (to.function != nullptr) {
        call_log_function(to, level, line);
    } else {
        write_line(level, line);
    }
}

}  // namespace sennit
