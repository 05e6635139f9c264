// SPDX-License-Identifier: BSD-3-Clause
// libfabric, opened at run time: a job on one node never loads it, and a machine without it still
// runs one node. Only its headers are needed to build. Everything but the functions here is inline
// in those headers and goes through the objects that the library returns.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

#include "base/fail.hpp"

namespace sennit::transport::fabric {

// The oldest that is taken. Its structs are those that are used.
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

// An error of one of its calls, which returned `code`: "libfabric: WHAT: why". The code goes to the
// program too.
[[gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] sennit_status fail_call(
    sennit_status status, const Library &library, int code, const char *format, ...);

// Ends an object of the library, if there is one. 0; else (FI_EBUSY: something still uses it) it is
// there as before.
template <class Object>
int close_object(Object **object) {
    const int code = *object != nullptr ? fi_close(&(*object)->fid) : 0;
    if (code == 0) *object = nullptr;
    return code;
}

// The same where nothing depends on the end: what cannot be ended is left to the library, and the
// log says so.
[[gnu::cold, gnu::noinline]] void note_left(int code, const char *what);
template <class Object>
void drop_object(Object **object, const char *what) {
    const int code = close_object(object);
    if (code != 0) note_left(code, what);
    *object = nullptr;
}

// Opens it for the process, once; it stays open. Errors: UNSUPPORTED (not installed, older than
// 1.17, or a program that is linked statically).
sennit_status library_open(const Library **out);

}  // namespace sennit::transport::fabric
