// See rma.hpp.
#include "op/rma.hpp"

#include "base/fail.hpp"
#include "op/direct.hpp"
#include "op/resolve.hpp"
#include "path/router.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {

sennit_status transfer(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                       std::size_t bytes, const Completion &completion) {
    if (local == nullptr && bytes != 0) return fail(SENNIT_ERR_ARG, "the private buffer is null");
    memory::SegmentEntry *entry = nullptr;
    sennit_status status = resolve(rank, remote, &entry);
    if (status != SENNIT_OK) return status;
    status = check_range(*entry, remote, bytes);
    if (status != SENNIT_OK) return status;
    if (bytes == 0 || entry->base != nullptr) {
        if (completion.request != nullptr) *completion.request = SENNIT_REQUEST_NULL;
        if (bytes == 0) return SENNIT_OK;
        std::byte *place = entry->base + remote.offset;
        if (direction == Direction::put) {
            copy_any(place, local, bytes);
        } else {
            copy_any(local, place, bytes);
        }
        return SENNIT_OK;
    }
    if (transport::Transport *transport = path::immediate_of(rank, *entry)) {
        const transport::CopyRun run{remote.offset, local, bytes};
        status =
            transport->copy(remote.rank, kind_of(direction), {nullptr, entry->handle}, &run, 1);
        if (status == SENNIT_OK && completion.request != nullptr)
            *completion.request = SENNIT_REQUEST_NULL;
        return status;
    }
    const Target target{remote.rank, transport::RemoteMemory{nullptr, entry->handle},
                        remote.offset};
    return engine_start(rank, direction, target, local, bytes, completion);
}

sennit_status message_target(Rank &rank, sennit_gptr remote, std::size_t bytes, Target *target,
                             bool *by_message) {
    memory::SegmentEntry *entry = nullptr;
    sennit_status status = resolve(rank, remote, &entry);
    if (status == SENNIT_OK) status = check_range(*entry, remote, bytes);
    if (status != SENNIT_OK) return status;
    *by_message = entry->base == nullptr && path::immediate_of(rank, *entry) == nullptr;
    *target = Target{remote.rank, transport::RemoteMemory{nullptr, entry->handle}, remote.offset};
    return SENNIT_OK;
}

sennit_status fence_to(Rank &rank, int peer) {
    order_stores();
    order_loads();
    return rank.engine == nullptr ? SENNIT_OK : engine_fence(rank, peer);
}

sennit_status fence(Rank &rank) {
    return fence_to(rank, kAnyPeer);
}

}  // namespace sennit::op
