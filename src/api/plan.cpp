// SPDX-License-Identifier: BSD-3-Clause
// Plans. The first lines of sennit_plan_start are the hot path; other cases go to start_groups().
#include <sennit/plan.h>

#include <type_traits>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "api/shapes.hpp"
#include "plan/plan.hpp"

using namespace sennit;
using namespace sennit::api;
using op::Direction;

namespace {

// A call on one of the caller's plans. `call` may take the Observed as third parameter, to record
// its data.
template <class Call>
sennit_status call_on(sennit_plan handle, const char *name, Call call) {
    return api::call(name, [&](Rank &rank) {
        plan::Plan *recorded = plan::find(rank, handle);
        if (recorded == nullptr)
            return fail(SENNIT_ERR_ARG, "%#x is no plan of this rank", handle.handle);
        Observed observed(rank, name);
        if constexpr (std::is_invocable_v<Call, Rank &, plan::Plan &, Observed &>) {
            return call(rank, *recorded, observed);
        } else {
            return call(rank, *recorded);
        }
    });
}

[[gnu::cold, gnu::noinline]] sennit_status start_cold(sennit_plan plan) {
    return call_on(plan, "sennit_plan_start",
                   [](Rank &rank, plan::Plan &recorded, Observed &observed) {
                       const sennit_status status = plan::start(rank, recorded);
                       // On a rank with an observer, is_by_pointer is false, so executed_parts has
                       // all data of the plan.
                       if (status == SENNIT_OK && observed.is_on())
                           add_parts(rank, observed, recorded.executed_parts.parts,
                                     recorded.executed_parts.count);
                       return status;
                   });
}

[[gnu::cold, gnu::noinline]] sennit_status wait_cold(sennit_plan plan, std::int64_t timeout_ns) {
    return call_on(plan, "sennit_plan_wait", [=](Rank &rank, plan::Plan &recorded) {
        const sennit_status status = check_timeout(timeout_ns);
        return status == SENNIT_OK ? plan::wait(rank, recorded, Deadline::after(timeout_ns))
                                   : status;
    });
}

sennit_status check_notice(const sennit_notice *notice) {
    if (notice == nullptr) return null_argument("notice");
    if (notice->epoch != SENNIT_EPOCH_NEXT)
        return fail(
            SENNIT_ERR_ARG,
            "the epoch of a notice in a plan must be SENNIT_EPOCH_NEXT: commit sets the epochs");
    return notice->wait_ns == 0 ? SENNIT_OK
                                : fail(SENNIT_ERR_ARG, "wait_ns must be 0: a plan does not wait");
}

// The arguments for a put or get of a box or list. `notice` may be null.
struct RecordedShape {
    Direction direction;
    sennit_peer_block block;
    std::size_t offset;
    void *local;
    const sennit_notice *notice;
};

template <class Shape>
sennit_status record(sennit_plan plan, const RecordedShape &side, const Shape &shape,
                     const char *name) {
    return call_on(plan, name, [&](Rank &rank, plan::Plan &recorded) {
        sennit_status status = side.notice == nullptr ? SENNIT_OK : check_notice(side.notice);
        op::Layout layout;
        if (status == SENNIT_OK) status = make_layout(side.direction, shape, &layout);
        if (status != SENNIT_OK) return status;
        const auto args =
            signal::args_of_layout(side.direction, side.offset, side.local, layout, side.notice);
        plan::RecordedOperation operation{side.block, side.direction, args.offset,
                                          static_cast<std::byte *>(args.local), args.bytes};
        operation.layout = args.layout;
        if (side.notice != nullptr) {
            operation.remote_signal = side.notice->remote;
            operation.local_signal = side.notice->local;
        }
        return plan::record(rank, recorded, operation);
    });
}

sennit_status started(bool is_counted) {
    return is_counted ? SENNIT_OK : fail_in(SENNIT_ERR_SIGNAL_OVERFLOW, "sennit_plan_start");
}

// The part of sennit_plan_start that makes calls. It is a function of its own, so that for a plan
// of words sennit_plan_start calls nothing and saves no registers; such a start costs hardly more
// than its stores.
[[gnu::noinline]] sennit_status start_groups(sennit_plan handle, plan::Plan *recorded) {
    if (recorded == nullptr) [[unlikely]]
        return start_cold(handle);
    if (plan::may_start_at_once(*recorded)) [[likely]]
        return started(plan::run_groups(*recorded));
    if (plan::may_start_in_current(*recorded))
        return started(plan::run_groups_in_current(*recorded));
    return start_cold(handle);
}

[[gnu::noinline]] sennit_status end_with_event(plan::Plan &recorded) {
    return started(plan::count_words(recorded));
}

}  // namespace

extern "C" {

sennit_status sennit_plan_create(sennit_plan *plan) {
    return noted_call(__func__, [=](Rank &rank) {
        return plan == nullptr ? null_argument("plan") : plan::create(rank, plan);
    });
}

sennit_status sennit_plan_put(sennit_plan plan, sennit_peer_block destination, size_t offset,
                              const void *source, size_t bytes) {
    return call_on(plan, __func__, [=](Rank &rank, plan::Plan &recorded) {
        // A put only reads the buffer.
        auto *local = static_cast<std::byte *>(const_cast<void *>(source));
        return plan::record(rank, recorded, {destination, Direction::put, offset, local, bytes});
    });
}

sennit_status sennit_plan_get(sennit_plan plan, void *destination, sennit_peer_block source,
                              size_t offset, size_t bytes) {
    return call_on(plan, __func__, [=](Rank &rank, plan::Plan &recorded) {
        auto *local = static_cast<std::byte *>(destination);
        return plan::record(rank, recorded, {source, Direction::get, offset, local, bytes});
    });
}

sennit_status sennit_plan_put_with(sennit_plan plan, sennit_peer_block destination, size_t offset,
                                   const void *source, size_t bytes, const sennit_notice *notice) {
    return call_on(plan, __func__, [=](Rank &rank, plan::Plan &recorded) {
        const sennit_status status = check_notice(notice);
        if (status != SENNIT_OK) return status;
        auto *local = static_cast<std::byte *>(const_cast<void *>(source));
        return plan::record(
            rank, recorded,
            {destination, Direction::put, offset, local, bytes, notice->remote, notice->local});
    });
}

sennit_status sennit_plan_get_with(sennit_plan plan, void *destination, sennit_peer_block source,
                                   size_t offset, size_t bytes, const sennit_notice *notice) {
    return call_on(plan, __func__, [=](Rank &rank, plan::Plan &recorded) {
        const sennit_status status = check_notice(notice);
        if (status != SENNIT_OK) return status;
        auto *local = static_cast<std::byte *>(destination);
        return plan::record(
            rank, recorded,
            {source, Direction::get, offset, local, bytes, notice->remote, notice->local});
    });
}

sennit_status sennit_plan_put_strided(sennit_plan plan, sennit_peer_block destination,
                                      size_t offset, const void *source, const sennit_box *box,
                                      const sennit_notice *notice) {
    return record(plan, {Direction::put, destination, offset, const_cast<void *>(source), notice},
                  box, __func__);
}

sennit_status sennit_plan_get_strided(sennit_plan plan, void *destination, sennit_peer_block source,
                                      size_t offset, const sennit_box *box,
                                      const sennit_notice *notice) {
    return record(plan, {Direction::get, source, offset, destination, notice}, box, __func__);
}

sennit_status sennit_plan_put_indexed(sennit_plan plan, sennit_peer_block destination,
                                      size_t offset, const void *source,
                                      const sennit_piece_list *list, const sennit_notice *notice) {
    return record(plan, {Direction::put, destination, offset, const_cast<void *>(source), notice},
                  list, __func__);
}

sennit_status sennit_plan_get_indexed(sennit_plan plan, void *destination, sennit_peer_block source,
                                      size_t offset, const sennit_piece_list *list,
                                      const sennit_notice *notice) {
    return record(plan, {Direction::get, source, offset, destination, notice}, list, __func__);
}

sennit_status sennit_plan_commit(sennit_plan plan, uint64_t first_epoch, uint64_t epoch_step) {
    return call_on(plan, __func__, [=](Rank &rank, plan::Plan &recorded) {
        return plan::commit(rank, recorded, first_epoch, epoch_step);
    });
}

sennit_status sennit_plan_start(sennit_plan plan) {
    Rank *rank = current_rank();
    plan::Plan *recorded = plan::find(*rank, plan);
    if (recorded == nullptr || !plan::may_start_words(*recorded))
        return start_groups(plan, recorded);
    plan::move_words(recorded->words, recorded->move_count);
    if (recorded->has_events) return end_with_event(*recorded);
    recorded->state = plan::PlanState::running;
    return SENNIT_OK;
}

sennit_status sennit_plan_wait(sennit_plan plan, int64_t timeout_ns) {
    const Rank *rank = current_rank();
    plan::Plan *recorded = plan::find(*rank, plan);
    if (recorded == nullptr || timeout_ns < 0 || recorded->state != plan::PlanState::running ||
        !recorded->is_by_pointer || rank->observer != nullptr) [[unlikely]]
        return wait_cold(plan, timeout_ns);
    recorded->state = plan::PlanState::idle;
    return SENNIT_OK;
}

sennit_status sennit_plan_destroy(sennit_plan plan) {
    return call_on(plan, __func__, plan::destroy);
}

}  // extern "C"
