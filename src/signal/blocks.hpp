// SPDX-License-Identifier: BSD-3-Clause
// The records of blocks, and the table of attached blocks: an entry has everything that a notified
// put or get by load and store needs.
#pragma once

#include <sennit/notify.h>

#include "base/handle_table.hpp"
#include "op/direct.hpp"
#include "op/engine.hpp"
#include "op/layout.hpp"
#include "signal/signals.hpp"

namespace sennit::signal {

// The signal that a put, or a get, through the block notifies.
struct Notified {
    RemoteSignal remote;
    Expected expected;
    // The epoch for the next call that names none. A call that names an epoch also changes this
    // field. Any thread may change it.
    alignas(std::atomic_ref<std::uint64_t>::required_alignment) mutable std::uint64_t next_epoch;

    std::uint64_t next() const {
        // relaxed: no data depends on it; the program orders the calls that use it.
        return std::atomic_ref(next_epoch).load(std::memory_order_relaxed);
    }
    void set_next(std::uint64_t epoch) {
        // relaxed: no data depends on it.
        std::atomic_ref(next_epoch).store(epoch, std::memory_order_relaxed);
    }
};

// How this rank reaches a block.
struct ReachedBlock {
    std::byte *base;  // of the block, or null
    std::uint64_t bytes;
    const std::atomic<std::uint32_t> *live;  // null: out of reach
    std::uint32_t live_value;                // the region's, also if `live` is null
    Notified put;
    Notified get;
    sennit_gptr gptr;  // of the block
};

struct AttachedHandles {
    // `handle` if calls may take the short way (notify_at_once()), else 0. In place 0 this is all
    // ones, so that a search for handle 0 finds nothing. SYNC block-handle.
    std::atomic<std::uint32_t> short_handle;
    std::atomic<std::uint32_t> handle;  // 0: not attached; SYNC handle
};
// The handles are on the same cache line as the fields that a call reads next.
struct alignas(kLineBytes) Attached : AttachedHandles, ReachedBlock {};

using BlockHandles = HandleLayout<std::uint32_t, 20, 11>;
using BlockTable = HandleTable<Attached, BlockHandles, TableShape{1u << 20, 1u << 20, 64}>;
// Changed under the cold mutex.
struct AttachedBlocks {
    BlockTable table;
};

// At the end of a rank. Null: the rank never attached a block.
void blocks_close(AttachedBlocks *blocks);

// The region must be the rank's own. Errors: NOT_REGISTERED, RANGE, ARG.
struct BlockArgs {
    sennit_region region;
    std::size_t offset;
    std::size_t bytes;
    sennit_signal on_send;
    sennit_signal on_recv;
};
sennit_status block_init(Rank &rank, const BlockArgs &args, sennit_block *block);

// Checks that it is a block of this job. Errors: ARG.
sennit_status block_read(const Rank &rank, const sennit_block &block, BlockRecord *record);

// Checks that the region of an attached block lives, as far as this rank can see. Errors:
// NOT_REGISTERED, and those of op::resolve().
sennit_status check_lives(Rank &rank, const Attached &attached);

sennit_status block_attach(Rank &rank, const sennit_block &block, sennit_peer_block *attached);
// Fills *notified for events in `signal` from `epoch` on. The signal may be of any rank, or null.
// Errors: as reach() and read_signal().
sennit_status reach_notified(Rank &rank, sennit_signal signal, std::uint64_t epoch,
                             Notified *notified);
void block_detach(Rank &rank, Attached &attached);

// The attached block of a handle, or null.
inline Attached *find_attached(const Rank &rank, sennit_peer_block block) {
    return BlockTable::hot_find(rank.block_table.first(), block.handle, block.handle);
}
[[gnu::cold]] sennit_status fail_not_attached(sennit_peer_block block);
// The attached block of the calling thread's rank, if calls on it may take the short way.
inline Attached *find_short(sennit_peer_block block) {
    Attached *attached =
        BlockTable::hot_place(current_table<&HotTables::block_table>(), block.handle);
    if (attached == nullptr) [[unlikely]]
        return nullptr;
    // SYNC block-handle: pairs with the release in publish(); the fields come before.
    return attached->short_handle.load(std::memory_order_acquire) == block.handle ? attached
                                                                                  : nullptr;
}

enum class AtOnce : std::uint8_t { done, surplus, not_at_all };

// A put or get and its event, if the short way is open. A put only reads `local`.
template <op::Direction kDirection>
inline AtOnce notify_at_once(Attached &attached, std::size_t offset, void *local,
                             std::size_t bytes) {
    constexpr bool kPut = kDirection == op::Direction::put;
    Notified &notified = kPut ? attached.put : attached.get;
    const RemoteSignal &remote = notified.remote;
    const std::uint64_t epoch = notified.next();
    if (local == nullptr || remote.record == nullptr || offset > attached.bytes ||
        bytes > attached.bytes - offset) [[unlikely]]
        return AtOnce::not_at_all;
    std::byte *place = attached.base + offset;
    // Prefetch both lines together, before the checks: the locked add waits for earlier stores and
    // would otherwise fetch its own line after theirs.
    if (kPut) prefetch_to_write(place);
    prefetch_to_write(&remote.record->slot[slot_of(epoch)]);
    // relaxed: only equality matters. The signal's memory is freed with the rank, after the
    // segments have ended.
    if (attached.live->load(std::memory_order_relaxed) != attached.live_value ||
        !accepts(*remote.record, remote.signal.handle, epoch, notified.expected.most_ahead))
        [[unlikely]]
        return AtOnce::not_at_all;
    copy_any(kPut ? place : local, kPut ? local : place, bytes);
    if (!count_whole(remote, notified.expected, epoch)) [[unlikely]]
        return AtOnce::surplus;
    notified.set_next(epoch + 1);
    return AtOnce::done;
}

// The general way. Errors: as the public calls.
struct NotifyArgs {
    op::Direction direction;
    std::size_t offset;
    void *local;
    std::size_t bytes;
    const sennit_notice *notice;  // null: the block's own
    // The runs of bytes, if not contiguous; then `bytes` is their sum.
    const op::Layout *layout = nullptr;
};
// The arguments of a box or a list; with one run they are those of a plain call.
NotifyArgs args_of_layout(op::Direction direction, std::size_t offset, void *local,
                          const op::Layout &layout, const sennit_notice *notice);
// Errors: RANGE.
sennit_status check_inside(const Attached &attached, std::uint64_t offset, std::uint64_t bytes,
                           const op::Layout *layout);
sennit_status notify(Rank &rank, Attached &attached, const NotifyArgs &args);
// The same without a wait: *request completes when the caller may reuse the private buffer. If
// `request` is null, flush or the local signal shows that.
sennit_status notify_nb(Rank &rank, Attached &attached, const NotifyArgs &args,
                        sennit_request *request);

}  // namespace sennit::signal
