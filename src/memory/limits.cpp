// How much memory there can be: /proc/meminfo and the control groups of versions 1 and 2. A limit
// that can not be read is no limit.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "memory/file.hpp"

namespace sennit::memory {
namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;

// The start of a file as text; false if it can not be read.
bool read_text(const char *name, char *text, std::size_t bytes) {
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t got = read(file, text, bytes - 1);
    (void)close(file);
    if (got < 0) return false;
    text[got] = '\0';
    return true;
}

std::uint64_t read_number(const char *name) {
    char text[64];
    if (!read_text(name, text, sizeof text) || text[0] < '0' || text[0] > '9') return kNoLimit;
    return std::strtoull(text, nullptr, 10);
}

// A line of /proc/meminfo in bytes, or 0.
std::uint64_t meminfo(const char *text, const char *key) {
    const char *line = std::strstr(text, key);
    return line == nullptr ? 0 : std::strtoull(line + std::strlen(key), nullptr, 10) * 1024;
}

struct Group {
    std::uint64_t limit = kNoLimit;
    std::uint64_t used = 0;
};

void narrow(Group *group, const char *folder, const char *limit_file, const char *usage_file) {
    char name[512];
    (void)std::snprintf(name, sizeof name, "%s/%s", folder, limit_file);
    const std::uint64_t limit = read_number(name);
    if (limit >= group->limit) return;
    (void)std::snprintf(name, sizeof name, "%s/%s", folder, usage_file);
    const std::uint64_t used = read_number(name);
    group->limit = limit;
    group->used = used == kNoLimit ? 0 : used;
}

// The groups on the way from `path` to `root`, that included.
void narrow_upwards(Group *group, const char *root, const char *path, bool second) {
    char folder[400];
    (void)std::snprintf(folder, sizeof folder, "%.99s%.300s", root, path);
    for (;;) {
        narrow(group, folder, second ? "memory.max" : "memory.limit_in_bytes",
               second ? "memory.current" : "memory.usage_in_bytes");
        char *slash = std::strrchr(folder, '/');
        if (slash == nullptr || std::strlen(folder) <= std::strlen(root)) return;
        *slash = '\0';
    }
}

// The tightest limit on the way from this process's group to the root, and inside a container,
// where the group's own path is not visible, the one at the mount point.
Group control_group(const LimitPlaces &places) {
    Group group;
    char text[4096];
    if (!read_text(places.own_groups, text, sizeof text)) return group;
    char *rest = nullptr;
    for (char *line = strtok_r(text, "\n", &rest); line != nullptr;
         line = strtok_r(nullptr, "\n", &rest)) {
        const bool second = std::strncmp(line, "0::", 3) == 0;
        const char *path = second ? line + 3 : std::strstr(line, ":memory:");
        if (path == nullptr) continue;
        if (!second) path += std::strlen(":memory:");
        char root[100];
        (void)std::snprintf(root, sizeof root, second ? "%s" : "%s/memory", places.groups);
        narrow_upwards(&group, root, path, second);
    }
    return group;
}

}  // namespace

sennit_status memory_check(std::uint64_t bytes, bool now, const LimitPlaces &places) {
    char text[4096];
    if (read_text(places.meminfo, text, sizeof text)) {
        const std::uint64_t total = meminfo(text, "MemTotal:") + meminfo(text, "SwapTotal:");
        const std::uint64_t available = meminfo(text, "MemAvailable:") + meminfo(text, "SwapFree:");
        const std::uint64_t bound = now ? available : total;
        if (bound != 0 && bytes > bound)
            return fail(SENNIT_ERR_NOMEM, "%llu bytes asked for, but the node %s %llu",
                        static_cast<unsigned long long>(bytes), now ? "has only" : "is built with",
                        static_cast<unsigned long long>(bound));
    }
    const Group group = control_group(places);
    if (group.limit == kNoLimit) return SENNIT_OK;
    const std::uint64_t used = now ? group.used : 0;
    const std::uint64_t left = used < group.limit ? group.limit - used : 0;
    if (bytes > left)
        return fail(SENNIT_ERR_NOMEM,
                    "%llu bytes asked for, but the memory limit of the control group leaves %llu",
                    static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(left));
    return SENNIT_OK;
}

}  // namespace sennit::memory
