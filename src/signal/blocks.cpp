// SPDX-License-Identifier: BSD-3-Clause
#include "signal/blocks.hpp"

#include <cstring>
#include <new>

#include "base/crc32c.hpp"
#include "base/fail.hpp"
#include "memory/segments.hpp"
#include "op/peer_memory.hpp"
#include "op/resolve.hpp"
#include "signal/carried.hpp"

namespace sennit::signal {
namespace {

static_assert(sizeof(sennit_block) == sizeof(BlockRecord));

std::uint32_t check_of(const BlockRecord &record) {
    return crc32c(reinterpret_cast<const unsigned char *>(&record), offsetof(BlockRecord, check));
}

std::uint32_t folded_job(const Rank &rank) {
    return static_cast<std::uint32_t>(rank.job_cookie ^ rank.job_cookie >> 32);
}

sennit_status no_block(const char *why) {
    return fail(SENNIT_ERR_ARG, "this is no block: %s", why);
}

// The record of a segment of this rank.
const SegmentRecord &record_of(const memory::SegmentEntry &entry) {
    return *reinterpret_cast<const SegmentRecord *>(
        reinterpret_cast<const std::byte *>(entry.live) - offsetof(SegmentRecord, live));
}

sennit_status own_signal(const Rank &rank, sennit_signal signal, std::uint32_t *handle,
                         std::uint64_t *epoch) {
    *handle = signal.handle;
    if (signal.handle == 0) return SENNIT_OK;
    const Own *own = find_own(rank, signal);
    if (own == nullptr)
        return fail(SENNIT_ERR_ARG, "{%d, %#x} is no signal of this rank", signal.rank,
                    signal.handle);
    *epoch = own_epoch(*own);
    return SENNIT_OK;
}

sennit_status has_ended(int owner) {
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, owner, "",
                     "the region of rank %d that the block was made of has ended", owner);
}

// Checks that the region of the block still exists. Gets the owner's record by a message if load
// and store do not reach it.
sennit_status check_region(Rank &rank, const BlockRecord &block,
                           const memory::SegmentEntry &entry) {
    bool lives = false;
    if (control_of(rank, block.rank) != nullptr) {
        // relaxed: the entry was just found.
        lives = entry.live_value.load(std::memory_order_relaxed) == block.region_generation;
    } else {
        SegmentRecord record{};
        const std::size_t offset =
            offsetof(ControlBlock, records) + sizeof record * std::size_t{block.region};
        const sennit_status status =
            op::get_control(rank, block.rank, offset, &record, sizeof record);
        if (status != SENNIT_OK) return status;
        // relaxed twice: a private copy.
        lives = record.id.load(std::memory_order_relaxed) == block.segment &&
                record.live.load(std::memory_order_relaxed) == block.region_generation;
    }
    return lives ? SENNIT_OK : has_ended(block.rank);
}

// Needs the cold mutex.
sennit_status take_entry(Rank &rank, Signals &all, Attached **entry) {
    if (all.blocks == nullptr) all.blocks = new (std::nothrow) AttachedBlocks;
    if (all.blocks == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the table of blocks");
    BlockTable &table = all.blocks->table;
    *entry = table.take();
    if (*entry == nullptr)
        return fail_no_place(table.is_full(), BlockTable::kMost, "attached blocks");
    if (table.in_use() == 1) table.show(rank.block_table);
    return SENNIT_OK;
}

sennit_status publish(Rank &rank, const ReachedBlock &block, sennit_peer_block *attached) {
    Signals *all = nullptr;
    sennit_status status = make_signals(rank, &all);
    if (status != SENNIT_OK) return status;
    const ColdLock lock(rank);
    Attached *entry = nullptr;
    status = take_entry(rank, *all, &entry);
    if (status != SENNIT_OK) return status;
    Attached &place = *entry;
    static_cast<ReachedBlock &>(place) = block;
    // The short way cannot send a part of large data by a rail.
    const bool is_short = place.base != nullptr && place.live != nullptr &&
                          rank.observer == nullptr && place.bytes < rank.split_from_bytes;
    const std::uint32_t handle = all->blocks->table.publish(place);
    // SYNC block-handle: pairs with the acquire in find_short(); the fields come before.
    place.short_handle.store(is_short ? handle : 0, std::memory_order_release);
    attached->handle = handle;
    return SENNIT_OK;
}

}  // namespace

void blocks_close(AttachedBlocks *blocks) {
    if (blocks == nullptr) return;
    blocks->table.close();
    delete blocks;
}

sennit_status block_init(Rank &rank, const BlockArgs &args, sennit_block *block) {
    BlockRecord made{};
    sennit_status status = own_signal(rank, args.on_send, &made.on_send, &made.send_epoch);
    if (status == SENNIT_OK)
        status = own_signal(rank, args.on_recv, &made.on_recv, &made.recv_epoch);
    memory::SegmentEntry *entry = nullptr;
    if (status == SENNIT_OK) status = op::resolve(rank, args.region.gptr, &entry);
    if (status == SENNIT_OK) status = op::check_range(*entry, args.region.gptr, args.region.bytes);
    if (status != SENNIT_OK) return status;
    if (args.offset > args.region.bytes || args.bytes > args.region.bytes - args.offset)
        return fail(SENNIT_ERR_RANGE, "%zu byte%s at offset %zu leave%s the region of %llu byte%s",
                    args.bytes, plural(args.bytes), args.offset, singular(args.bytes),
                    static_cast<unsigned long long>(args.region.bytes), plural(args.region.bytes));
    const SegmentRecord &segment = record_of(*entry);
    made.magic = kBlockMagic;
    made.version = kBlockVersion;
    made.job = folded_job(rank);
    made.rank = rank.world_rank;
    made.segment = args.region.gptr.segment;
    made.offset = args.region.gptr.offset + args.offset;
    made.bytes = args.bytes;
    made.region = static_cast<std::uint16_t>(segment.owner_slot);
    // relaxed: the entry was just found.
    made.region_generation = entry->live_value.load(std::memory_order_relaxed);
    made.check = check_of(made);
    std::memcpy(block, &made, sizeof made);
    return SENNIT_OK;
}

sennit_status block_read(const Rank &rank, const sennit_block &block, BlockRecord *record) {
    std::memcpy(record, &block, sizeof *record);
    if (sennit_block_is_null(&block)) return no_block("it is SENNIT_BLOCK_NULL");
    if (record->magic != kBlockMagic) return no_block("its first byte is wrong");
    if (record->check != check_of(*record)) return no_block("it was changed on the way");
    if (record->version != kBlockVersion) return no_block("another version of Sennit made it");
    if (record->job != folded_job(rank)) return no_block("it is of another job");
    if (static_cast<std::uint32_t>(record->rank) >= size_of(rank) ||
        record->region >= kSegmentsPerTeam)
        return no_block("it names no rank of this job, or no segment");
    return SENNIT_OK;
}

sennit_status fail_not_attached(sennit_peer_block block) {
    return fail(SENNIT_ERR_ARG, "block %#x is not attached by this rank", block.handle);
}

sennit_status block_attach(Rank &rank, const sennit_block &block, sennit_peer_block *attached) {
    BlockRecord record;
    sennit_status status = block_read(rank, block, &record);
    if (status != SENNIT_OK) return status;
    const sennit_gptr gptr{record.rank, record.segment, record.offset};
    memory::SegmentEntry *entry = nullptr;
    status = op::resolve(rank, gptr, &entry);
    if (status == SENNIT_OK) status = check_region(rank, record, *entry);
    if (status == SENNIT_OK) status = op::check_range(*entry, gptr, record.bytes);
    if (status != SENNIT_OK) return status;
    ReachedBlock filled{};
    filled.gptr = gptr;
    filled.bytes = record.bytes;
    if (entry->base != nullptr) filled.base = entry->base + record.offset;
    if (control_of(rank, record.rank) != nullptr) filled.live = entry->live;
    filled.live_value = record.region_generation;
    status = reach_notified(rank, {record.rank, record.on_recv}, record.recv_epoch, &filled.put);
    if (status == SENNIT_OK)
        status =
            reach_notified(rank, {record.rank, record.on_send}, record.send_epoch, &filled.get);
    return status == SENNIT_OK ? publish(rank, filled, attached) : status;
}

sennit_status reach_notified(Rank &rank, sennit_signal signal, std::uint64_t epoch,
                             Notified *notified) {
    *notified = Notified{};
    notified->next_epoch = epoch;
    if (signal.handle == 0) return SENNIT_OK;
    sennit_status status = reach(rank, signal, &notified->remote);
    if (status != SENNIT_OK) return status;
    Seen seen{};
    status = read_signal(rank, notified->remote, &seen);
    notified->expected = seen.expected;
    if (status == SENNIT_OK && notified->remote.record == nullptr)
        signals_of(rank)->known.begin(signal, {seen.epoch, seen.expected.most_ahead});
    return status;
}

sennit_status check_lives(Rank &rank, const Attached &attached) {
    // relaxed: only equality matters; freeing during a use is the program's error.
    if (attached.live != nullptr)
        return attached.live->load(std::memory_order_relaxed) == attached.live_value
                   ? SENNIT_OK
                   : has_ended(attached.gptr.rank);
    memory::SegmentEntry *entry = nullptr;
    const sennit_status status = op::resolve(rank, attached.gptr, &entry);
    if (status != SENNIT_OK) return status;
    // relaxed: the entry was just found.
    return entry->live_value.load(std::memory_order_relaxed) == attached.live_value
               ? SENNIT_OK
               : has_ended(attached.gptr.rank);
}

void block_detach(Rank &rank, Attached &attached) {
    AttachedBlocks &blocks = *signals_of(rank)->blocks;
    const RemoteSignal of_puts = attached.put.remote;
    {
        const ColdLock lock(rank);
        // relaxed: a call at the same time is the program's error.
        attached.short_handle.store(0, std::memory_order_relaxed);
        blocks.table.give_back(attached);
    }
    if (!of_puts.is_none() && of_puts.record == nullptr) leave_subscription(rank, of_puts.signal);
}

}  // namespace sennit::signal
