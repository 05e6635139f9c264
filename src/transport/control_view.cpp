// SPDX-License-Identifier: BSD-3-Clause
#include "transport/control_view.hpp"

#include "base/fail.hpp"
#include "memory/control_map.hpp"

namespace sennit::transport {

Reason control_view_open(Rank &rank, int peer) {
    Peer &other = rank.peers[peer];
    if (!other.same_node) return {Reason::Code::other_node, 0};
    if (other.memory_file < 0) return {Reason::Code::no_memory_file, 0};
    ControlBlock *control = nullptr;
    if (memory::control_map(other.memory_file, size_of(rank), &control) != SENNIT_OK)
        return Reason::of(Reason::Code::map_failed, thread_error()->os_errno);
    const ControlHeader &header = control->header;
    if (header.magic != kControlMagic || header.layout_version != kLayoutVersion ||
        header.rank != peer || header.job_cookie != rank.job_cookie) {
        memory::control_unmap(control, size_of(rank));
        return {Reason::Code::wrong_content, 0};
    }
    other.control = control;
    return {Reason::Code::taken, 0};
}

void control_view_close(Rank &rank, int peer) {
    Peer &other = rank.peers[peer];
    memory::control_unmap(other.control, size_of(rank));
    other.control = nullptr;
    other.team_chunks = 0;
}

}  // namespace sennit::transport
