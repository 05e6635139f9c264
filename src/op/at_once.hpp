// SPDX-License-Identifier: BSD-3-Clause
// The fast path to memory that the kernel copies: one check, one system call. After a system call
// branch prediction is cold, and every call and return costs about ten nanoseconds, so transfer()
// in op/rma.hpp would be slower.
#pragma once

#include "memory/entry.hpp"
#include "transport/transport.hpp"

namespace sennit::op {

// True if the bytes were moved. False in any unusual case: the caller then uses transfer(), which
// finds the reason. `entry` is the entry of the global pointer, or null.
inline bool copied_at_once(Rank &rank, const memory::SegmentEntry *entry,
                           transport::Operation::Kind kind, const transport::CopyRun &run,
                           int peer) {
    if (entry == nullptr || !memory::is_live(*entry)) return false;
    if (entry->path != SENNIT_PATH_CMA || run.local == nullptr) return false;
    if (rank.observer != nullptr) [[unlikely]]
        return false;  // transfer() records it
    const std::uint64_t reach = entry->bytes;
    if (run.bytes - 1 >= reach || run.offset > reach - run.bytes) return false;
    return rank.peers[peer].copier->copy(peer, kind, {nullptr, entry->handle}, &run, 1) ==
           SENNIT_OK;
}

}  // namespace sennit::op
