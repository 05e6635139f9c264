// SPDX-License-Identifier: BSD-3-Clause
#include "queue/queue.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/fail.hpp"
#include "memory/segments.hpp"
#include "op/peer_memory.hpp"
#include "op/resolve.hpp"
#include "runtime/detector.hpp"

namespace sennit::queue {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

sennit_status no_memory() {
    return fail(SENNIT_ERR_NOMEM, "no memory for a queue");
}

std::uint64_t bytes_of(const QueueArgs &args, std::uint64_t stride) {
    const std::uint64_t rings = args.producers;
    if (args.capacity > kMostBytes / stride / rings) return UINT64_MAX;
    return sizeof(QueueHead) + sizeof(ProducerRing) * rings + stride * args.capacity * rings;
}

void free_queue(Queue *queue) {
    std::free(queue->views);
    delete queue;
}

// Makes and fills the segment of a queue. Needs the cold mutex.
sennit_status make_memory(Rank &rank, const QueueArgs &args, Queue *made) {
    made->item_bytes = args.item_bytes;
    made->stride = memory::round_up(args.item_bytes, 8);
    made->capacity = args.capacity;
    made->rings = args.producers;
    memory::SegmentArgs segment;
    segment.kind = SegmentKind::queue;
    segment.bytes = bytes_of(args, made->stride);
    segment.alignment = kLineBytes;
    if (segment.bytes == UINT64_MAX)
        return fail(SENNIT_ERR_NOMEM, "%u times %zu items of %zu bytes are more than a queue holds",
                    args.producers, args.capacity, args.item_bytes);
    SegmentRecord *record = nullptr;
    sennit_status status = memory::segment_create(rank, segment, &record);
    if (status != SENNIT_OK) return status;
    made->base = reinterpret_cast<std::byte *>(record->owner_address);
    auto &head = *reinterpret_cast<QueueHead *>(made->base);
    head.item_bytes = made->item_bytes;
    head.stride = made->stride;
    head.capacity = made->capacity;
    head.rings = made->rings;
    head.sleeps_with_barrier = sleep_with_barrier(rank) ? 1 : 0;
    head.magic = kQueueMagic;
    return op::attach_own(rank, record, &made->gptr);
}

void free_memory(Rank &rank, const Queue &queue) {
    SegmentRecord &record = rank.control->records[memory::index_of(queue.gptr.segment)];
    op::detach_segment(rank, rank.world_rank, queue.gptr.segment);
    memory::segment_destroy(rank, &record);
}

// Finds the segment entry of the queue at the address.
sennit_status reach(Rank &rank, sennit_queue_address address, memory::SegmentEntry **entry) {
    sennit_status status = op::resolve(rank, address.gptr, entry);
    if (status == SENNIT_OK) status = op::check_range(**entry, address.gptr, sizeof(QueueHead));
    if (status != SENNIT_OK) return status;
    const int peer = address.gptr.rank;
    if ((*entry)->base == nullptr || control_of(rank, peer) == nullptr)
        return fail_peer(
            rank.peers[peer].same_node ? SENNIT_ERR_UNSUPPORTED : SENNIT_ERR_OTHER_NODE, peer,
            sennit_path_name(static_cast<sennit_path>((*entry)->path)),
            "this rank cannot load and store in the queue of rank %d", peer);
    const auto &head = *reinterpret_cast<const QueueHead *>((*entry)->base + address.gptr.offset);
    if (address.gptr.offset != 0 || head.magic != kQueueMagic)
        return fail(SENNIT_ERR_ARG, "there is no queue at the address");
    return SENNIT_OK;
}

// Whether another producer may claim a ring with this word.
bool is_abandoned(Rank &rank, std::uint32_t word) {
    if (word == 0 || (word & kLeavingBit) != 0) return true;
    const int producer = producer_in(word);
    return producer != rank.world_rank && peer_gone(rank, producer) != Gone::no;
}

// The word of a ring whose producer is this rank.
std::uint32_t word_of(const Rank &rank) {
    const auto number = static_cast<std::uint32_t>(rank.world_rank) + 1;
    // relaxed: set under the cold mutex, or earlier by this thread.
    const bool with_barrier = rank.sleeps_with_barrier.load(std::memory_order_relaxed);
    return with_barrier ? number | kSleepsWithBarrierBit : number;
}

// Claims the ring if its producer has left. New items follow those that are still in the ring.
bool claim(Rank &rank, ProducerRing &ring) {
    // SYNC queue-ring: pairs with the releases below and in give_up(), of the last producer; the
    // last count of that producer comes before.
    std::uint32_t word = ring.producer.load(std::memory_order_acquire);
    if (!is_abandoned(rank, word)) return false;
    const std::uint32_t own = word_of(rank);
    // SYNC queue-ring: pairs with the same releases, and with the acquire of the next producer.
    // relaxed on failure: another producer was faster.
    return ring.producer.compare_exchange_strong(word, own, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed);
}

bool is_empty(const ProducerRing &ring) {
    // relaxed twice: a hint for the choice of a ring; its new producer reads both counts again.
    return ring.put.load(std::memory_order_relaxed) == ring.taken.load(std::memory_order_relaxed);
}

// Takes a ring for this rank, preferably an empty one: the places of a former producer's items are
// not free. Returns UINT32_MAX if there is none.
std::uint32_t claim_ring(Rank &rank, ProducerRing *rings, std::uint32_t count) {
    for (const bool wants_empty : {true, false})
        for (std::uint32_t i = 0; i < count; ++i)
            if ((!wants_empty || is_empty(rings[i])) && claim(rank, rings[i])) return i;
    return UINT32_MAX;
}

// Whether a thread of any rank, this one included, is attaching to a queue. Ranks that have ended
// do not count.
bool is_somebody_attaching(Rank &rank) {
    for (int peer = 0; peer < world_size(rank); ++peer) {
        const ControlBlock *control = control_of(rank, peer);
        // SYNC queue-attaching: pairs with the release in ~Attaching(); the claim of a ring comes
        // before.
        if (control == nullptr || control->header.attaching.load(std::memory_order_acquire) == 0)
            continue;
        if (peer == rank.world_rank || peer_gone(rank, peer) == Gone::no) return true;
    }
    return false;
}

// Whether a producer may use the memory of an ended queue. Checks the attaching threads before the
// rings: a thread that is no longer attaching has claimed its ring before.
bool is_held(Rank &rank, const Queue &queue) {
    if (is_somebody_attaching(rank)) return true;
    ProducerRing *rings = rings_of(queue.base);
    for (std::uint32_t i = 0; i < queue.rings; ++i) {
        // SYNC queue-ring: pairs with the release in give_up(), of the producer; its last use of
        // the memory comes before.
        if (!is_abandoned(rank, rings[i].producer.load(std::memory_order_acquire))) return true;
    }
    return false;
}

// Frees the memory of ended queues that no producer uses. Needs the cold mutex.
void free_ended(Rank &rank, Queues &all) {
    for (Queue **link = &all.ended; *link != nullptr;) {
        Queue *queue = *link;
        if (is_held(rank, *queue)) {
            link = &queue->next_ended;
            continue;
        }
        *link = queue->next_ended;
        free_memory(rank, *queue);
        free_queue(queue);
    }
}

// While an object of this class exists, the memory of a queue that this thread finds alive is not
// freed.
class Attaching {
  public:
    explicit Attaching(Rank &rank) : word_(rank.control->header.attaching) {
        // relaxed: the fence orders it.
        word_.fetch_add(1, std::memory_order_relaxed);
        // SYNC queue-attaching: pairs with the fence in destroy(), of the taker: the taker sees the
        // word, or this thread sees that the queue has ended.
        store_load_fence();
    }
    ~Attaching() {
        // SYNC queue-attaching: pairs with the acquire in is_somebody_attaching(), of the taker;
        // the claim of a ring comes before.
        word_.fetch_sub(1, std::memory_order_release);
    }
    Attaching(const Attaching &) = delete;
    Attaching &operator=(const Attaching &) = delete;

  private:
    std::atomic<std::uint32_t> &word_;
};

// Gives up the ring, so that the taker may free the memory. Wakes the taker, which may wait for
// this producer. If the taker is gone, nothing is written, since its memory is gone, too.
void give_up(Rank &rank, Producer &producer) {
    if (producer.ring == nullptr) return;
    if (peer_gone(rank, producer.taker) == Gone::no) {
        // SYNC queue-ring: pairs with the acquires in claim(), of the next producer, and is_held(),
        // of the taker; the last count and all use of the memory come before.
        producer.ring->producer.store(word_of(rank) | kLeavingBit, std::memory_order_release);
        ring_doorbell(*producer.control);
    }
    producer.ring = nullptr;
}

// A LostSearch for the taker. If the queue has producers and all of them are gone, returns one of
// them. If it has none, returns any lost rank. Else -1.
int find_lost_producer(Rank &rank, const void *context) {
    const Queue &queue = *static_cast<const Queue *>(context);
    const ProducerRing *rings = rings_of(queue.base);
    int lost = -1;
    bool is_used = false;
    for (std::uint32_t i = 0; i < queue.rings; ++i) {
        // relaxed: only the producer's number matters.
        const std::uint32_t word = rings[i].producer.load(std::memory_order_relaxed);
        if (word == 0 || (word & kLeavingBit) != 0) continue;
        is_used = true;
        const int producer = producer_in(word);
        if (peer_gone(rank, producer) == Gone::no) return -1;
        lost = producer;
    }
    if (is_used) return lost;
    const int any = kAnyPeer;
    return find_lost(rank, &any);
}

bool is_live(const Producer &producer) {
    // relaxed: only equality matters; freeing during a use is the program's error.
    return producer.live->load(std::memory_order_relaxed) == producer.live_value;
}

// The queue has ended: the producer stays valid, without a ring.
sennit_status ended(Rank &rank, Producer &producer) {
    give_up(rank, producer);
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, producer.taker, "",
                     "the queue of rank %d has ended", producer.taker);
}

// Both put `before` in front of their text, if it is not empty.
sennit_status fail_full(const Producer &producer, const char *before) {
    return fail_peer(SENNIT_ERR_TIMEOUT, producer.taker, "",
                     "%s%sall %llu places of producer %#x in the queue of rank %d are taken",
                     before, before[0] == 0 ? "" : ": ",
                     static_cast<unsigned long long>(producer.capacity), producer.handle,
                     producer.taker);
}

sennit_status fail_empty(const Queue &queue, const char *before) {
    return fail(SENNIT_ERR_TIMEOUT, "%s%squeue %#x is empty", before, before[0] == 0 ? "" : ": ",
                queue.handle);
}

// Finds the queue and claims one of its rings.
sennit_status enter(Rank &rank, sennit_queue_address address, Producer *made) {
    // Done before Attaching, which keeps every ended queue in memory.
    bool with_barrier = false;
    {
        const ColdLock lock(rank);
        with_barrier = sleep_with_barrier(rank);
    }
    const Attaching attaching(rank);
    memory::SegmentEntry *entry = nullptr;
    const sennit_status status = reach(rank, address, &entry);
    if (status != SENNIT_OK) return status;
    const auto &head = *reinterpret_cast<const QueueHead *>(entry->base);
    ProducerRing *rings = rings_of(entry->base);
    const std::uint32_t number = claim_ring(rank, rings, head.rings);
    if (number == UINT32_MAX)
        return fail_peer(SENNIT_ERR_NOMEM, address.gptr.rank, "",
                         "the queue of rank %d already has %u producer%s", address.gptr.rank,
                         head.rings, plural(head.rings));
    made->ring = &rings[number];
    made->places = places_of(entry->base, number);
    made->taker = address.gptr.rank;
    made->control = control_of(rank, made->taker);
    made->rings_lightly = with_barrier && head.sleeps_with_barrier != 0;
    made->live = entry->live;
    // relaxed: the entry was just found.
    made->live_value = entry->live_value.load(std::memory_order_relaxed);
    made->item_bytes = head.item_bytes;
    made->stride = head.stride;
    made->capacity = head.capacity;
    // SYNC queue-put: pairs with the release in push_at_once(), of the last producer.
    made->put = made->ring->put.load(std::memory_order_acquire);
    // SYNC queue-taken: pairs with the releases in take(), of the taker.
    made->seen_taken = made->ring->taken.load(std::memory_order_acquire);
    made->place = made->put % made->capacity;
    return is_live(*made) ? SENNIT_OK : ended(rank, *made);
}

}  // namespace

sennit_status create(Rank &rank, const QueueArgs &args, sennit_queue *queue,
                     sennit_queue_address *address) {
    const ColdLock lock(rank);
    Queues *all = make_once(rank.queues);
    if (all == nullptr) return no_memory();
    free_ended(rank, *all);
    auto *made = new (std::nothrow) Queue;
    if (made == nullptr) return no_memory();
    made->views = static_cast<RingView *>(std::calloc(args.producers, sizeof *made->views));
    const sennit_status status =
        made->views == nullptr ? no_memory() : make_memory(rank, args, made);
    if (status != SENNIT_OK) {
        free_queue(made);
        return status;
    }
    if (!all->queues.put(made)) {
        free_memory(rank, *made);
        free_queue(made);
        return fail_no_place(all->queues.is_full(), all->queues.kMost, "queues");
    }
    queue->handle = made->handle;
    address->gptr = made->gptr;
    return SENNIT_OK;
}

sennit_status destroy(Rank &rank, Queue &queue) {
    const ColdLock lock(rank);
    Queues &all = *made_once(rank.queues);
    all.queues.remove(queue);
    memory::segment_end(rank.control->records[memory::index_of(queue.gptr.segment)]);
    // SYNC queue-attaching: pairs with the fence in Attaching(), of the attaching thread: that
    // thread sees that the queue has ended, or this one sees its word below.
    store_load_fence();
    for (std::uint32_t i = 0; i < queue.rings; ++i) {
        // relaxed: only the producer's number matters. The bell wakes a producer that waits for a
        // place; the producer then finds that the queue has ended.
        const std::uint32_t word = rings_of(queue.base)[i].producer.load(std::memory_order_relaxed);
        ControlBlock *control = word == 0 ? nullptr : control_of(rank, producer_in(word));
        if (control != nullptr) ring_doorbell(*control);
    }
    queue.next_ended = all.ended;
    all.ended = &queue;
    free_ended(rank, all);
    return SENNIT_OK;
}

sennit_status attach(Rank &rank, sennit_queue_address address, sennit_producer *producer) {
    auto *made = new (std::nothrow) Producer;
    if (made == nullptr) return no_memory();
    sennit_status status = enter(rank, address, made);
    if (status == SENNIT_OK) {
        const ColdLock lock(rank);
        Queues *all = make_once(rank.queues);
        if (all == nullptr) {
            status = no_memory();
        } else if (!all->producers.put(made)) {
            status = fail_no_place(all->producers.is_full(), all->producers.kMost, "producers");
        } else {
            producer->handle = made->handle;
            return SENNIT_OK;
        }
    }
    give_up(rank, *made);
    delete made;
    return status;
}

void detach(Rank &rank, Producer &producer) {
    const ColdLock lock(rank);
    Queues &all = *made_once(rank.queues);
    all.producers.remove(producer);
    give_up(rank, producer);
    delete &producer;
    free_ended(rank, all);
}

void update_view(Rank &rank, std::uint32_t word, RingView &view) {
    view.word = word;
    view.control = word == 0 ? nullptr : control_of(rank, producer_in(word));
    // relaxed: set when the queue was made, and never cleared.
    view.rings_lightly = rank.sleeps_with_barrier.load(std::memory_order_relaxed) &&
                         (word & kSleepsWithBarrierBit) != 0;
}

sennit_status push(Rank &rank, Producer &producer, const void *item, const Deadline &deadline) {
    bool done = false;
    if (deadline.over()) {
        // One try, without the polling at the start of a wait.
        make_progress(rank);
        if (!is_live(producer)) return ended(rank, producer);
        if (push_at_once(producer, item, 1) != 0) return SENNIT_OK;
        note_fruitless_poll(rank);
        return fail_full(producer, "");
    }
    const sennit_status waited = wait_until(rank, deadline, producer.taker, [&] {
        if (!is_live(producer)) return true;
        done = push_at_once(producer, item, 1) != 0;
        return done;
    });
    if (done) return SENNIT_OK;
    if (waited == SENNIT_ERR_TIMEOUT) {
        const sennit_error late = *thread_error();
        return fail_full(producer, late.text);
    }
    return waited == SENNIT_OK ? ended(rank, producer) : waited;
}

sennit_status pop(Rank &rank, Queue &queue, void *item, const Deadline &deadline) {
    std::uint32_t ring = UINT32_MAX;
    if (deadline.over()) {
        // One try, without the polling at the start of a wait.
        make_progress(rank);
        ring = find_item(queue);
        if (ring == UINT32_MAX) {
            note_fruitless_poll(rank);
            return fail_empty(queue, "");
        }
        take(rank, queue, ring, item, 1);
        return SENNIT_OK;
    }
    const sennit_status waited =
        wait_until(rank, deadline, LostSearch{find_lost_producer, &queue}, [&] {
            ring = find_item(queue);
            return ring != UINT32_MAX;
        });
    if (waited == SENNIT_OK) take(rank, queue, ring, item, 1);
    if (waited != SENNIT_ERR_TIMEOUT) return waited;
    const sennit_error late = *thread_error();
    return fail_empty(queue, late.text);
}

sennit_status push_many(Rank &rank, Producer &producer, const void *items, std::size_t count,
                        const Deadline &deadline, std::size_t *pushed) {
    const auto *from = static_cast<const std::byte *>(items);
    const std::uint64_t most = items_per_notification(producer.item_bytes);
    std::size_t done = 0;
    sennit_status status = SENNIT_OK;
    while (done < count && status == SENNIT_OK) {
        const std::byte *const next = from + done * producer.item_bytes;
        const std::uint64_t moved =
            push_at_once(producer, next, std::min<std::uint64_t>(count - done, most));
        if (moved == 0) status = push(rank, producer, next, deadline);
        done += moved != 0 ? moved : status == SENNIT_OK ? 1 : 0;
    }
    *pushed = done;
    return status;
}

sennit_status pop_many(Rank &rank, Queue &queue, void *items, std::size_t most,
                       const Deadline &deadline, std::size_t *popped) {
    auto *to = static_cast<std::byte *>(items);
    std::size_t done = 0;
    while (done < most) {
        const std::uint32_t ring = find_item(queue);
        if (ring == UINT32_MAX) {
            if (done != 0) break;
            *popped = 0;
            const sennit_status status = pop(rank, queue, to, deadline);
            if (status != SENNIT_OK) return status;
            done = 1;
            continue;
        }
        const std::uint64_t there = queue.views[ring].seen_put - queue.views[ring].taken;
        const std::uint64_t count =
            std::min({there, items_per_notification(queue.item_bytes), std::uint64_t{most - done}});
        take(rank, queue, ring, to + done * queue.item_bytes, count);
        done += count;
    }
    *popped = done;
    return SENNIT_OK;
}

void queues_close(Rank &rank) {
    // relaxed: the rank is ended by one thread.
    Queues *all = rank.queues.exchange(nullptr, std::memory_order_relaxed);
    if (all == nullptr) return;
    all->queues.each(free_queue);
    while (all->ended != nullptr) {
        Queue *queue = all->ended;
        all->ended = queue->next_ended;
        free_queue(queue);
    }
    all->producers.each([](const Producer *producer) { delete producer; });
    delete all;
}

}  // namespace sennit::queue
