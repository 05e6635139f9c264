// What this copy of the library was built with, for `sennit info`. Filled in by CMake at configure
// time (build_info.cpp.in); every string lives as long as the library.
#pragma once

namespace sennit {

struct BuildInfo {
    const char *version;      // "0.1.0"
    const char *build_type;   // "Release"
    const char *preset;       // "release", or "none" when no preset was used
    const char *compiler;     // "GNU 12.2.0"
    const char *system;       // "Linux-x86_64"
    const char *sanitizers;   // "address,undefined", or "none"
    const char *description;  // the above in one line, and which optional parts were found
};

const BuildInfo &build_info();

}  // namespace sennit
