// SPDX-License-Identifier: BSD-3-Clause
#include "op/rma.hpp"

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/direct.hpp"
#include "op/resolve.hpp"
#include "path/router.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

void copy_here(Direction direction, std::byte *place, std::byte *local, std::size_t bytes) {
    if (direction == Direction::put) {
        copy_any(place, local, bytes);
    } else {
        copy_any(local, place, bytes);
    }
}

// Copies the start of the data while a rail transfers the rest. Both are complete on return, so the
// caller sees an ordinary copy. If no rail can transfer the rest, it is copied too. After TIMEOUT
// the rail may still deliver its part, as in every operation (docs/design/copies.md).
sennit_status copy_split(Rank &rank, Direction direction, const memory::SegmentEntry &entry,
                         sennit_gptr remote, std::byte *local, std::size_t bytes) {
    std::byte *const place = entry.base + remote.offset;
    Target target{remote.rank, {}, remote.offset};
    // With overlapping ranges, one part could overwrite data that the other has not read.
    if (!are_apart(place, local, bytes) ||
        !path::attach_by_rail(rank, remote.rank, entry, &target.remote)) {
        copy_here(direction, place, local, bytes);
        return SENNIT_OK;
    }
    const sennit_error before = *thread_error();
    const std::size_t by_rail = bytes / 100 * rank.rail_share;
    const std::size_t here = (bytes - by_rail) & ~(kLineBytes - 1);
    target.offset += here;
    sennit_request rest = SENNIT_REQUEST_NULL;
    sennit_status status = engine_start(rank, direction, target, local + here, bytes - here,
                                        {Completion::Mode::request, &rest});
    copy_here(direction, place, local, here);
    if (status == SENNIT_OK) status = request::wait(rank, &rest, default_deadline());
    if (status == SENNIT_ERR_TIMEOUT) {
        engine_abandon(rank, rest);
        return status;
    }
    path::detach_by_rail(rank, remote.rank, target.remote);
    if (status == SENNIT_OK) return SENNIT_OK;
    // The rail no longer writes. Copy its part; the call has no error.
    log(SENNIT_LOG_INFO,
        "the part of a transfer to or from rank %d that a rail should carry is copied: %s",
        remote.rank, thread_error()->text);
    *thread_error() = before;
    copy_here(direction, place + here, local + here, bytes - here);
    return SENNIT_OK;
}

}  // namespace

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
        auto *const buffer = static_cast<std::byte *>(local);
        if (bytes >= rank.split_from_bytes)
            return copy_split(rank, direction, *entry, remote, buffer, bytes);
        copy_here(direction, entry->base + remote.offset, buffer, bytes);
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
