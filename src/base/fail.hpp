// SPDX-License-Identifier: BSD-3-Clause
// How a function of the library reports an error: `return fail(SENNIT_ERR_RANGE, "...", ...)`. The
// function that finds an error fills the calling thread's record of its last error; its callers
// pass the status on. fail.cpp owns the records.
#pragma once

#include <sennit/error.h>

#include <cstdint>

namespace sennit {

// Writes the calling thread's last error and returns `status`. The format is printf's.
[[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] sennit_status fail(sennit_status status,
                                                                           const char *format, ...);

// fail() with the errno of a failed system call. Stores it, and appends its text to the message.
[[gnu::cold, gnu::noinline, gnu::format(printf, 3, 4)]] sennit_status fail_os(sennit_status status,
                                                                              int os_errno,
                                                                              const char *format,
                                                                              ...);

// fail() with the peer concerned and the path to it (a constant string, "" if none).
[[gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] sennit_status fail_peer(
    sennit_status status, int peer, const char *path, const char *format, ...);

// NOMEM for a table of the rank. `is_full`: the table has its maximum of `most` objects. If not,
// there was no memory, and errno has the reason.
[[gnu::cold, gnu::noinline]] sennit_status fail_no_place(bool is_full, unsigned most,
                                                         const char *objects);

// Adds the code of a provider or launcher library to the last error.
void fail_provider_code(long long code);

// Sets the status and the name of the public function in the last error, and logs it at level INFO.
// api/ calls it when a call returns an error.
[[gnu::cold, gnu::noinline]] sennit_status fail_in(sennit_status status, const char *operation);

// The ending of a noun: "1 event", "2 events".
constexpr const char *plural(std::uint64_t count) {
    return count == 1 ? "" : "s";
}

// The ending of a verb: "1 event arrives", "2 events arrive".
constexpr const char *singular(std::uint64_t count) {
    return count == 1 ? "s" : "";
}

// The calling thread's record, never null.
sennit_error *thread_error();

// The destructor restores the last error that the thread had when the object was made. That error
// is copied only when fail() overwrites it, because errors are rare and the copy is expensive.
class ErrorGuard {
  public:
    ErrorGuard();
    ~ErrorGuard();
    ErrorGuard(const ErrorGuard &) = delete;
    ErrorGuard &operator=(const ErrorGuard &) = delete;

    void save(const sennit_error &error) {
        if (!is_saved_) saved_ = error;
        is_saved_ = true;
    }

  private:
    ErrorGuard **innermost_;  // the thread's, or null
    ErrorGuard *outer_;
    bool is_saved_ = false;
    sennit_error saved_;
};

}  // namespace sennit
