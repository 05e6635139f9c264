// SPDX-License-Identifier: BSD-3-Clause
// The counters of the caller's rank, and the path of a recorded call.
#include <sennit/info.h>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "memory/entry.hpp"
#include "signal/blocks.hpp"

using namespace sennit;
using namespace sennit::api;

namespace sennit::api {

sennit_path path_to(Rank &rank, sennit_gptr gptr) {
    const auto size = static_cast<std::uint32_t>(world_size(rank));
    if (static_cast<std::uint32_t>(gptr.rank) >= size) return SENNIT_PATH_NONE;
    const memory::SegmentEntry *entry = memory::find(rank, size, gptr);
    return entry != nullptr ? static_cast<sennit_path>(entry->path) : rank.peers[gptr.rank].path;
}

void add_parts(Rank &rank, Observed &observed, const sennit_notify_part *parts, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const signal::Attached *block = signal::find_attached(rank, parts[i].block);
        if (block == nullptr) continue;
        observed.add_part(block->gptr.rank, path_to(rank, block->gptr), parts[i].bytes);
    }
}

}  // namespace sennit::api

extern "C" {

sennit_status sennit_stats_get(int rank, sennit_path path, sennit_counters *counters) {
    return call(__func__, [=](const Rank &self) {
        if (counters == nullptr) return null_argument("counters");
        if (path < SENNIT_PATH_NONE || path >= SENNIT_PATH_END)
            return fail(SENNIT_ERR_ARG, "there is no path %d", static_cast<int>(path));
        if (rank < SENNIT_STATS_SEVERAL || rank >= world_size(self))
            return fail(SENNIT_ERR_RANGE,
                        "rank %d is outside 0 to %d, and not SENNIT_STATS_SEVERAL", rank,
                        world_size(self) - 1);
        return runtime::observer_counters(self, rank, path, counters);
    });
}

sennit_status sennit_stats_print(void) {
    return call(__func__, runtime::observer_print);
}

sennit_status sennit_trace_note(const char *text) {
    return call(__func__, [=](Rank &rank) {
        if (text == nullptr) return null_argument("text");
        runtime::note_text(rank, text);
        return SENNIT_OK;
    });
}

}  // extern "C"
