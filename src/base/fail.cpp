// SPDX-License-Identifier: BSD-3-Clause
// Each thread has a record with its last error. It is made at its first use and freed when the
// thread ends. Thread-local storage has only a pointer to it, because initial-exec storage is
// scarce in a library that is loaded late.
#include "base/fail.hpp"

#include <pthread.h>
#include <sennit/team.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/fail_rank.hpp"
#include "base/log.hpp"
#include "base/thread_callback.hpp"
#include "base/thread_limit.hpp"

namespace sennit {
namespace {

constexpr unsigned kEarlyPeers = 16;

// Calls that failed with SIGNAL_EARLY.
struct EarlyCalls {
    std::int64_t logged_ns;    // when the last one was logged, 0: never
    std::uint64_t suppressed;  // since then
};

struct Record {
    sennit_error error;
    const Deadline *limit;
    ErrorGuard *guard;  // the innermost one, or null
    Callback callback;
    EarlyCalls early[kEarlyPeers];  // place: the peer modulo kEarlyPeers
};

thread_local Record *record = nullptr;

// Used by each thread that has no memory for a record. Then only the status that a call returns is
// reliable: threads may overwrite each other's text.
sennit_error no_memory_record{SENNIT_ERR_NOMEM, 0, 0, -1, "", "", "no memory to record an error"};

pthread_key_t record_key;
pthread_once_t record_key_once = PTHREAD_ONCE_INIT;

void free_record(void *mine) {
    record = nullptr;
    std::free(mine);
}

void make_key() {
    (void)pthread_key_create(&record_key, free_record);
}

// Makes the record if it is missing. False: no memory.
bool has_record() {
    if (record != nullptr) return true;
    auto *made = static_cast<Record *>(std::calloc(1, sizeof(Record)));
    if (made == nullptr) return false;
    made->error.peer = -1;
    made->error.operation = "";
    made->error.path = "";
    (void)pthread_once(&record_key_once, make_key);
    (void)pthread_setspecific(record_key, made);
    record = made;
    return true;
}

sennit_error *start(sennit_status status, const char *format, va_list arguments) {
    sennit_error *error = thread_error();
    if (record != nullptr && record->guard != nullptr) record->guard->save(*error);
    *error = sennit_error{status, 0, 0, -1, "", "", ""};
    (void)std::vsnprintf(error->text, sizeof error->text, format, arguments);
    return error;
}

}  // namespace

sennit_error *thread_error() {
    return has_record() ? &record->error : &no_memory_record;
}

ErrorGuard::ErrorGuard()
    : innermost_(has_record() ? &record->guard : nullptr),
      outer_(innermost_ == nullptr ? nullptr : std::exchange(*innermost_, this)) {}

ErrorGuard::~ErrorGuard() {
    if (innermost_ == nullptr) return;
    *innermost_ = outer_;
    if (is_saved_) *thread_error() = saved_;
}

const Deadline **thread_limit() {
    return record == nullptr ? nullptr : &record->limit;
}

const Deadline **make_thread_limit() {
    return has_record() ? &record->limit : nullptr;
}

Callback *thread_callback() {
    return has_record() ? &record->callback : nullptr;
}

sennit_status fail(sennit_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)start(status, format, arguments);
    va_end(arguments);
    return status;
}

sennit_status fail_no_place(bool is_full, unsigned most, const char *objects) {
    if (!is_full)
        return fail_os(SENNIT_ERR_NOMEM, errno, "no address space for the table of %s", objects);
    return fail(SENNIT_ERR_NOMEM, "the rank has %u %s, which is the most", most, objects);
}

sennit_status fail_no_rank(int rank, std::uint32_t ranks, const char *more) {
    return fail(SENNIT_ERR_RANGE, "rank %d%s is outside 0 to %u%s", rank,
                rank == SENNIT_RANK_NONE ? " (SENNIT_RANK_NONE)" : "", ranks - 1, more);
}

sennit_status fail_os(sennit_status status, int os_errno, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    sennit_error *error = start(status, format, arguments);
    va_end(arguments);
    error->os_errno = os_errno;
    const std::size_t length = std::strlen(error->text);
    char reason[96];
    // The GNU strerror_r returns the text, which need not be in the buffer.
    (void)std::snprintf(error->text + length, sizeof error->text - length, ": %s",
                        strerror_r(os_errno, reason, sizeof reason));
    return status;
}

sennit_status fail_peer(sennit_status status, int peer, const char *path, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    sennit_error *error = start(status, format, arguments);
    va_end(arguments);
    error->peer = peer;
    error->path = path;
    return status;
}

void fail_provider_code(long long code) {
    thread_error()->provider_code = code;
}

namespace {

// Programs repeat a call that fails with SIGNAL_EARLY until the receiver is ready. So a thread logs
// at most one such error a second for each entry of `early`; several peers may share an entry.
// Returns the number of errors that were not logged since the last logged one, or -1 if this error
// must not be logged either.
long long count_early(int peer) {
    constexpr std::int64_t kPauseNs = 1'000'000'000;
    if (record == nullptr) return 0;
    EarlyCalls &early = record->early[static_cast<unsigned>(peer) % kEarlyPeers];
    const std::int64_t now = now_ns();
    if (early.logged_ns != 0 && now - early.logged_ns < kPauseNs) {
        ++early.suppressed;
        return -1;
    }
    early.logged_ns = now;
    return static_cast<long long>(std::exchange(early.suppressed, 0));
}

}  // namespace

sennit_status fail_in(sennit_status status, const char *operation) {
    sennit_error *error = thread_error();
    error->status = status;
    error->operation = operation;
    const long long suppressed = status == SENNIT_ERR_SIGNAL_EARLY ? count_early(error->peer) : 0;
    if (suppressed < 0) return status;
    char more[80] = "";
    if (suppressed > 0)
        (void)std::snprintf(more, sizeof more, " (%lld more early call%s since the last such line)",
                            suppressed, plural(static_cast<std::uint64_t>(suppressed)));
    log(SENNIT_LOG_INFO, "%s: %s: %s%s", operation, sennit_status_string(status), error->text,
        more);
    return status;
}

}  // namespace sennit
