// Path mapped: a peer of the same node is reached by mapping ranges of its memory file. The
// descriptor came with the node's exchange; nothing else is needed from the peer.
#include "transport/mapped/mapped.hpp"

#include <new>

#include "memory/file.hpp"
#include "transport/load_store.hpp"

namespace sennit::transport {
namespace {

constexpr Traits kTraits{"mapped", SENNIT_PATH_MAPPED, true, true, 1, 0, SIZE_MAX};

constexpr std::uint64_t kControlFileBytes =
    memory::round_up(sizeof(ControlBlock), memory::kLargestSmallPage);

class Mapped final : public LoadStoreTransport {
  public:
    const Traits &traits() const override { return kTraits; }
    void address(Address *out) override { *out = Address{}; }

    Reason reach(int peer) override {
        Peer &it = rank_->peers[peer];
        if (!it.same_node) return {Reason::Code::other_node, 0};
        if (it.memory_file < 0) return {Reason::Code::no_memory_file, 0};
        std::byte *address = nullptr;
        if (memory::file_map(it.memory_file, 0, kControlFileBytes, memory::page_bytes(),
                             &address) != SENNIT_OK)
            return {Reason::Code::map_failed, thread_error()->os_errno};
        auto *control = reinterpret_cast<ControlBlock *>(address);
        const ControlHeader &header = control->header;
        if (header.magic != kControlMagic || header.layout_version != kLayoutVersion ||
            header.rank != peer || header.job_cookie != rank_->job_cookie) {
            memory::file_unmap(address, kControlFileBytes);
            return {Reason::Code::wrong_content, 0};
        }
        it.control = control;
        return {Reason::Code::taken, 0};
    }

    void forget(int peer) override {
        Peer &it = rank_->peers[peer];
        memory::file_unmap(reinterpret_cast<std::byte *>(it.control), kControlFileBytes);
        it.control = nullptr;
    }

    sennit_status attach(int peer, const SegmentRecord &record, Remote *out) override {
        return memory::file_map(rank_->peers[peer].memory_file, record.file_offset,
                                record.mapped_bytes, record.alignment, &out->pointer);
    }

    void detach(int, const SegmentRecord &record, const Remote &remote) override {
        memory::file_unmap(remote.pointer, record.mapped_bytes);
    }

    void close(const Deadline &) override {}
};

}  // namespace

Transport *make_mapped() {
    return new (std::nothrow) Mapped;
}

}  // namespace sennit::transport
