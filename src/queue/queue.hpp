// SPDX-License-Identifier: BSD-3-Clause
// Queues of many producers and one consumer, the *taker*, within a node. Each producer has a ring
// of places with two counts: the producer counts items put in, the taker counts items taken out.
// Both counts only grow. The ring is empty if the counts are equal, and full if they differ by the
// capacity. So a producer that dies at any time leaves a consistent ring.
//
// The queue is a segment of the taker. Words that both sides read have their own lines.
#pragma once

#include <sennit/queue.h>

#include "base/handle_table.hpp"
#include "op/direct.hpp"
#include "rank/process.hpp"
#include "runtime/wait.hpp"

namespace sennit::queue {
struct Queues;
}
template <>
struct sennit::PartType<sennit::Part::queues> {
    using Type = sennit::queue::Queues;
};

namespace sennit::queue {

inline constexpr std::uint64_t kQueueMagic = 0x3151554554534E53;  // little endian
inline constexpr std::size_t kMostItemBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostCapacity = std::size_t{1} << 30;
inline constexpr unsigned kMostRings = 65536;

// At the start of the segment. The taker writes it before any other rank knows of the queue.
struct alignas(kLineBytes) QueueHead {
    std::uint64_t magic;
    std::uint64_t item_bytes;
    std::uint64_t stride;  // distance between places
    std::uint64_t capacity;
    std::uint32_t rings;
    std::uint32_t sleeps_with_barrier;  // Rank::sleeps_with_barrier of the taker
    std::uint8_t unused[88];
};
static_assert(sizeof(QueueHead) == 128 && offsetof(QueueHead, rings) == 32 &&
              offsetof(QueueHead, sleeps_with_barrier) == 36);

// The word ProducerRing::producer: world rank + 1 of the producer, a bit that the producer sets
// when it leaves, and a bit for its Rank::sleeps_with_barrier. 0: free.
inline constexpr std::uint32_t kLeavingBit = 1u << 31;
inline constexpr std::uint32_t kSleepsWithBarrierBit = 1u << 30;
constexpr int producer_in(std::uint32_t word) {
    return static_cast<int>(word & ~(kLeavingBit | kSleepsWithBarrierBit)) - 1;
}

// The rings follow the head; the places of all rings follow the last ring.
struct ProducerRing {
    alignas(kLineBytes) std::atomic<std::uint64_t> put;       // SYNC queue-put; writer: producer
    alignas(kLineBytes) std::atomic<std::uint64_t> taken;     // SYNC queue-taken; writer: taker
    alignas(kLineBytes) std::atomic<std::uint32_t> producer;  // SYNC queue-ring; writers: producers
};
static_assert(sizeof(ProducerRing) == 384 && offsetof(ProducerRing, producer) == 256);

inline ProducerRing *rings_of(std::byte *queue) {
    return reinterpret_cast<ProducerRing *>(queue + sizeof(QueueHead));
}
inline std::byte *places_of(std::byte *queue, std::uint32_t ring) {
    const auto &head = *reinterpret_cast<const QueueHead *>(queue);
    return queue + sizeof(QueueHead) + sizeof(ProducerRing) * head.rings +
           head.stride * head.capacity * ring;
}

// The taker's view of a ring.
struct RingView {
    std::uint64_t taken;
    std::uint64_t place;     // taken modulo capacity
    std::uint64_t seen_put;  // from the last load
    std::uint32_t word;      // ProducerRing::producer, from which the fields below were made
    bool rings_lightly;
    ControlBlock *control;  // of the producer; may be null
};

// The taker's side.
struct Queue {
    std::uint32_t handle = 0;
    std::uint32_t rings = 0;
    std::uint32_t next = 0;  // the ring that is checked first
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    std::byte *base = nullptr;
    std::uint64_t item_bytes = 0;
    std::uint64_t stride = 0;
    std::uint64_t capacity = 0;
    RingView *views = nullptr;  // [rings]
    Queue *next_ended = nullptr;
};

// A producer's side.
struct Producer {
    std::uint32_t handle = 0;
    ProducerRing *ring = nullptr;  // null: released, because the queue has ended
    std::byte *places = nullptr;
    ControlBlock *control = nullptr;  // of the taker
    const std::atomic<std::uint32_t> *live = nullptr;
    std::uint32_t live_value = 0;
    int taker = -1;
    bool rings_lightly = false;  // store_and_ring_lightly() may wake the taker
    std::uint64_t item_bytes = 0;
    std::uint64_t stride = 0;
    std::uint64_t capacity = 0;
    std::uint64_t put = 0;
    std::uint64_t place = 0;       // put modulo capacity
    std::uint64_t seen_taken = 0;  // from the last load
};

// All queues and producers of a rank. Made at the first use; protected by the cold mutex.
struct Queues {
    template <class Object>
    using Table = PointerTable<Object, HandleLayout<std::uint32_t, 12, 19>, TableShape{4096, 4096}>;
    Table<Queue> queues;
    Table<Producer> producers;
    Queue *ended = nullptr;  // destroyed queues whose memory may be in use
};

inline Queue *find(const Rank &rank, sennit_queue queue) {
    const Queues *all = made_once(rank.queues);
    if (all == nullptr) [[unlikely]]
        return nullptr;
    return all->queues.find(queue.handle);
}
inline Producer *find(const Rank &rank, sennit_producer producer) {
    const Queues *all = made_once(rank.queues);
    if (all == nullptr) [[unlikely]]
        return nullptr;
    return all->producers.find(producer.handle);
}

struct QueueArgs {
    std::size_t item_bytes;
    std::size_t capacity;
    unsigned producers;
};
sennit_status create(Rank &rank, const QueueArgs &args, sennit_queue *queue,
                     sennit_queue_address *address);
sennit_status destroy(Rank &rank, Queue &queue);
sennit_status attach(Rank &rank, sennit_queue_address address, sennit_producer *producer);
void detach(Rank &rank, Producer &producer);
// The public calls. push() is called after push_at_once() has failed, pop() after find_item() has
// failed.
sennit_status push_many(Rank &rank, Producer &producer, const void *items, std::size_t count,
                        const Deadline &deadline, std::size_t *pushed);
sennit_status pop_many(Rank &rank, Queue &queue, void *items, std::size_t most,
                       const Deadline &deadline, std::size_t *popped);
sennit_status push(Rank &rank, Producer &producer, const void *item, const Deadline &deadline);
sennit_status pop(Rank &rank, Queue &queue, void *item, const Deadline &deadline);
// At the end of a rank.
void queues_close(Rank &rank);

// Stores a count for which the rank of `target` may wait, and wakes that rank. `lightly`: without a
// fence, which would take most of the time of a transfer of many items.
inline void publish_count(std::atomic<std::uint64_t> &count, std::uint64_t value,
                          ControlBlock &target, bool lightly) {
    if (lightly) {
        store_and_ring_lightly(count, value, target);
    } else {
        store_and_ring(count, value, target);
    }
}

// Copies small items word by word: a wider load of words that the program has just stored would
// stall until the stores are complete.
inline void copy_item(std::byte *to, const std::byte *from, std::uint64_t bytes) {
    const auto word = [=](unsigned i) { std::memcpy(to + 8 * i, from + 8 * i, 8); };
    if (bytes % 8 != 0) {
        std::memcpy(to, from, bytes);
        return;
    }
    switch (bytes / 8) {
        case 8:
            word(7);
            [[fallthrough]];
        case 7:
            word(6);
            [[fallthrough]];
        case 6:
            word(5);
            [[fallthrough]];
        case 5:
            word(4);
            [[fallthrough]];
        case 4:
            word(3);
            [[fallthrough]];
        case 3:
            word(2);
            [[fallthrough]];
        case 2:
            word(1);
            [[fallthrough]];
        case 1:
            word(0);
            break;
        default:
            std::memcpy(to, from, bytes);
    }
}

// The number of items to move before the other side is notified, so that both sides work at the
// same time.
inline std::uint64_t items_per_notification(std::uint64_t item_bytes) {
    constexpr std::uint64_t kBytesTogether = 512;
    return item_bytes < kBytesTogether ? kBytesTogether / item_bytes : 1;
}

// Puts in up to `count` items, as many as there are free places, and publishes them together.
// Returns their number.
inline std::uint64_t push_at_once(Producer &producer, const void *items, std::uint64_t count) {
    // relaxed: only equality matters; freeing during a use is the program's error.
    if (producer.live->load(std::memory_order_relaxed) != producer.live_value) [[unlikely]]
        return 0;
    if (producer.capacity - (producer.put - producer.seen_taken) < count) {
        // SYNC queue-taken: pairs with the release in take(), of the taker; its copies of the items
        // in these places come before.
        producer.seen_taken = producer.ring->taken.load(std::memory_order_acquire);
        const std::uint64_t free = producer.capacity - (producer.put - producer.seen_taken);
        if (free == 0) return 0;
        if (free < count) count = free;
    }
    const auto *from = static_cast<const std::byte *>(items);
    for (std::uint64_t left = count; left != 0; --left) {
        copy_item(producer.places + producer.place * producer.stride, from, producer.item_bytes);
        from += producer.item_bytes;
        producer.place = producer.place + 1 == producer.capacity ? 0 : producer.place + 1;
    }
    // SYNC queue-put: pairs with the acquire in find_item(), of the taker; the items come before.
    // publish_count() is at least a release.
    producer.put += count;
    publish_count(producer.ring->put, producer.put, *producer.control, producer.rings_lightly);
    return count;
}

// A ring with an item, or UINT32_MAX.
inline std::uint32_t find_item(const Queue &queue) {
    ProducerRing *rings = rings_of(queue.base);
    std::uint32_t ring = queue.next;
    for (std::uint32_t left = queue.rings; left != 0; --left) {
        RingView &view = queue.views[ring];
        if (view.taken != view.seen_put) return ring;
        // SYNC queue-put: pairs with the release in push_at_once(), of the producer.
        view.seen_put = rings[ring].put.load(std::memory_order_acquire);
        if (view.taken != view.seen_put) return ring;
        if (++ring == queue.rings) ring = 0;
    }
    return UINT32_MAX;
}

// Updates the view after a change of the ring's word.
void update_view(Rank &rank, std::uint32_t word, RingView &view);

// Takes `count` items out of the ring, which must have as many.
inline void take(Rank &rank, Queue &queue, std::uint32_t number, void *items, std::uint64_t count) {
    ProducerRing &ring = rings_of(queue.base)[number];
    RingView &view = queue.views[number];
    auto *to = static_cast<std::byte *>(items);
    for (std::uint64_t left = count; left != 0; --left) {
        copy_item(to, places_of(queue.base, number) + view.place * queue.stride, queue.item_bytes);
        to += queue.item_bytes;
        view.place = view.place + 1 == queue.capacity ? 0 : view.place + 1;
    }
    queue.next = number + 1 == queue.rings ? 0 : number + 1;
    // relaxed: if this load misses a new producer, that producer is not woken here. It has read the
    // count when it attached, and reads it again after at most the longest sleep.
    const std::uint32_t word = ring.producer.load(std::memory_order_relaxed);
    if (word != view.word) [[unlikely]]
        update_view(rank, word, view);
    view.taken += count;
    if (view.control != nullptr) {
        // SYNC queue-taken: pairs with the acquire in push_at_once(), of the producer; the copies
        // of the items come before. publish_count() is at least a release.
        publish_count(ring.taken, view.taken, *view.control, view.rings_lightly);
    } else {
        // SYNC queue-taken: pairs with the acquire in push_at_once(), of the next producer.
        ring.taken.store(view.taken, std::memory_order_release);
    }
}

}  // namespace sennit::queue
