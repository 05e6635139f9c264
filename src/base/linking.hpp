// SPDX-License-Identifier: BSD-3-Clause
// Opening shared libraries at run time: hwloc, PMIx, libfabric, XPMEM. Owns nothing.
#pragma once

#include <dlfcn.h>

namespace sennit {

// Whether the program was linked without any shared library. dlopen would then bring a second C
// library into the process, whose threads and thread-local storage nobody has set up: what it loads
// may crash. (It does with PMIx and glibc 2.36.)
bool linked_statically();

// Finds a function of an open library, of one version where it is named. False: it is not there.
template <class Function>
bool look_up(void *library, const char *name, Function *function, const char *version = nullptr) {
    *function = reinterpret_cast<Function>(version == nullptr ? dlsym(library, name)
                                                              : dlvsym(library, name, version));
    return *function != nullptr;
}

}  // namespace sennit
