// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric/library.hpp"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "base/linking.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr const char *kName = "libfabric.so.1";
// The version of the functions determines the length of the structs. This version has all fields
// that Sennit uses.
constexpr const char *kInfoVersion = "FABRIC_1.3";

pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
Library opened;  // handle is null until all functions were found

// Debian's libfabric loads the psm libraries, which catch SEGV, BUS, ILL, ABRT, TERM and INT unless
// both of these are set. Values set by the user stay.
void keep_signal_handlers_away() {
    (void)setenv("HFI_NO_BACKTRACE", "1", 0);
    (void)setenv("IPATH_NO_BACKTRACE", "1", 0);
}

sennit_status look_up_all(Library *found) {
    void *const handle = found->handle;
    const bool complete = look_up(handle, "fi_getinfo", &found->getinfo, kInfoVersion) &&
                          look_up(handle, "fi_freeinfo", &found->freeinfo, kInfoVersion) &&
                          look_up(handle, "fi_dupinfo", &found->dupinfo, kInfoVersion) &&
                          look_up(handle, "fi_fabric", &found->fabric, "FABRIC_1.1") &&
                          look_up(handle, "fi_strerror", &found->strerror, "FABRIC_1.0") &&
                          look_up(handle, "fi_version", &found->version, "FABRIC_1.0");
    if (complete && found->version() >= kVersion) return SENNIT_OK;
    return fail(SENNIT_ERR_UNSUPPORTED, "%s is older than libfabric 1.17", kName);
}

}  // namespace

sennit_status fail_call(sennit_status status, const Library &library, int code, const char *format,
                        ...) {
    char what[160];
    std::va_list words;
    va_start(words, format);
    (void)std::vsnprintf(what, sizeof what, format, words);
    va_end(words);
    (void)fail(status, "libfabric: %s: %s", what, library.strerror(-code));
    fail_provider_code(code);
    return status;
}

void log_left_open(int code, const char *what) {
    log(SENNIT_LOG_WARNING, "libfabric could not close %s (%d), which stays open", what, code);
}

sennit_status library_open(const Library **out) {
    const MutexLock guard(opening);
    if (opened.handle == nullptr) {
        if (linked_statically())
            return fail(SENNIT_ERR_UNSUPPORTED,
                        "a program that is linked without shared libraries cannot open libfabric");
        keep_signal_handlers_away();
        Library found;
        found.handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
        if (found.handle == nullptr) {
            const char *reason = dlerror();
            return fail(SENNIT_ERR_UNSUPPORTED, "libfabric: %s",
                        reason != nullptr ? reason : "it could not be loaded");
        }
        const sennit_status status = look_up_all(&found);
        if (status != SENNIT_OK) {
            (void)dlclose(found.handle);
            return status;
        }
        opened = found;
    }
    *out = &opened;
    return SENNIT_OK;
}

}  // namespace sennit::transport::fabric
