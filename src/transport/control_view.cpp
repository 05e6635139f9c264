// See control_view.hpp.
#include "transport/control_view.hpp"

#include "base/fail.hpp"
#include "memory/file.hpp"

namespace sennit::transport {
namespace {

std::uint64_t bytes_of_view(const Rank &rank) {
    // relaxed: constant from start-up to the end of the rank, which call this.
    return memory::control_file_bytes(rank.size.load(std::memory_order_relaxed));
}

}  // namespace

Reason control_view_open(Rank &rank, int peer) {
    Peer &other = rank.peers[peer];
    if (!other.same_node) return {Reason::Code::other_node, 0};
    if (other.memory_file < 0) return {Reason::Code::no_memory_file, 0};
    std::byte *address = nullptr;
    const std::uint64_t bytes = bytes_of_view(rank);
    if (memory::file_map(other.memory_file, 0, bytes, memory::page_bytes(), &address) != SENNIT_OK)
        return {Reason::Code::map_failed, thread_error()->os_errno};
    auto *control = reinterpret_cast<ControlBlock *>(address);
    const ControlHeader &header = control->header;
    if (header.magic != kControlMagic || header.layout_version != kLayoutVersion ||
        header.rank != peer || header.job_cookie != rank.job_cookie) {
        memory::file_unmap(address, bytes);
        return {Reason::Code::wrong_content, 0};
    }
    other.control = control;
    return {Reason::Code::taken, 0};
}

void control_view_close(Rank &rank, int peer) {
    Peer &other = rank.peers[peer];
    memory::file_unmap(reinterpret_cast<std::byte *>(other.control), bytes_of_view(rank));
    other.control = nullptr;
}

}  // namespace sennit::transport
