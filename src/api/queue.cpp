// SPDX-License-Identifier: BSD-3-Clause
// Queues. The first lines of sennit_queue_push and sennit_queue_pop are the hot path; other cases
// go to push_cold() and pop_cold().
#include <sennit/queue.h>

#include "api/call.hpp"
#include "queue/queue.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

sennit_status no_queue(std::uint32_t handle) {
    return fail(SENNIT_ERR_ARG, "%#x is no queue or producer of this rank", handle);
}

// A call on one of the caller's queues or producers.
template <class Handle, class Call>
sennit_status call_on(Handle handle, const char *name, Call call) {
    return noted_call(name, [&](Rank &rank) {
        auto *found = queue::find(rank, handle);
        return found == nullptr ? no_queue(handle.handle) : call(rank, *found);
    });
}

// call_on() for a push; also records the bytes that moved to the queue's owner.
template <class Call>
sennit_status push_by(sennit_producer producer, const char *name, Call call) {
    return api::call(name, [&](Rank &rank) {
        queue::Producer *found = queue::find(rank, producer);
        if (found == nullptr) return no_queue(producer.handle);
        runtime::Observed observed(rank, name, found->taker);
        std::size_t items = 0;
        const sennit_status status = call(rank, *found, &items);
        if (observed.is_on()) [[unlikely]]
            observed.set_bytes(items * found->item_bytes);
        return status;
    });
}

[[gnu::cold, gnu::noinline]] sennit_status push_cold(sennit_producer producer, const void *item,
                                                     std::int64_t timeout_ns) {
    return push_by(producer, "sennit_queue_push",
                   [=](Rank &rank, queue::Producer &found, std::size_t *items) {
                       if (item == nullptr) return null_argument("item");
                       if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
                       const sennit_status status =
                           queue::push(rank, found, item, Deadline::after(timeout_ns));
                       *items = status == SENNIT_OK ? 1 : 0;
                       return status;
                   });
}

[[gnu::cold, gnu::noinline]] sennit_status pop_cold(sennit_queue queue, void *item,
                                                    std::int64_t timeout_ns) {
    return call_on(queue, "sennit_queue_pop", [=](Rank &rank, queue::Queue &found) {
        if (item == nullptr) return null_argument("item");
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        return queue::pop(rank, found, item, Deadline::after(timeout_ns));
    });
}

sennit_status check_queue_args(const queue::QueueArgs &args) {
    if (args.item_bytes == 0 || args.item_bytes > queue::kMostItemBytes)
        return fail(SENNIT_ERR_ARG, "an item has 1 to %zu bytes, not %zu", queue::kMostItemBytes,
                    args.item_bytes);
    if (args.capacity == 0 || args.capacity > queue::kMostCapacity)
        return fail(SENNIT_ERR_ARG, "a queue has 1 to %zu places, not %zu", queue::kMostCapacity,
                    args.capacity);
    if (args.producers == 0 || args.producers > queue::kMostRings)
        return fail(SENNIT_ERR_ARG, "a queue has 1 to %u producers, not %u", queue::kMostRings,
                    args.producers);
    return SENNIT_OK;
}

}  // namespace

extern "C" {

sennit_status sennit_queue_create(size_t item_bytes, size_t capacity, unsigned producers,
                                  sennit_queue *queue, sennit_queue_address *address) {
    return noted_call(__func__, [=](Rank &rank) {
        if (queue == nullptr || address == nullptr) return null_argument("queue or address");
        const queue::QueueArgs args{item_bytes, capacity, producers};
        if (check_queue_args(args) != SENNIT_OK) return SENNIT_ERR_ARG;
        return queue::create(rank, args, queue, address);
    });
}

sennit_status sennit_queue_destroy(sennit_queue queue) {
    return call_on(queue, __func__, queue::destroy);
}

sennit_status sennit_queue_attach(sennit_queue_address address, sennit_producer *producer) {
    return noted_call(__func__, [=](Rank &rank) {
        return producer == nullptr ? null_argument("producer")
                                   : queue::attach(rank, address, producer);
    });
}

sennit_status sennit_queue_detach(sennit_producer producer) {
    return call_on(producer, __func__, [](Rank &rank, queue::Producer &found) {
        queue::detach(rank, found);
        return SENNIT_OK;
    });
}

sennit_status sennit_queue_push(sennit_producer producer, const void *item, int64_t timeout_ns) {
    const Rank *rank = current_rank();
    queue::Producer *found = queue::find(*rank, producer);
    if (found != nullptr && item != nullptr && timeout_ns >= 0 && rank->observer == nullptr &&
        queue::push_at_once(*found, item, 1) != 0) [[likely]]
        return SENNIT_OK;
    return push_cold(producer, item, timeout_ns);
}

sennit_status sennit_queue_pop(sennit_queue queue, void *item, int64_t timeout_ns) {
    Rank *rank = current_rank();
    queue::Queue *found = queue::find(*rank, queue);
    if (found != nullptr && item != nullptr && timeout_ns >= 0 && rank->observer == nullptr)
        [[likely]] {
        const std::uint32_t ring = queue::find_item(*found);
        if (ring != UINT32_MAX) {
            queue::take(*rank, *found, ring, item, 1);
            return SENNIT_OK;
        }
    }
    return pop_cold(queue, item, timeout_ns);
}

sennit_status sennit_queue_push_many(sennit_producer producer, const void *items, size_t count,
                                     int64_t timeout_ns, size_t *pushed) {
    return push_by(producer, __func__, [=](Rank &rank, queue::Producer &found, std::size_t *moved) {
        if (pushed == nullptr || (items == nullptr && count != 0))
            return null_argument("items or pushed");
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        const sennit_status status =
            queue::push_many(rank, found, items, count, Deadline::after(timeout_ns), pushed);
        *moved = *pushed;
        return status;
    });
}

sennit_status sennit_queue_pop_many(sennit_queue queue, void *items, size_t most,
                                    int64_t timeout_ns, size_t *popped) {
    return call_on(queue, __func__, [=](Rank &rank, queue::Queue &found) {
        if (popped == nullptr || (items == nullptr && most != 0))
            return null_argument("items or popped");
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        return queue::pop_many(rank, found, items, most, Deadline::after(timeout_ns), popped);
    });
}

}  // extern "C"
