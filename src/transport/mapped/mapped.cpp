// Path mapped: a peer of the same node is reached by mapping ranges of its memory file. The
// descriptor came with the node's exchange; nothing else is needed from the peer.
#include "transport/mapped/mapped.hpp"

#include <new>

#include "memory/file.hpp"
#include "transport/control_view.hpp"
#include "transport/load_store.hpp"

namespace sennit::transport {
namespace {

constexpr Traits kTraits{"mapped", SENNIT_PATH_MAPPED, true, true, 1, 0, SIZE_MAX};

class Mapped final : public LoadStoreTransport {
  public:
    const Traits &traits() const override { return kTraits; }
    void address(Address *out) override { *out = Address{}; }

    Reason reach(int peer) override { return control_view_open(*rank_, peer); }
    void forget(int peer) override { control_view_close(*rank_, peer); }

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
