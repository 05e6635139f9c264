// SPDX-License-Identifier: BSD-3-Clause
#include "op/peer_memory.hpp"

#include "base/fail.hpp"
#include "op/engine.hpp"
#include "path/router.hpp"

namespace sennit::op {

sennit_status get_control(Rank &rank, int peer, std::size_t offset, void *destination,
                          std::size_t bytes) {
    const Peer &other = rank.peers[peer];
    if (other.transport == nullptr) return path::fail_no_path(peer);
    const Target target{peer, transport::RemoteMemory{nullptr, other.control_handle}, offset};
    return engine_start(rank, Direction::get, target, destination, bytes, kBuffered);
}

sennit_status attach_segment(Rank &rank, int peer, const SegmentRecord &record, std::uint32_t id) {
    return path::attach(rank, peer, record, id);
}

void detach_segment(Rank &rank, int peer, std::uint32_t id) {
    path::detach(rank, peer, id);
}

sennit_status attach_own(Rank &rank, SegmentRecord *record, sennit_gptr *gptr) {
    // relaxed: this thread stored it.
    const std::uint32_t id = record->id.load(std::memory_order_relaxed);
    const sennit_status status = attach_segment(rank, rank.world_rank, *record, id);
    if (status != SENNIT_OK) {
        memory::segment_destroy(rank, record);
        return status;
    }
    *gptr = sennit_gptr{rank.world_rank, id, 0};
    return SENNIT_OK;
}

}  // namespace sennit::op
