/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: items that other ranks of the node hand to one, who takes them out one after the other.
 *
 * The rank that takes makes the queue and gives its address to those that put in. Each of these
 * attaches to it and has `capacity` places of its own, so nobody waits for another one's full
 * places. Items of one producer come out in the order in which it put them in, and producers take
 * turns. Nothing is copied but the item: once to its place, once out.
 *
 *     taker                                        producers
 *     sennit_queue_create(..., &queue, &address)
 *     ... the address goes over ...                sennit_queue_attach(address, &producer)
 *     sennit_queue_pop(queue, &item, ...)          sennit_queue_push(producer, &item, ...)
 *
 * There is no mark of the end: a producer that has put in all pushes an item that says so, one for
 * each producer, since the taker does not hear of a detach. A pop when all producers have detached
 * ends with TIMEOUT.
 *
 * A time limit of 0 looks once; the end of another rank is noticed by calls that wait for a
 * millisecond or more. One thread at a time uses a queue, and one at a time a producer. */
#ifndef SENNIT_QUEUE_H
#define SENNIT_QUEUE_H

#include <sennit/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The taker's handle, by value. {0} is no queue. */
typedef struct sennit_queue {
    uint32_t handle;
} sennit_queue;

/* Where a queue is: plain data that may be sent by any means. */
typedef struct sennit_queue_address {
    sennit_gptr gptr;
} sennit_queue_address;

/* The handle of a rank that puts in, by value. {0} is none. */
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

/* Make a queue of the caller's for items of item_bytes bytes (1 to 1 MiB), with `capacity` places
 * (1 to 2^30) for each of up to `producers` producers (1 to 65536) at a time. By one rank alone. A
 * rank has at most 4095 queues. Errors: STATE, ARG (null, a number outside of these), NOMEM, OS. */
sennit_status sennit_queue_create(size_t item_bytes, size_t capacity, unsigned producers,
                                  sennit_queue *queue, sennit_queue_address *address);

/* End it, with all that is in it, at any time: producers find NOT_REGISTERED, also those that
 * attach or push at that moment, and never reach a queue that is made later. The memory may go when
 * each of them has found out or has detached, or its rank has ended: it goes in this call, or in
 * the next one of the caller that makes or ends a queue or detaches a producer. Errors: STATE, ARG
 * (no queue). */
sennit_status sennit_queue_destroy(sennit_queue queue);

/* Become a producer of the queue; the taker itself may, and a rank more than once. At most 4095 at
 * a time. Errors: STATE, ARG (null, an address that is none), RANGE (rank), NOT_REGISTERED (the
 * queue has ended), NOMEM (as many producers as it takes; memory), UNSUPPORTED (its memory is not
 * reached by load and store), OTHER_NODE, PEER_LOST, OS. */
sennit_status sennit_queue_attach(sennit_queue_address address, sennit_producer *producer);

/* Cease to be one. What was put in stays there and is taken out in its turn; the places may serve
 * another producer at once. Errors: STATE, ARG (no producer). */
sennit_status sennit_queue_detach(sennit_producer producer);

/* Put a copy of the item in. Waits for a free place for at most timeout_ns. Errors: STATE, ARG (no
 * producer, null, a negative timeout), TIMEOUT (all places are taken), NOT_REGISTERED (the queue
 * has ended), PEER_LOST (there is no place, and the taker has ended). */
SENNIT_HOT_CALL sennit_status sennit_queue_push(sennit_producer producer, const void *item,
                                                int64_t timeout_ns);

/* Take an item out. Waits for one for at most timeout_ns. Errors: STATE, ARG (no queue, null, a
 * negative timeout), TIMEOUT (there is none), PEER_LOST (there is none, and all producers that are
 * attached have ended, so not while one of them lives; where none is attached, a rank of the job
 * has died). That is not final: a rank that lives may attach later, and what it puts in is popped.
 * What a producer put in before it ended is taken out first. */
SENNIT_HOT_CALL sennit_status sennit_queue_pop(sennit_queue queue, void *item, int64_t timeout_ns);

/* Put `count` items in that lie one behind the other, in this order, as by a push for each. Several
 * are shown to the taker at once, so a stream of small items is faster this way. Waits for places
 * for at most timeout_ns in all. *pushed gets how many were put in, also where the call ends with
 * TIMEOUT, NOT_REGISTERED or PEER_LOST. Errors: those of sennit_queue_push. */
sennit_status sennit_queue_push_many(sennit_producer producer, const void *items, size_t count,
                                     int64_t timeout_ns, size_t *pushed);

/* Take out what is there, at most `most` items, which come to lie one behind the other. Waits for
 * the first one, for at most timeout_ns, and for no other. *popped gets how many there were, 0 with
 * TIMEOUT and PEER_LOST. With 0 for `most` nothing is done. Errors: those of sennit_queue_pop. */
sennit_status sennit_queue_pop_many(sennit_queue queue, void *items, size_t most,
                                    int64_t timeout_ns, size_t *popped);

#ifdef __cplusplus
}
#endif

#endif
