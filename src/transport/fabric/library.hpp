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

// Ends an object of the library, if there is one.
template <class Object>
void close_object(Object **object) {
    if (*object != nullptr) (void)fi_close(&(*object)->fid);
    *object = nullptr;
}

struct Library {
    void *handle = nullptr;
    decltype(&fi_getinfo) getinfo = nullptr;
    decltype(&fi_freeinfo) freeinfo = nullptr;
    decltype(&fi_dupinfo) dupinfo = nullptr;
    decltype(&fi_fabric) fabric = nullptr;
    decltype(&fi_strerror) strerror = nullptr;
    decltype(&fi_version) version = nullptr;
};

// Opens it for the process, once; it stays open. Errors: UNSUPPORTED (not installed, older than
// 1.17, or a program that is linked statically).
sennit_status library_open(const Library **out);

}  // namespace sennit::transport::fabric
