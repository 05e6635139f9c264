// SPDX-License-Identifier: BSD-3-Clause
// Path mapped: maps ranges of the memory file of a peer on the same node, or memory that the peer
// offers by XPMEM. The file's descriptor came in the node's exchange; the peer need not help.
#include <new>

#include "base/array.hpp"
#include "base/fail.hpp"
#include "memory/adopt/adopt.hpp"
#include "memory/windows.hpp"
#include "memory/xpmem.hpp"
#include "transport/control_view.hpp"
#include "transport/node_paths.hpp"
#include "transport/node_transport.hpp"

namespace sennit::transport {
namespace {

constexpr Traits kTraits{"mapped", SENNIT_PATH_MAPPED, true, true, 1, 0, SIZE_MAX};

class Mapped final : public NodeTransport {
  public:
    const Traits &traits() const override { return kTraits; }
    void address(Address *out) override { *out = Address{}; }

    sennit_status connect(const Address *addresses, const Deadline &deadline) override {
        views_ = Array<memory::FileWindows>(size_of(*rank_));
        if (views_ == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the views of peers");
        return NodeTransport::connect(addresses, deadline);
    }

    Reason reach(int peer) override { return control_view_open(*rank_, peer); }
    void forget(int peer) override { control_view_close(*rank_, peer); }

    sennit_status attach(int peer, const SegmentRecord &record, RemoteMemory *out) override {
        const Peer &other = rank_->peers[peer];
        if (record.mechanism == Mechanism::xpmem) {
            std::uint64_t permit = 0;
            const sennit_status status = memory::xpmem_map(record, &out->pointer, &permit);
            out->handle = permit + 1;
            out->mapped_bytes = record.mapped_bytes;
            return status;
        }
        if (record.mechanism == Mechanism::adopted) {
            memory::adopt::RegionView view;
            const sennit_status status =
                memory::adopt::view_map(*other.control, other.memory_file, record, &view);
            *out = RemoteMemory{view.pointer, 0, view.mapped_bytes};
            return status;
        }
        out->mapped_bytes = record.mapped_bytes;
        return views_[peer].map(other.memory_file, record.file_offset, record.mapped_bytes,
                                record.alignment, &out->pointer);
    }

    void detach(int peer, const RemoteMemory &remote) override {
        if (remote.handle != 0) {
            memory::xpmem_unmap(remote.pointer, remote.handle - 1);
        } else {
            views_[peer].unmap(remote.pointer, remote.mapped_bytes);
        }
    }

    void close(const Deadline &) override {
        for (std::uint32_t peer = 0; views_ != nullptr && peer < size_of(*rank_); ++peer)
            views_[peer].close();
    }

  private:
    Array<memory::FileWindows> views_;  // [size]
};

}  // namespace

Transport *make_mapped() {
    return new (std::nothrow) Mapped;
}

}  // namespace sennit::transport
