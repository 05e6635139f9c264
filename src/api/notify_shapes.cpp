// SPDX-License-Identifier: BSD-3-Clause
// Notified put and get of boxes and lists: one event for all their data.
#include <sennit/notify.h>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "api/shapes.hpp"
#include "signal/blocks.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

using op::Direction;

// The arguments of a call, except its shape. `name` is for errors.
struct NotifiedShape {
    Direction direction;
    sennit_peer_block block;
    std::size_t offset;
    void *local;
    const sennit_notice *notice;
    const char *name;
};

template <class Shape, class Call>
sennit_status with_args(const NotifiedShape &call, const Shape &shape, Call notify) {
    return api::call(call.name, [&](Rank &rank) {
        signal::Attached *const found = signal::find_attached(rank, call.block);
        if (found == nullptr) return signal::fail_not_attached(call.block);
        op::Layout layout;
        const sennit_status status = make_layout(call.direction, shape, &layout);
        if (status != SENNIT_OK) return status;
        const ObservedAccess observed(rank, call.name, found->gptr, layout.bytes);
        return notify(
            rank, *found,
            signal::args_of_layout(call.direction, call.offset, call.local, layout, call.notice));
    });
}

template <class Shape>
sennit_status run(const NotifiedShape &call, const Shape &shape) {
    return with_args(call, shape, signal::notify);
}

template <class Shape>
sennit_status run_nb(const NotifiedShape &call, const Shape &shape, sennit_request *request) {
    return with_args(call, shape,
                     [=](Rank &rank, signal::Attached &attached, const signal::NotifyArgs &args) {
                         return signal::notify_nb(rank, attached, args, request);
                     });
}

// A put only reads the buffer.
NotifiedShape put_of(sennit_peer_block destination, std::size_t offset, const void *source,
                     const sennit_notice *notice, const char *name) {
    return {Direction::put, destination, offset, const_cast<void *>(source), notice, name};
}

NotifiedShape get_of(void *destination, sennit_peer_block source, std::size_t offset,
                     const sennit_notice *notice, const char *name) {
    return {Direction::get, source, offset, destination, notice, name};
}

}  // namespace

extern "C" {

sennit_status sennit_put_notify_strided(sennit_peer_block destination, size_t offset,
                                        const void *source, const sennit_box *box,
                                        const sennit_notice *notice) {
    return run(put_of(destination, offset, source, notice, __func__), box);
}

sennit_status sennit_get_notify_strided(void *destination, sennit_peer_block source, size_t offset,
                                        const sennit_box *box, const sennit_notice *notice) {
    return run(get_of(destination, source, offset, notice, __func__), box);
}

sennit_status sennit_put_notify_strided_nb(sennit_peer_block destination, size_t offset,
                                           const void *source, const sennit_box *box,
                                           const sennit_notice *notice, sennit_request *request) {
    return run_nb(put_of(destination, offset, source, notice, __func__), box, request);
}

sennit_status sennit_get_notify_strided_nb(void *destination, sennit_peer_block source,
                                           size_t offset, const sennit_box *box,
                                           const sennit_notice *notice, sennit_request *request) {
    return run_nb(get_of(destination, source, offset, notice, __func__), box, request);
}

sennit_status sennit_put_notify_indexed(sennit_peer_block destination, size_t offset,
                                        const void *source, const sennit_piece_list *list,
                                        const sennit_notice *notice) {
    return run(put_of(destination, offset, source, notice, __func__), list);
}

sennit_status sennit_get_notify_indexed(void *destination, sennit_peer_block source, size_t offset,
                                        const sennit_piece_list *list,
                                        const sennit_notice *notice) {
    return run(get_of(destination, source, offset, notice, __func__), list);
}

sennit_status sennit_put_notify_indexed_nb(sennit_peer_block destination, size_t offset,
                                           const void *source, const sennit_piece_list *list,
                                           const sennit_notice *notice, sennit_request *request) {
    return run_nb(put_of(destination, offset, source, notice, __func__), list, request);
}

sennit_status sennit_get_notify_indexed_nb(void *destination, sennit_peer_block source,
                                           size_t offset, const sennit_piece_list *list,
                                           const sennit_notice *notice, sennit_request *request) {
    return run_nb(get_of(destination, source, offset, notice, __func__), list, request);
}

}  // extern "C"
