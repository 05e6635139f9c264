// SPDX-License-Identifier: BSD-3-Clause
// What this copy of the library was built with, for `sennit info`. Filled in by CMake at configure
// time (build_info.cpp.in); every string lives as long as the library.
#pragma once

namespace sennit {

struct BuildInfo {
    const char *version;  // "0.1.0"
    // Compiler, type of build, system, preset, sanitizers, and which optional parts are built in.
    const char *description;
    // Why a part is not built in; "" if it is.
    const char *without_pmix;
    const char *without_libfabric;
    const char *without_hwloc;
};

const BuildInfo &build_info();

}  // namespace sennit
