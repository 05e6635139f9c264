// SPDX-License-Identifier: BSD-3-Clause
// Blocks, and put and get with notification. The first lines of sennit_put_notify are the hot path;
// other cases go to signal::notify.
#include <sennit/notify.h>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "op/region.hpp"
#include "signal/batch.hpp"
#include "signal/blocks.hpp"

using namespace sennit;
using namespace sennit::api;
using op::Direction;
using signal::AtOnce;
using signal::Attached;

namespace {

[[gnu::cold, gnu::noinline]] sennit_status notify_cold(sennit_peer_block block,
                                                       const signal::NotifyArgs &args,
                                                       const char *name) {
    return call(name, [&](Rank &rank) {
        Attached *found = signal::find_attached(rank, block);
        if (found == nullptr) return signal::fail_not_attached(block);
        const ObservedAccess observed(rank, name, found->gptr, args.bytes);
        return signal::notify(rank, *found, args);
    });
}

// The parameters have the order of the public call, so that the call compiles to a jump.
[[gnu::noinline]] sennit_status put_cold(sennit_peer_block destination, std::size_t offset,
                                         const void *source, std::size_t bytes) {
    // A put only reads the buffer.
    return notify_cold(destination,
                       {Direction::put, offset, const_cast<void *>(source), bytes, nullptr},
                       "sennit_put_notify");
}

[[gnu::noinline]] sennit_status get_cold(void *destination, sennit_peer_block source,
                                         std::size_t offset, std::size_t bytes) {
    return notify_cold(source, {Direction::get, offset, destination, bytes, nullptr},
                       "sennit_get_notify");
}

sennit_status notify_nb(sennit_peer_block block, const signal::NotifyArgs &args,
                        sennit_request *request, const char *name) {
    return call(name, [&](Rank &rank) {
        Attached *found = signal::find_attached(rank, block);
        if (found == nullptr) return signal::fail_not_attached(block);
        const ObservedAccess observed(rank, name, found->gptr, args.bytes);
        return signal::notify_nb(rank, *found, args, request);
    });
}

sennit_status notify_batch(const char *name, const signal::Batch &batch, std::size_t *count_done) {
    return call(name, [&](Rank &rank) {
        if (count_done == nullptr) return null_argument("done");
        if (batch.parts == nullptr && batch.count != 0) return null_argument("parts");
        Observed observed(rank, name);
        const sennit_status status = signal::notify_batch(rank, batch, count_done);
        if (observed.is_on()) [[unlikely]]
            add_parts(rank, observed, batch.parts, *count_done);
        return status;
    });
}

sennit_status make_block(Rank &rank, const signal::BlockArgs &args, sennit_block *block) {
    if (sennit_gptr_is_null(args.region.gptr)) return op::fail_null_region();
    if (args.region.gptr.rank != rank.world_rank)
        return fail(SENNIT_ERR_ARG, "only rank %d, the owner of the region, can make blocks of it",
                    args.region.gptr.rank);
    return signal::block_init(rank, args, block);
}

sennit_signal signal_of(const signal::BlockRecord &record, std::uint32_t handle) {
    return handle == 0 ? SENNIT_SIGNAL_NULL : sennit_signal{record.rank, handle};
}

}  // namespace

extern "C" {

sennit_status sennit_block_init(sennit_region region, size_t offset, size_t bytes,
                                sennit_signal on_send, sennit_signal on_recv, sennit_block *block) {
    return noted_call(__func__, [=](Rank &rank) {
        if (block == nullptr) return null_argument("block");
        return make_block(rank, {region, offset, bytes, on_send, on_recv}, block);
    });
}

sennit_status sennit_block_query(const sennit_block *block, sennit_block_info *info) {
    return call(__func__, [=](Rank &rank) {
        if (block == nullptr || info == nullptr) return null_argument("an argument");
        signal::BlockRecord record;
        const sennit_status status = signal::block_read(rank, *block, &record);
        if (status != SENNIT_OK) return status;
        *info = sennit_block_info{{record.rank, record.segment, record.offset},
                                  record.bytes,
                                  signal_of(record, record.on_send),
                                  signal_of(record, record.on_recv)};
        return SENNIT_OK;
    });
}

sennit_status sennit_block_attach(const sennit_block *block, sennit_peer_block *attached) {
    return noted_call(__func__, [=](Rank &rank) {
        if (block == nullptr || attached == nullptr) return null_argument("an argument");
        return signal::block_attach(rank, *block, attached);
    });
}

sennit_status sennit_block_detach(sennit_peer_block attached) {
    return noted_call(__func__, [=](Rank &rank) {
        Attached *found = signal::find_attached(rank, attached);
        if (found == nullptr) return signal::fail_not_attached(attached);
        signal::block_detach(rank, *found);
        return SENNIT_OK;
    });
}

sennit_status sennit_put_notify(sennit_peer_block destination, size_t offset, const void *source,
                                size_t bytes) {
    Attached *found = signal::find_short(destination);
    if (found == nullptr) [[unlikely]]
        return put_cold(destination, offset, source, bytes);
    const AtOnce how =
        signal::notify_at_once<Direction::put>(*found, offset, const_cast<void *>(source), bytes);
    if (how == AtOnce::done) [[likely]]
        return SENNIT_OK;
    if (how == AtOnce::surplus) return fail_in(SENNIT_ERR_SIGNAL_OVERFLOW, __func__);
    return put_cold(destination, offset, source, bytes);
}

sennit_status sennit_get_notify(void *destination, sennit_peer_block source, size_t offset,
                                size_t bytes) {
    Attached *found = signal::find_short(source);
    if (found == nullptr) [[unlikely]]
        return get_cold(destination, source, offset, bytes);
    const AtOnce how = signal::notify_at_once<Direction::get>(*found, offset, destination, bytes);
    if (how == AtOnce::done) [[likely]]
        return SENNIT_OK;
    if (how == AtOnce::surplus) return fail_in(SENNIT_ERR_SIGNAL_OVERFLOW, __func__);
    return get_cold(destination, source, offset, bytes);
}

sennit_status sennit_put_notify_with(sennit_peer_block destination, size_t offset,
                                     const void *source, size_t bytes,
                                     const sennit_notice *notice) {
    const char *const name = __func__;
    if (caller() == nullptr) return no_rank(name);
    if (notice == nullptr) return null_argument("notice", name);
    return notify_cold(destination,
                       {Direction::put, offset, const_cast<void *>(source), bytes, notice}, name);
}

sennit_status sennit_get_notify_with(void *destination, sennit_peer_block source, size_t offset,
                                     size_t bytes, const sennit_notice *notice) {
    const char *const name = __func__;
    if (caller() == nullptr) return no_rank(name);
    if (notice == nullptr) return null_argument("notice", name);
    return notify_cold(source, {Direction::get, offset, destination, bytes, notice}, name);
}

sennit_status sennit_put_notify_nb(sennit_peer_block destination, size_t offset, const void *source,
                                   size_t bytes, const sennit_notice *notice,
                                   sennit_request *request) {
    return notify_nb(destination,
                     {Direction::put, offset, const_cast<void *>(source), bytes, notice}, request,
                     __func__);
}

sennit_status sennit_get_notify_nb(void *destination, sennit_peer_block source, size_t offset,
                                   size_t bytes, const sennit_notice *notice,
                                   sennit_request *request) {
    return notify_nb(source, {Direction::get, offset, destination, bytes, notice}, request,
                     __func__);
}

sennit_status sennit_put_notify_batch(size_t count, sennit_notify_part parts[], size_t *done) {
    return notify_batch(__func__, {Direction::put, parts, count}, done);
}

sennit_status sennit_get_notify_batch(size_t count, sennit_notify_part parts[], size_t *done) {
    return notify_batch(__func__, {Direction::get, parts, count}, done);
}

}  // extern "C"
