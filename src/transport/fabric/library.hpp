// SPDX-License-Identifier: BSD-3-Clause
// Loads libfabric at run time: a job on one node never loads it, and a machine without it can still
// run one node. The build needs only its headers. All other functions are inline in the headers and
// call through libfabric's objects.
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

// Reports the error of a call that returned `code`: "libfabric: WHAT: why". The program gets the
// code too.
[[gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] sennit_status fail_call(
    sennit_status status, const Library &library, int code, const char *format, ...);

// Closes an object of libfabric, if not null. Returns 0; or an error (FI_EBUSY: still in use), and
// the object stays open.
template <class Object>
int close_object(Object **object) {
    const int code = *object != nullptr ? fi_close(&(*object)->fid) : 0;
    if (code == 0) *object = nullptr;
    return code;
}

// The same where nothing depends on the close: an object that cannot be closed is left open and
// logged.
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
