// SPDX-License-Identifier: BSD-3-Clause
// Path inproc: ranks that are threads of one process use each other's pointers. The address has the
// process cookie and the address of the control block.
#include <cstring>
#include <new>

#include "memory/segments.hpp"
#include "rank/process.hpp"
#include "transport/node_paths.hpp"
#include "transport/node_transport.hpp"

namespace sennit::transport {
namespace {

struct InprocAddress {
    std::uint64_t process_cookie;
    std::uint64_t control_address;
};
static_assert(sizeof(InprocAddress) <= kAddressBytes);

constexpr Traits kTraits{"inproc", SENNIT_PATH_INPROC, true, true, 1, 0, SIZE_MAX, true};

class Inproc final : public NodeTransport {
  public:
    const Traits &traits() const override { return kTraits; }

    void address(Address *out) override {
        const InprocAddress blob{process_cookie(),
                                 reinterpret_cast<std::uintptr_t>(rank_->control)};
        std::memcpy(out->bytes, &blob, sizeof blob);
    }

    Reason reach(int peer) override {
        InprocAddress blob;
        std::memcpy(&blob, addresses_[peer].bytes, sizeof blob);
        if (blob.process_cookie != process_cookie()) return {Reason::Code::other_process, 0};
        auto *control = reinterpret_cast<ControlBlock *>(blob.control_address);
        // The peer's start may have failed after it sent the address.
        if (!process_use_control(control, memory::control_use, control))
            return {Reason::Code::wrong_content, 0};
        if (control->header.magic != kControlMagic || control->header.rank != peer) {
            memory::control_release(control);
            return {Reason::Code::wrong_content, 0};
        }
        rank_->peers[peer].control = control;
        rank_->peers[peer].team_chunks = UINT64_MAX;  // the owner's mapping has all chunks
        return {Reason::Code::taken, 0};
    }

    void forget(int peer) override {
        memory::control_release(rank_->peers[peer].control);
        rank_->peers[peer].control = nullptr;
        rank_->peers[peer].team_chunks = 0;
    }

    sennit_status attach(int, const SegmentRecord &record, RemoteMemory *out) override {
        out->pointer = reinterpret_cast<std::byte *>(record.owner_address);
        // Registered memory belongs to the program and is not counted.
        if (record.mechanism == Mechanism::file) out->mapped_bytes = record.mapped_bytes;
        return SENNIT_OK;
    }
};

}  // namespace

Transport *make_inproc() {
    return new (std::nothrow) Inproc;
}

}  // namespace sennit::transport
