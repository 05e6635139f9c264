// SPDX-License-Identifier: BSD-3-Clause
// For libraries that are opened at run time: hwloc, PMIx, libfabric, XPMEM. Owns nothing.
#pragma once

#include <dlfcn.h>

namespace sennit {

// Whether the program is linked without any shared library. In such a program, dlopen() would load
// a second C library whose threads and thread-local storage are not initialised. A library that is
// opened in this way may crash, as PMIx does with glibc 2.36.
bool linked_statically();

// Finds a function in an open library. `version` is the version of the symbol, or null for the
// default one. False: not found.
template <class Function>
bool look_up(void *library, const char *name, Function *function, const char *version = nullptr) {
    *function = reinterpret_cast<Function>(version == nullptr ? dlsym(library, name)
                                                              : dlvsym(library, name, version));
    return *function != nullptr;
}

}  // namespace sennit
