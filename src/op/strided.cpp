// SPDX-License-Identifier: BSD-3-Clause
#include "op/strided.hpp"

#include "base/fail.hpp"
#include "op/direct.hpp"
#include "op/packed.hpp"
#include "op/resolve.hpp"
#include "path/router.hpp"

namespace sennit::op {
namespace {

// The touched bytes must be inside; the call's address need not be.
sennit_status check_hull(const memory::SegmentEntry &entry, sennit_gptr remote, const Hull &hull) {
    if (lies_inside(hull, remote.offset, entry.bytes)) return SENNIT_OK;
    return fail_peer(SENNIT_ERR_RANGE, remote.rank, "",
                     "bytes %lld to %lld from offset %lld leave the segment of %llu byte%s",
                     static_cast<long long>(hull.begin), static_cast<long long>(hull.end),
                     static_cast<long long>(remote.offset),
                     static_cast<unsigned long long>(entry.bytes), plural(entry.bytes));
}

// Copies by an immediate transport, in lists of as many runs as fit on the stack.
sennit_status copy_now(transport::Transport &transport, Direction direction, const Target &target,
                       void *local, const Layout &layout) {
    constexpr std::size_t kRuns = 256;
    transport::CopyRun runs[kRuns];
    Cursor cursor;
    auto *const here = static_cast<std::byte *>(local);
    for (std::uint64_t at = 0; at < layout.bytes;) {
        std::size_t count = 0;
        for (; count < kRuns && at < layout.bytes; ++count) {
            const LayoutPart part = layout_part(layout, at, &cursor);
            runs[count] = {target.offset + static_cast<std::uint64_t>(part.remote),
                           here + part.local, part.bytes};
            at += part.bytes;
        }
        const sennit_status status =
            transport.copy(target.peer, kind_of(direction), target.remote, runs, count);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// Like message_target(), for the runs of a layout.
sennit_status layout_target(Rank &rank, sennit_gptr remote, const Layout &layout, Target *target,
                            bool *by_message) {
    memory::SegmentEntry *entry = nullptr;
    sennit_status status = resolve(rank, remote, &entry);
    if (status == SENNIT_OK) status = check_hull(*entry, remote, layout.remote);
    if (status != SENNIT_OK) return status;
    *by_message = entry->base == nullptr && path::immediate_of(rank, *entry) == nullptr;
    *target = Target{remote.rank, transport::RemoteMemory{nullptr, entry->handle}, remote.offset,
                     &layout};
    return SENNIT_OK;
}

// Starts a put or get as pieces, or a put as tasks with packed runs.
sennit_status start_runs(Rank &rank, Direction direction, Target target, void *local,
                         std::size_t bytes, const Completion &completion) {
    const Layout *const layout = target.layout;
    const bool may_be_packed =
        layout != nullptr && direction == Direction::put && completion.events == nullptr;
    if (!may_be_packed || !engine_puts_in_software(rank, target.peer) ||
        !goes_packed(rank, target.peer, *layout))
        return engine_start(rank, direction, target, local, bytes, completion);
    EventTask runs{};
    runs.set(EventAction::scatter, 0);
    Work work;
    work.event = &runs;
    target.work = &work;
    return engine_start(rank, Direction::execute, target, local, bytes, completion);
}

}  // namespace

bool goes_packed(Rank &rank, int peer, const Layout &layout) {
    const std::size_t room = engine_packed_room(rank, peer);
    if (!pays_to_pack(layout, room)) return false;
    const PackedSize size = packed_size(layout, room);
    return size.tasks != 0 && engine_may_copy(rank, size.tasks * size.longest);
}

bool moved_at_once(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                   const sennit_box &box) {
    Layout layout;
    if (local == nullptr || !layout_of_plain_box(box, direction, &layout)) return false;
    const auto span = static_cast<std::size_t>(layout.remote.end);
    const memory::SegmentEntry *entry = direct_entry(rank, remote, span);
    return entry != nullptr && layout_move(layout, direction, entry->base + remote.offset,
                                           static_cast<std::byte *>(local)) == SENNIT_OK;
}

bool lies_inside(const Hull &hull, std::uint64_t place, std::uint64_t bytes) {
    const auto from = static_cast<std::int64_t>(place);
    std::int64_t begin = 0;
    std::int64_t end = 0;
    return !__builtin_add_overflow(from, hull.begin, &begin) &&
           !__builtin_add_overflow(from, hull.end, &end) && begin >= 0 && end >= 0 &&
           static_cast<std::uint64_t>(end) <= bytes;
}

sennit_status transfer_layout(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                              const Layout &layout, const Completion &completion) {
    if (local == nullptr && layout.bytes != 0)
        return fail(SENNIT_ERR_ARG, "the private buffer is null");
    memory::SegmentEntry *entry = nullptr;
    sennit_status status = resolve(rank, remote, &entry);
    if (status != SENNIT_OK) return status;
    status = check_hull(*entry, remote, layout.remote);
    if (status != SENNIT_OK) return status;
    Target target{remote.rank, transport::RemoteMemory{nullptr, entry->handle}, remote.offset};
    transport::Transport *transport = nullptr;
    if (layout.bytes == 0) {
        status = SENNIT_OK;
    } else if (entry->base != nullptr) {
        status = layout_move(layout, direction, entry->base + remote.offset,
                             static_cast<std::byte *>(local));
    } else if (transport = path::immediate_of(rank, *entry); transport != nullptr) {
        status = copy_now(*transport, direction, target, local, layout);
    } else {
        target.layout = &layout;
        return start_runs(rank, direction, target, local, layout.bytes, completion);
    }
    if (status == SENNIT_OK && completion.request != nullptr)
        *completion.request = SENNIT_REQUEST_NULL;
    return status;
}

sennit_status transfer_moved(Rank &rank, Direction direction, sennit_gptr remote,
                             const Moved &moved, const Completion &completion) {
    return moved.layout != nullptr
               ? transfer_layout(rank, direction, remote, moved.local, *moved.layout, completion)
               : transfer(rank, direction, remote, moved.local, moved.bytes, completion);
}

sennit_status target_of_moved(Rank &rank, sennit_gptr remote, const Moved &moved, Target *target,
                              bool *by_message) {
    return moved.layout != nullptr ? layout_target(rank, remote, *moved.layout, target, by_message)
                                   : message_target(rank, remote, moved.bytes, target, by_message);
}

sennit_status start_by_message(Rank &rank, Direction direction, sennit_gptr remote,
                               const Moved &moved, const Completion &completion) {
    Target target;
    bool is_by_message = false;
    sennit_status status = target_of_moved(rank, remote, moved, &target, &is_by_message);
    if (status == SENNIT_OK && !is_by_message)
        status = fail_peer(SENNIT_ERR_INTERNAL, remote.rank, "",
                           "memory that only messages reached is now reached without them");
    if (status == SENNIT_OK)
        return start_runs(rank, direction, target, moved.local, moved.bytes, completion);
    engine_skip(rank, completion, remote.rank, status);
    return status;
}

}  // namespace sennit::op
