/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: ranks of a node hand items to one rank, which takes them out one by one.
 *
 * The taker makes the queue and sends its address. Each producer attaches and has `capacity` places
 * of its own, so it never waits because another producer's places are full. Items of one producer
 * keep their order; the taker serves the producers in turn. An item is copied once in and once out.
 *
 *     taker                                        producers
 *     sennit_queue_create(..., &queue, &address)
 *     ... send the address ...                     sennit_queue_attach(address, &producer)
 *     sennit_queue_pop(queue, &item, ...)          sennit_queue_push(producer, &item, ...)
 *
 * There is no end mark: a pop after all producers have detached waits for a new producer. So let
 * each producer push a last item that marks the end. Calls notice the end of another rank after a
 * millisecond of waiting or more. One thread at a time uses a queue or a producer. */
#ifndef SENNIT_QUEUE_H
#define SENNIT_QUEUE_H

#include <sennit/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The taker's handle. */
typedef struct sennit_queue {
    uint32_t handle;
} sennit_queue;

/* Where a queue is. Plain data: send it by any means. */
typedef struct sennit_queue_address {
    sennit_gptr gptr;
} sennit_queue_address;

/* A producer's handle. */
typedef struct sennit_producer {
    uint32_t handle;
} sennit_producer;

#ifdef __cplusplus
#define SENNIT_QUEUE_NULL (sennit_queue{0u})
#define SENNIT_PRODUCER_NULL (sennit_producer{0u})
#else
#define SENNIT_QUEUE_NULL ((sennit_queue){0u})
#define SENNIT_PRODUCER_NULL ((sennit_producer){0u})
#endif

/* Make a queue for items of item_bytes (1 to 1 MiB), with `capacity` places (1 to 2^30) for each
 * of up to `producers` attached producers (1 to 65536). A rank has at most 4095 queues. Errors:
 * ARG (a number out of range). */
sennit_status sennit_queue_create(size_t item_bytes, size_t capacity, unsigned producers,
                                  sennit_queue *queue, sennit_queue_address *address);

/* End a queue and all in it, at any time. Producers get NOT_REGISTERED, also from an attach or push
 * under way. This call, or a later queue call of the caller, frees the memory once each producer
 * has noticed the end, or has detached, or its rank has ended. */
sennit_status sennit_queue_destroy(sennit_queue queue);

/* Become a producer of the queue. The taker may attach, too. A rank may attach several times, and
 * has at most 4095 producers. Errors: ARG (no queue's address), NOMEM (the queue has all its
 * producers; memory), UNSUPPORTED (no load and store to its memory). */
sennit_status sennit_queue_attach(sennit_queue_address address, sennit_producer *producer);

/* End a producer. Its items stay in the queue; its places may serve another producer at once. */
sennit_status sennit_queue_detach(sennit_producer producer);

/* Push a copy of the item; waits for a free place. Errors: PEER_LOST (no free place, and the taker
 * has ended). */
SENNIT_HOT_CALL sennit_status sennit_queue_push(sennit_producer producer, const void *item,
                                                int64_t timeout_ns);

/* Take an item out; waits for one. Errors: PEER_LOST (no item, and all attached producers have
 * ended or, if none is attached, a rank of the job has died). PEER_LOST is not final: a rank that
 * attaches later may push. */
SENNIT_HOT_CALL sennit_status sennit_queue_pop(sennit_queue queue, void *item, int64_t timeout_ns);

/* Push `count` consecutive items in order, faster than single pushes for small items. timeout_ns
 * limits the whole call. *pushed gets the number of pushed items, also after TIMEOUT,
 * NOT_REGISTERED and PEER_LOST. Errors: those of sennit_queue_push. */
sennit_status sennit_queue_push_many(sennit_producer producer, const void *items, size_t count,
                                     int64_t timeout_ns, size_t *pushed);

/* Take out what is there, at most `most` consecutive items; waits only for the first. *popped gets
 * their number, 0 after TIMEOUT and PEER_LOST. Errors: those of sennit_queue_pop. */
sennit_status sennit_queue_pop_many(sennit_queue queue, void *items, size_t most,
                                    int64_t timeout_ns, size_t *popped);

#ifdef __cplusplus
}
#endif

#endif
