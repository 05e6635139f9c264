// The shortest way to memory that the kernel copies: one look-up, one check, one system call. After
// a system call the processor has forgotten its branches, so that every call and return on the way
// costs some ten nanoseconds; hence this, where transfer() in op/rma.hpp would do the same.
#pragma once

#include "memory/entry.hpp"
#include "transport/transport.hpp"

namespace sennit::op {

// True if the bytes were moved. False, and nothing decided, when anything is out of the ordinary:
// the caller then takes the general way, which finds out what.
inline bool copied_at_once(Rank &rank, transport::Operation::Kind kind, sennit_gptr gptr,
                           void *local, std::size_t bytes) {
    // relaxed: 0 unless the rank is in use; see op/direct.hpp.
    const std::uint32_t size = rank.size.load(std::memory_order_relaxed);
    if (static_cast<std::uint32_t>(gptr.rank) >= size || local == nullptr) return false;
    if (rank.observer != nullptr) [[unlikely]]
        return false;  // transfer() notes it
    const memory::Entry *entry = memory::find(rank, size, gptr);
    if (entry == nullptr || entry->path != SENNIT_PATH_CMA) return false;
    const std::uint64_t reach = entry->bytes;
    if (bytes - 1 >= reach || gptr.offset > reach - bytes) return false;
    const transport::Run run{gptr.offset, local, bytes};
    return rank.peers[gptr.rank].copier->copy(gptr.rank, kind, {nullptr, entry->handle}, &run, 1) ==
           SENNIT_OK;
}

}  // namespace sennit::op
