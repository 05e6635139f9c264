// SPDX-License-Identifier: BSD-3-Clause
// Loads libfabric at run time, so that a job on one node also runs on a machine without it. The
// build needs only libfabric's headers. Functions that are not in struct Library are inline in
// these headers.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

#include "base/fail.hpp"

namespace sennit::transport::fabric {

// The oldest accepted version, whose structs are used.
inline constexpr std::uint32_t kVersion = FI_VERSION(1, 17);

struct Library {
    void *handle = nullptr;
    decltype(&fi_getinfo) getinfo = nullptr;
    decltype(&fi_freeinfo) freeinfo = nullptr;
    decltype(&fi_dupinfo) dupinfo = nullptr;
    decltype(&fi_fabric) fabric = nullptr;
    decltype(&fi_strerror) strerror = nullptr;
    decltype(&fi_version) version = nullptr;
};

// Reports the error of a call that returned `code`, as "libfabric: WHAT: why". The program gets the
// code too.
[[gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] sennit_status fail_call(
    sennit_status status, const Library &library, int code, const char *format, ...);

// Closes an object of libfabric, if not null. Returns 0, or an error such as -FI_EBUSY (still in
// use). After an error the object is still open.
template <class Object>
int close_object(Object **object) {
    const int code = *object != nullptr ? fi_close(&(*object)->fid) : 0;
    if (code == 0) *object = nullptr;
    return code;
}

// Closes an object if nothing depends on the close. If it cannot be closed, logs that and leaves it
// open.
[[gnu::cold, gnu::noinline]] void log_left_open(int code, const char *what);
template <class Object>
void drop_object(Object **object, const char *what) {
    const int code = close_object(object);
    if (code != 0) log_left_open(code, what);
    *object = nullptr;
}

// Loads the library once per process; it stays loaded. Errors: UNSUPPORTED (not installed, older
// than 1.17, or a statically linked program).
sennit_status library_open(const Library **out);

}  // namespace sennit::transport::fabric
