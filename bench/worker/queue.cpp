// A stream of items from all other ranks to rank 0, with back-pressure. By hand: a ring in shared
// memory for each producer. Both counts of a ring are on separate lines, and each side caches the
// other's count. The taker polls the rings in turn.
#include <sennit/sennit.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/private_buffer.hpp"
#include "worker/stream.hpp"

namespace sennit::bench {

namespace {

// One producer's ring in raw memory of the taker. Counts are never reset.
struct Ring {
    std::uint64_t *put;    // written by the producer
    std::uint64_t *taken;  // written by the taker
    std::byte *places;
    std::size_t capacity;  // a power of two

    std::byte *place(std::uint64_t number, std::size_t bytes) const {
        return places + (number & (capacity - 1)) * bytes;
    }
};

// Places of one producer, in a few MiB at most. A power of two.
std::size_t ring_capacity(std::uint64_t bytes) {
    constexpr std::uint64_t kPlacesBytes = std::uint64_t{4} << 20;
    constexpr std::uint64_t kLeast = 4;
    constexpr std::uint64_t kMost = 1024;
    return std::bit_floor(std::clamp(kPlacesBytes / bytes, kLeast, kMost));
}

std::size_t ring_bytes(std::uint64_t bytes) {
    return 2 * kLineBytes + whole_lines(ring_capacity(bytes) * bytes);
}

// The interface of the ring: copies from and to private memory, like a queue; or the fastest one,
// in which items are written and read in their places.
enum class Access { copied, in_place };

Ring ring_of(const Job &job, const Stream &stream, Access access, int producer) {
    // Each kind has its own rings, without items of other subjects.
    const int number = producer - 1 + (access == Access::copied ? 0 : stream.producers);
    std::byte *const base = job.raw_payload(Stream::kTaker) +
                            static_cast<std::size_t>(number) * ring_bytes(stream.bytes);
    return {reinterpret_cast<std::uint64_t *>(base),
            reinterpret_cast<std::uint64_t *>(base + kLineBytes), base + 2 * kLineBytes,
            ring_capacity(stream.bytes)};
}

inline void pause_or_yield(bool yields) {
    if (yields)
        sched_yield();
    else
        cpu_pause();
}

// The state of one side of a ring.
struct RingSide {
    Ring ring;
    std::uint64_t own = 0;    // its own count
    std::uint64_t other = 0;  // the other's count, as read last
};

// A size that the compiler knows, like that of a program's own type of item; 0: not known.
template <std::size_t kBytes>
inline void copy_item(std::byte *to, const std::byte *from, std::size_t bytes) {
    std::memcpy(to, from, kBytes == 0 ? bytes : kBytes);
}

// The next place, once it is free.
inline std::byte *wait_for_place(RingSide &side, std::size_t bytes, bool yields) {
    while (side.own - side.other == side.ring.capacity) {
        // SYNC bench-ring-taken: pairs with the release in give_place(); the place was read before.
        side.other = Flag(*side.ring.taken).load(std::memory_order_acquire);
        if (side.own - side.other == side.ring.capacity) pause_or_yield(yields);
    }
    return side.ring.place(side.own, bytes);
}

inline void show_item(RingSide &side) {
    // SYNC bench-ring-put: pairs with the acquire in wait_for_item(); item before count.
    Flag(*side.ring.put).store(++side.own, std::memory_order_release);
}

// The next ring with an item, from `next` on.
inline RingSide &wait_for_item(std::vector<RingSide> &sides, std::size_t &next, bool yields) {
    for (;;) {
        for (std::size_t left = sides.size(); left > 0; --left) {
            RingSide &side = sides[next];
            next = next + 1 == sides.size() ? 0 : next + 1;
            if (side.own != side.other) return side;
            // SYNC bench-ring-put: pairs with the release in show_item(); the item is visible.
            side.other = Flag(*side.ring.put).load(std::memory_order_acquire);
            if (side.own != side.other) return side;
        }
        pause_or_yield(yields);
    }
}

inline void give_place(RingSide &side) {
    // SYNC bench-ring-taken: pairs with the acquire in wait_for_place(); the item was read before.
    Flag(*side.ring.taken).store(++side.own, std::memory_order_release);
}

template <std::size_t kBytes, Access kAccess>
Subject by_ring(std::string name, const Job &job, const Stream &stream) {
    std::vector<RingSide> sides;
    for (int producer = 1; producer <= stream.producers; ++producer)
        if (stream.takes || producer == stream.self)
            sides.push_back({ring_of(job, stream, kAccess, producer)});
    for (const RingSide &side : sides) {
        // Clear the counts of the previous size. All ranks do this before a barrier.
        *side.ring.put = 0;
        *side.ring.taken = 0;
    }
    return {std::move(name), [=, numbers = ItemNumbers(stream), sides = std::move(sides),
                              next = std::size_t{0}](std::size_t operations) mutable {
                const std::size_t bytes = kBytes == 0 ? stream.bytes : kBytes;
                const auto put = [&](std::size_t count) {
                    RingSide &side = sides.front();
                    for (; count > 0; --count) {
                        if constexpr (kAccess == Access::copied) numbers.produce(stream.item);
                        std::byte *const place = wait_for_place(side, bytes, stream.yields);
                        if constexpr (kAccess == Access::copied)
                            copy_item<kBytes>(place, stream.item, bytes);
                        else
                            numbers.produce(place);
                        show_item(side);
                    }
                };
                const auto take = [&](std::size_t count) {
                    for (; count > 0; --count) {
                        RingSide &side = wait_for_item(sides, next, stream.yields);
                        const std::byte *const place = side.ring.place(side.own, bytes);
                        if constexpr (kAccess == Access::copied)
                            copy_item<kBytes>(stream.item, place, bytes);
                        else
                            numbers.consume(place);
                        give_place(side);
                        if constexpr (kAccess == Access::copied) numbers.consume(stream.item);
                    }
                };
                return time_stream(stream, numbers, operations, put, take);
            }};
}

template <Access kAccess>
Subject by_ring(std::string name, const Job &job, const Stream &stream) {
    switch (stream.bytes) {
        case 8:
            return by_ring<8, kAccess>(std::move(name), job, stream);
        case 64:
            return by_ring<64, kAccess>(std::move(name), job, stream);
        default:
            return by_ring<0, kAccess>(std::move(name), job, stream);
    }
}

// The queue of rank 0, and its producers, for the life of the subject. Collective.
class Queue {
  public:
    Queue(const Job &job, const Stream &stream) : m_takes(stream.takes) {
        sennit_queue_address address{SENNIT_GPTR_NULL};
        if (m_takes)
            check(sennit_queue_create(stream.bytes, stream.capacity,
                                      static_cast<unsigned>(stream.producers), &m_queue, &address),
                  "sennit_queue_create");
        std::vector<sennit_queue_address> all(static_cast<std::size_t>(job.size()));
        check(sennit_allgather(SENNIT_TEAM_WORLD, &address, all.data(), sizeof address,
                               SENNIT_FOREVER),
              "sennit_allgather");
        if (!m_takes)
            check(sennit_queue_attach(all[Stream::kTaker], &m_producer), "sennit_queue_attach");
        job.barrier();
    }
    ~Queue() {
        if (!m_takes) (void)sennit_queue_detach(m_producer);
        (void)sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
        if (m_takes) (void)sennit_queue_destroy(m_queue);
    }
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    sennit_queue queue() const { return m_queue; }
    sennit_producer producer() const { return m_producer; }

  private:
    bool m_takes;
    sennit_queue m_queue = SENNIT_QUEUE_NULL;
    sennit_producer m_producer = SENNIT_PRODUCER_NULL;
};

Subject by_queue(const Stream &stream, std::shared_ptr<Queue> queue) {
    return {"sennit-queue", [=, numbers = ItemNumbers(stream)](std::size_t operations) mutable {
                // Collects the statuses: OK only if all are.
                unsigned statuses = SENNIT_OK;
                const auto put = [&](std::size_t count) {
                    const sennit_producer producer = queue->producer();
                    for (; count > 0; --count) {
                        numbers.produce(stream.item);
                        statuses |= sennit_queue_push(producer, stream.item, SENNIT_FOREVER);
                    }
                };
                const auto take = [&](std::size_t count) {
                    const sennit_queue from = queue->queue();
                    for (; count > 0; --count) {
                        statuses |= sennit_queue_pop(from, stream.item, SENNIT_FOREVER);
                        numbers.consume(stream.item);
                    }
                };
                const Interval elapsed = time_stream(stream, numbers, operations, put, take);
                if (statuses != SENNIT_OK)
                    throw std::runtime_error("a call on a queue was refused");
                return elapsed;
            }};
}

// Many items in each call, as in a program that makes items in blocks. The items are also
// contiguous at the taker.
Subject by_queue_of_many(const Stream &stream, std::shared_ptr<Queue> queue) {
    constexpr std::size_t kMany = 64;
    auto block = std::make_shared<std::vector<std::byte>>(kMany * stream.bytes);
    return {"sennit-queue-many",
            [=, numbers = ItemNumbers(stream)](std::size_t operations) mutable {
                unsigned statuses = SENNIT_OK;
                std::byte *const items = block->data();
                const auto put = [&](std::size_t count) {
                    for (std::size_t some = 0; count > 0; count -= some) {
                        some = std::min(count, kMany);
                        for (std::size_t i = 0; i < some; ++i)
                            numbers.produce(items + i * stream.bytes);
                        std::size_t pushed = 0;
                        statuses |= sennit_queue_push_many(queue->producer(), items, some,
                                                           SENNIT_FOREVER, &pushed);
                    }
                };
                const auto take = [&](std::size_t count) {
                    for (std::size_t some = 0; count > 0; count -= some) {
                        statuses |= sennit_queue_pop_many(
                            queue->queue(), items, std::min(count, kMany), SENNIT_FOREVER, &some);
                        for (std::size_t i = 0; i < some; ++i)
                            numbers.consume(items + i * stream.bytes);
                    }
                };
                const Interval elapsed = time_stream(stream, numbers, operations, put, take);
                if (statuses != SENNIT_OK)
                    throw std::runtime_error("a call on a queue was refused");
                return elapsed;
            }};
}

void run_size(const Run &run, std::uint64_t bytes, std::byte *item) {
    const Job &job = run.job;
    const Stream stream{job.rank(),
                        job.size() - 1,
                        job.rank() == Stream::kTaker,
                        job.is_oversubscribed(),
                        bytes,
                        ring_capacity(bytes),
                        item};
    Case what{"queue", bytes, static_cast<double>(stream.producers), {}};
    what.subjects.push_back(by_ring<Access::copied>("raw-ring", job, stream));
    what.subjects.push_back(by_ring<Access::in_place>("raw-ring-in-place", job, stream));
    what.subjects.push_back(by_queue(stream, std::make_shared<Queue>(job, stream)));
    what.subjects.push_back(by_queue_of_many(stream, std::make_shared<Queue>(job, stream)));
    for (Subject &subject : run.library.queue(job, stream))
        what.subjects.push_back(std::move(subject));
    job.barrier();
    Limits limits = run.limits;
    // Longer than the time to fill all places, so that a steady stream is measured.
    limits.batch_ns = std::max(limits.batch_ns, 1e6);
    measure_in_turn(job, what, limits);
    job.barrier();
}

}  // namespace

std::size_t queue_payload_bytes(std::uint64_t item_bytes, int ranks) {
    return 2 * ring_bytes(item_bytes) * static_cast<std::size_t>(ranks - 1);
}

void run_queue(const Run &run) {
    if (run.job.size() < 2) throw std::runtime_error("a queue needs a producer and a taker");
    const std::uint64_t most = *std::max_element(run.sizes.begin(), run.sizes.end());
    const PrivateBuffer items(most * Stream::kSlots, 1);
    for (const std::uint64_t bytes : run.sizes)
        run_size(run, bytes, items.data());
}

}  // namespace sennit::bench
