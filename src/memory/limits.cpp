// SPDX-License-Identifier: BSD-3-Clause
// Memory limits: /proc/meminfo and control groups of versions 1 and 2. A limit that cannot be read
// is no limit.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/system_file.hpp"
#include "memory/file.hpp"

namespace sennit::memory {
namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;

// The value of `key` in the text of /proc/meminfo, in bytes; 0 if it is missing.
std::uint64_t meminfo(const char *text, const char *key) {
    const char *line = std::strstr(text, key);
    return line == nullptr ? 0 : std::strtoull(line + std::strlen(key), nullptr, 10) * 1024;
}

std::uint64_t read_in(const char *folder, const char *file, std::uint64_t otherwise) {
    char name[512];
    (void)std::snprintf(name, sizeof name, "%s/%s", folder, file);
    return number_in_file(name, "", otherwise);
}

// The memory limit of the group in `folder`; if `now`, less its current use. `second`: the group is
// of version 2.
std::uint64_t left_in(const char *folder, bool second, bool now) {
    const std::uint64_t limit =
        read_in(folder, second ? "memory.max" : "memory.limit_in_bytes", kNoLimit);
    if (limit == kNoLimit || !now) return limit;
    const std::uint64_t used =
        read_in(folder, second ? "memory.current" : "memory.usage_in_bytes", 0);
    return used < limit ? limit - used : 0;
}

// The minimum of left_in() over the groups from `path` up to `root`, inclusive.
std::uint64_t left_upwards(const char *root, const char *path, bool second, bool now) {
    char folder[400];
    (void)std::snprintf(folder, sizeof folder, "%.99s%.300s", root, path);
    std::uint64_t left = kNoLimit;
    for (;;) {
        left = std::min(left, left_in(folder, second, now));
        char *slash = std::strrchr(folder, '/');
        if (slash == nullptr || std::strlen(folder) <= std::strlen(root)) return left;
        *slash = '\0';
    }
}

// The minimum of left_upwards() over this process's groups. If the path of a group does not exist,
// as in a container, the group at the mount point counts.
std::uint64_t left_in_groups(const LimitPlaces &places, bool now) {
    std::uint64_t left = kNoLimit;
    char text[4096];
    if (!read_system_file(places.own_groups, text, sizeof text)) return left;
    char *rest = nullptr;
    for (char *line = strtok_r(text, "\n", &rest); line != nullptr;
         line = strtok_r(nullptr, "\n", &rest)) {
        const bool second = std::strncmp(line, "0::", 3) == 0;
        const char *path = second ? line + 3 : std::strstr(line, ":memory:");
        if (path == nullptr) continue;
        if (!second) path += std::strlen(":memory:");
        char root[100];
        (void)std::snprintf(root, sizeof root, second ? "%s" : "%s/memory", places.groups);
        left = std::min(left, left_upwards(root, path, second, now));
    }
    return left;
}

}  // namespace

sennit_status memory_check(std::uint64_t bytes, bool now, const LimitPlaces &places) {
    char text[4096];
    if (read_system_file(places.meminfo, text, sizeof text)) {
        const std::uint64_t total = meminfo(text, "MemTotal:") + meminfo(text, "SwapTotal:");
        const std::uint64_t available = meminfo(text, "MemAvailable:") + meminfo(text, "SwapFree:");
        const std::uint64_t bound = now ? available : total;
        if (bound != 0 && bytes > bound)
            return fail(SENNIT_ERR_NOMEM,
                        "%llu bytes asked for, but the node has %llu bytes of memory and swap%s",
                        static_cast<unsigned long long>(bytes),
                        static_cast<unsigned long long>(bound), now ? " free" : "");
    }
    const std::uint64_t left = left_in_groups(places, now);
    if (bytes <= left) return SENNIT_OK;
    return fail(SENNIT_ERR_NOMEM,
                "%llu bytes asked for, but the memory limit of the control group leaves %llu bytes",
                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(left));
}

}  // namespace sennit::memory
