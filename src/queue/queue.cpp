// See queue.hpp.
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

std::uint64_t bytes_of(const QueueWish &wish, std::uint64_t stride) {
    const std::uint64_t lanes = wish.producers;
    if (wish.capacity > kMostBytes / stride / lanes) return UINT64_MAX;
    return sizeof(QueueHead) + sizeof(QueueLane) * lanes + stride * wish.capacity * lanes;
}

void free_queue(Queue *it) {
    std::free(it->views);
    delete it;
}

// The segment of a queue, filled. Needs the cold mutex.
sennit_status make_memory(Rank &rank, const QueueWish &wish, Queue *it) {
    it->item_bytes = wish.item_bytes;
    it->stride = memory::round_up(wish.item_bytes, 8);
    it->capacity = wish.capacity;
    it->lanes = wish.producers;
    memory::SegmentWish segment;
    segment.kind = SegmentKind::queue;
    segment.bytes = bytes_of(wish, it->stride);
    segment.alignment = kLineBytes;
    if (segment.bytes == UINT64_MAX)
        return fail(SENNIT_ERR_NOMEM, "%u times %zu items of %zu bytes are more than a queue holds",
                    wish.producers, wish.capacity, wish.item_bytes);
    SegmentRecord *record = nullptr;
    sennit_status status = memory::segment_create(rank, segment, &record);
    if (status != SENNIT_OK) return status;
    it->base = reinterpret_cast<std::byte *>(record->owner_address);
    auto &head = *reinterpret_cast<QueueHead *>(it->base);
    head.item_bytes = it->item_bytes;
    head.stride = it->stride;
    head.capacity = it->capacity;
    head.lanes = it->lanes;
    head.sleeps_with_barrier = sleep_with_barrier(rank) ? 1 : 0;
    head.magic = kQueueMagic;
    return op::attach_own(rank, record, &it->gptr);
}

void free_memory(Rank &rank, const Queue &it) {
    SegmentRecord &record = rank.control->records[memory::index_of(it.gptr.segment)];
    op::detach_segment(rank, rank.world_rank, it.gptr.segment);
    memory::segment_destroy(rank, &record);
}

// Where the queue at the address is, from here.
sennit_status reach(Rank &rank, sennit_queue_address address, memory::Entry **entry) {
    sennit_status status = op::resolve(rank, address.gptr, entry);
    if (status == SENNIT_OK) status = op::check_range(**entry, address.gptr, sizeof(QueueHead));
    if (status != SENNIT_OK) return status;
    const int peer = address.gptr.rank;
    if ((*entry)->base == nullptr || control_of(rank, peer) == nullptr)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, peer,
                         sennit_path_name(static_cast<sennit_path>((*entry)->path)),
                         "the queue of rank %d is not reached by load and store", peer);
    const auto &head = *reinterpret_cast<const QueueHead *>((*entry)->base + address.gptr.offset);
    if (address.gptr.offset != 0 || head.magic != kQueueMagic)
        return fail(SENNIT_ERR_ARG, "at the address is no queue");
    return SENNIT_OK;
}

// May the lane of this word serve another producer?
bool is_abandoned(Rank &rank, std::uint32_t word) {
    if (word == 0 || (word & kLeavingBit) != 0) return true;
    const int producer = producer_in(word);
    return producer != rank.world_rank && peer_gone(rank, producer) != Gone::no;
}

// The lane's word while this rank has it.
std::uint32_t word_of(const Rank &rank) {
    const auto number = static_cast<std::uint32_t>(rank.world_rank) + 1;
    // relaxed: set under the cold mutex, or by this thread before.
    const bool with_barrier = rank.sleeps_with_barrier.load(std::memory_order_relaxed);
    return with_barrier ? number | kSleepsWithBarrierBit : number;
}

// What the producer before has put in may still be there: the next one goes on behind it.
bool claim(Rank &rank, QueueLane &lane) {
    // SYNC queue-lane: pairs with the releases below and in give_up(), of the producer before; its
    // last count comes before.
    std::uint32_t word = lane.producer.load(std::memory_order_acquire);
    if (!is_abandoned(rank, word)) return false;
    const std::uint32_t own = word_of(rank);
    // SYNC queue-lane: as above, and pairs with the acquire of the next producer. relaxed on
    // failure: another one was faster.
    return lane.producer.compare_exchange_strong(word, own, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed);
}

bool is_empty(const QueueLane &lane) {
    // relaxed twice: an opinion on which lane to take; whoever takes it reads both again.
    return lane.put.load(std::memory_order_relaxed) == lane.taken.load(std::memory_order_relaxed);
}

// A lane for this rank: an empty one if there is, so that the new producer need not wait for what
// an earlier one has left. UINT32_MAX: none.
std::uint32_t claim_lane(Rank &rank, QueueLane *lanes, std::uint32_t count) {
    for (const bool wants_empty : {true, false})
        for (std::uint32_t i = 0; i < count; ++i)
            if ((!wants_empty || is_empty(lanes[i])) && claim(rank, lanes[i])) return i;
    return UINT32_MAX;
}

// Is a thread of some rank on its way into a queue, perhaps of this rank? Those of ranks that have
// ended are not.
bool is_somebody_attaching(Rank &rank) {
    // relaxed: constant while the rank is in use.
    const auto size = static_cast<int>(rank.size.load(std::memory_order_relaxed));
    for (int peer = 0; peer < size; ++peer) {
        const ControlBlock *control = control_of(rank, peer);
        // SYNC queue-attaching: pairs with the release in ~Attaching(); the claim of a lane comes
        // before.
        if (control == nullptr || control->header.attaching.load(std::memory_order_acquire) == 0)
            continue;
        if (peer == rank.world_rank || peer_gone(rank, peer) == Gone::no) return true;
    }
    return false;
}

// May a producer be in the memory of a queue that has ended? Who attaches is asked first: of one
// that attaches no more the lanes then say whether it is in.
bool is_held(Rank &rank, const Queue &it) {
    if (is_somebody_attaching(rank)) return true;
    QueueLane *lanes = lanes_of(it.base);
    for (std::uint32_t i = 0; i < it.lanes; ++i) {
        // SYNC queue-lane: pairs with the release in give_up(), of the producer; its last use of
        // the memory comes before.
        if (!is_abandoned(rank, lanes[i].producer.load(std::memory_order_acquire))) return true;
    }
    return false;
}

// The memory of queues that have ended goes where nobody is in it. Needs the cold mutex.
void free_ended(Rank &rank, Queues &all) {
    for (Queue **link = &all.ended; *link != nullptr;) {
        Queue *it = *link;
        if (is_held(rank, *it)) {
            link = &it->next_ended;
            continue;
        }
        *link = it->next_ended;
        free_memory(rank, *it);
        free_queue(it);
    }
}

// While it lives, no memory goes of a queue that this thread finds alive.
class Attaching {
  public:
    explicit Attaching(Rank &rank) : word_(rank.control->header.attaching) {
        // relaxed: the fence orders it.
        word_.fetch_add(1, std::memory_order_relaxed);
        // SYNC queue-attaching: pairs with the fence in destroy(), of the owner: it sees the word,
        // or this thread sees that the queue has ended.
        store_load_fence();
    }
    ~Attaching() {
        // SYNC queue-attaching: pairs with the acquire in is_somebody_attaching(), of the owner;
        // the claim of a lane comes before.
        word_.fetch_sub(1, std::memory_order_release);
    }
    Attaching(const Attaching &) = delete;
    Attaching &operator=(const Attaching &) = delete;

  private:
    std::atomic<std::uint32_t> &word_;
};

// The lane holds the memory no more, and serves the next producer. The taker may find that nobody
// is left to wait for. One that has left has freed its memory, whoever held a lane.
void give_up(Rank &rank, Producer &it) {
    if (it.lane == nullptr) return;
    if (peer_gone(rank, it.taker) == Gone::no) {
        // SYNC queue-lane: pairs with the acquires in claim(), of the next producer, and is_held(),
        // of the owner; the last count comes before, and all use of the memory.
        it.lane->producer.store(word_of(rank) | kLeavingBit, std::memory_order_release);
        ring_doorbell(*it.control);
    }
    it.lane = nullptr;
}

// Whoever could still put something in is gone: one of them, or -1.
int find_lost_producer(Rank &rank, const void *context) {
    const Queue &it = *static_cast<const Queue *>(context);
    const QueueLane *lanes = lanes_of(it.base);
    int lost = -1;
    bool is_used = false;
    for (std::uint32_t i = 0; i < it.lanes; ++i) {
        // relaxed: only who it is counts.
        const std::uint32_t word = lanes[i].producer.load(std::memory_order_relaxed);
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

bool is_live(const Producer &it) {
    // relaxed: only equality counts, as in memory::is_live().
    return it.live->load(std::memory_order_relaxed) == it.live_value;
}

// The producer stays one, of nothing.
sennit_status ended(Rank &rank, Producer &it) {
    give_up(rank, it);
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, it.taker, "", "the queue of rank %d has ended",
                     it.taker);
}

// Finds the queue and takes a lane of it.
sennit_status enter(Rank &rank, sennit_queue_address address, Producer *made) {
    // Memory, and the sleep, come before the queue is held.
    bool with_barrier = false;
    {
        const ColdLock lock(rank);
        with_barrier = sleep_with_barrier(rank);
    }
    const Attaching attaching(rank);
    memory::Entry *entry = nullptr;
    const sennit_status status = reach(rank, address, &entry);
    if (status != SENNIT_OK) return status;
    const auto &head = *reinterpret_cast<const QueueHead *>(entry->base);
    QueueLane *lanes = lanes_of(entry->base);
    const std::uint32_t number = claim_lane(rank, lanes, head.lanes);
    if (number == UINT32_MAX)
        return fail_peer(SENNIT_ERR_NOMEM, address.gptr.rank, "",
                         "the queue of rank %d has its %u producers", address.gptr.rank,
                         head.lanes);
    made->lane_number = number;
    made->lane = &lanes[number];
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
    // SYNC queue-put: pairs with the release in push_at_once(), of the producer before.
    made->put = made->lane->put.load(std::memory_order_acquire);
    // SYNC queue-taken: pairs with the releases in take(), of the owner.
    made->seen_taken = made->lane->taken.load(std::memory_order_acquire);
    made->place = made->put % made->capacity;
    return is_live(*made) ? SENNIT_OK : ended(rank, *made);
}

}  // namespace

sennit_status create(Rank &rank, const QueueWish &wish, sennit_queue *queue,
                     sennit_queue_address *address) {
    const ColdLock lock(rank);
    Queues *all = make_once(rank.queues);
    if (all == nullptr) return no_memory();
    free_ended(rank, *all);
    auto *made = new (std::nothrow) Queue;
    if (made == nullptr) return no_memory();
    made->views = static_cast<LaneView *>(std::calloc(wish.producers, sizeof *made->views));
    const sennit_status status =
        made->views == nullptr ? no_memory() : make_memory(rank, wish, made);
    if (status != SENNIT_OK) {
        free_queue(made);
        return status;
    }
    if (!all->queues.put(made)) {
        free_memory(rank, *made);
        free_queue(made);
        if (!all->queues.is_full()) return no_memory();
        return fail(SENNIT_ERR_NOMEM, "the rank has %u queues, which is the most",
                    all->queues.kMost);
    }
    queue->handle = made->handle;
    address->gptr = made->gptr;
    return SENNIT_OK;
}

sennit_status destroy(Rank &rank, Queue &it) {
    const ColdLock lock(rank);
    Queues &all = *made_once(rank.queues);
    all.queues.remove(it);
    memory::segment_end(rank.control->records[memory::index_of(it.gptr.segment)]);
    // SYNC queue-attaching: pairs with the fence in Attaching(), of who attaches: it sees that the
    // queue has ended, or this thread sees its word below.
    store_load_fence();
    for (std::uint32_t i = 0; i < it.lanes; ++i) {
        // relaxed: only who it is counts. A producer that waits for a place is woken by the bell,
        // and looks whether the queue lives.
        const std::uint32_t word = lanes_of(it.base)[i].producer.load(std::memory_order_relaxed);
        ControlBlock *control = word == 0 ? nullptr : control_of(rank, producer_in(word));
        if (control != nullptr) ring_doorbell(*control);
    }
    it.next_ended = all.ended;
    all.ended = &it;
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
            status =
                all->producers.is_full()
                    ? fail(SENNIT_ERR_NOMEM, "the rank is producer of %u queues, which is the most",
                           all->producers.kMost)
                    : no_memory();
        } else {
            producer->handle = made->handle;
            return SENNIT_OK;
        }
    }
    give_up(rank, *made);
    delete made;
    return status;
}

void detach(Rank &rank, Producer &it) {
    const ColdLock lock(rank);
    Queues &all = *made_once(rank.queues);
    all.producers.remove(it);
    give_up(rank, it);
    delete &it;
    free_ended(rank, all);
}

void look_at_producer(Rank &rank, std::uint32_t word, LaneView &view) {
    view.word = word;
    view.control = word == 0 ? nullptr : control_of(rank, producer_in(word));
    // relaxed: set when the queue was made, and never taken back.
    view.rings_lightly = rank.sleeps_with_barrier.load(std::memory_order_relaxed) &&
                         (word & kSleepsWithBarrierBit) != 0;
}

namespace {

// Both come behind what is known already, if anything is.
sennit_status is_full(const Producer &it, const char *before) {
    return fail_peer(SENNIT_ERR_TIMEOUT, it.taker, "",
                     "%s%sall %llu places of producer %#x in the queue of rank %d are taken",
                     before, before[0] == 0 ? "" : ": ",
                     static_cast<unsigned long long>(it.capacity), it.handle, it.taker);
}

sennit_status is_empty(const Queue &it, const char *before) {
    return fail(SENNIT_ERR_TIMEOUT, "%s%squeue %#x is empty", before, before[0] == 0 ? "" : ": ",
                it.handle);
}

}  // namespace

sennit_status push(Rank &rank, Producer &it, const void *item, const Deadline &deadline) {
    bool done = false;
    if (deadline.over()) {
        // One look, without the polling that a wait begins with.
        make_progress(rank);
        if (!is_live(it)) return ended(rank, it);
        if (push_at_once(it, item, 1) != 0) return SENNIT_OK;
        note_fruitless_poll(rank);
        return is_full(it, "");
    }
    const sennit_status waited = wait_until(rank, deadline, it.taker, [&] {
        if (!is_live(it)) return true;
        done = push_at_once(it, item, 1) != 0;
        return done;
    });
    if (done) return SENNIT_OK;
    if (waited == SENNIT_ERR_TIMEOUT) {
        const sennit_error late = *thread_error();
        return is_full(it, late.text);
    }
    return waited == SENNIT_OK ? ended(rank, it) : waited;
}

sennit_status pop(Rank &rank, Queue &it, void *item, const Deadline &deadline) {
    std::uint32_t lane = UINT32_MAX;
    if (deadline.over()) {
        // As in push().
        make_progress(rank);
        lane = find_item(it);
        if (lane == UINT32_MAX) {
            note_fruitless_poll(rank);
            return is_empty(it, "");
        }
        take(rank, it, lane, item, 1);
        return SENNIT_OK;
    }
    const sennit_status waited =
        wait_until(rank, deadline, LostSearch{find_lost_producer, &it}, [&] {
            lane = find_item(it);
            return lane != UINT32_MAX;
        });
    if (waited == SENNIT_OK) take(rank, it, lane, item, 1);
    if (waited != SENNIT_ERR_TIMEOUT) return waited;
    const sennit_error late = *thread_error();
    return is_empty(it, late.text);
}

sennit_status push_many(Rank &rank, Producer &it, const void *items, std::size_t count,
                        const Deadline &deadline, std::size_t *pushed) {
    const auto *from = static_cast<const std::byte *>(items);
    const std::uint64_t most = together(it.item_bytes);
    std::size_t done = 0;
    sennit_status status = SENNIT_OK;
    while (done < count && status == SENNIT_OK) {
        const std::byte *const next = from + done * it.item_bytes;
        const std::uint64_t moved =
            push_at_once(it, next, std::min<std::uint64_t>(count - done, most));
        if (moved == 0) status = push(rank, it, next, deadline);
        done += moved != 0 ? moved : status == SENNIT_OK ? 1 : 0;
    }
    *pushed = done;
    return status;
}

sennit_status pop_many(Rank &rank, Queue &it, void *items, std::size_t most,
                       const Deadline &deadline, std::size_t *popped) {
    auto *to = static_cast<std::byte *>(items);
    std::size_t done = 0;
    while (done < most) {
        const std::uint32_t lane = find_item(it);
        if (lane == UINT32_MAX) {
            if (done != 0) break;
            *popped = 0;
            const sennit_status status = pop(rank, it, to, deadline);
            if (status != SENNIT_OK) return status;
            done = 1;
            continue;
        }
        const std::uint64_t there = it.views[lane].seen_put - it.views[lane].taken;
        const std::uint64_t count =
            std::min({there, together(it.item_bytes), std::uint64_t{most - done}});
        take(rank, it, lane, to + done * it.item_bytes, count);
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
        Queue *it = all->ended;
        all->ended = it->next_ended;
        free_queue(it);
    }
    all->producers.each([](const Producer *it) { delete it; });
    delete all;
}

}  // namespace sennit::queue
