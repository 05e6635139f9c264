// SPDX-License-Identifier: BSD-3-Clause
// The configuration of the build, for `sennit info`. CMake fills it in at configure time
// (build_info.cpp.in); the strings live as long as the library.
#pragma once

namespace sennit {

struct BuildInfo {
    const char *version;  // "0.1.0"
    // Compiler, build type, system, preset, sanitizers and the optional parts that are built in.
    const char *description;
    // Why a part is missing; "" if it is built in.
    const char *without_pmix;
    const char *without_libfabric;
    const char *without_hwloc;
};

const BuildInfo &build_info();

}  // namespace sennit
