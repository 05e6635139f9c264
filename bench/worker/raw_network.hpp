// The raw limit between nodes: the calls of libfabric that an operation needs, by the provider that
// Sennit takes too, and nothing else. Built without libfabric it says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "worker/job.hpp"
#include "worker/measure.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

class RawNetwork {
  public:
    // atomics: the first provider whose fi_fetch_atomic works, which need not be Sennit's.
    // sleeping: the target can sleep until something arrives. events: either rank puts to the
    // other.
    enum class Use { transfers, atomics, sleeping, events };

    // Collective: rank 0 works on `bytes` of memory of rank 1. Throws where libfabric or a provider
    // is missing.
    RawNetwork(const Job &job, std::size_t bytes, Use use = Use::transfers);
    // For events between this rank and `partner`, by the rail whose own end has the address; "":
    // by that which the provider takes.
    RawNetwork(const Job &job, std::size_t bytes, int partner, const std::string &address);
    ~RawNetwork();
    RawNetwork(const RawNetwork &) = delete;
    RawNetwork &operator=(const RawNetwork &) = delete;

    const std::string &provider() const;

    // By rank 0, which waits until the data is delivered, or is here.
    void put(const void *from, std::size_t bytes) const;
    void get(void *to, std::size_t bytes) const;
    std::uint64_t add(std::uint64_t value) const;
    std::uint64_t compare_swap(std::uint64_t expected, std::uint64_t desired) const;

    // By rank 0: as many puts, from places next to each other to places that are `stride` apart,
    // all under way at a time, and their end.
    static constexpr std::size_t kWindow = 64;
    void put_window(const std::byte *from, std::size_t bytes, std::size_t stride) const;

    // By rank 1 while rank 0 does one of these: providers in software want the target to look.
    void look() const;
    void sleep(int timeout_ms) const;

    // By either rank: a put with completion data, after which `from` may be used again, and the
    // wait for that of the other rank, which is then in memory(). Each stream has a place there, of
    // as many bytes as are put.
    void put_event(const void *from, std::size_t bytes, unsigned stream = 0) const;
    void await_event(unsigned stream = 0) const;
    const std::byte *memory() const;

    // Several streams of such puts. start_event() does not wait: `from` may be used again when an
    // answer has arrived. take_event() looks, and says whether one of the stream has arrived.
    static constexpr unsigned kStreams = 4;
    void start_event(unsigned stream, const void *from, std::size_t bytes) const;
    bool take_event(unsigned stream) const;
    // All that this rank has started, `count` in all, have left.
    void finish_events(std::size_t count) const;

    // A barrier of the two by a put of a word to each other. The memory is of 8 bytes or more.
    void barrier(std::uint64_t number) const;

  private:
    struct Objects;
    std::unique_ptr<Objects> m_objects;
};

// Rank 0 repeats `operation(network)`; rank 1 calls `serve(network)` until rank 0 sets a flag in
// shared memory at the end of the batch. Collective.
template <class Operation, class Serve>
Subject raw_by_network(const Job &job, std::shared_ptr<RawNetwork> network, Operation operation,
                       Serve serve) {
    constexpr int kOrigin = 0;
    constexpr int kTarget = 1;
    std::uint64_t *const over = job.raw_flag(kTarget, kOrigin);
    *over = 0;
    job.barrier();
    const std::string provider = network->provider();
    return {"raw-" + provider,
            [=, &job, number = std::uint64_t{0}](std::size_t operations) mutable {
                ++number;
                if (job.rank() == kOrigin) {
                    const Interval elapsed = time_batch(operations, [&] { operation(*network); });
                    post_flag(over, number);
                    return elapsed;
                }
                // SYNC bench-flag: pairs with the release in post_flag(); nothing hangs on it.
                const auto goes_on = [&] {
                    return Flag(*over).load(std::memory_order_acquire) < number;
                };
                serve(*network, goes_on);
                return kNotTimed;
            },
            provider};
}

// The same by a target that looks all the time.
template <class Operation>
Subject raw_by_network(const Job &job, std::shared_ptr<RawNetwork> network, Operation operation) {
    return raw_by_network(job, std::move(network), std::move(operation),
                          [](const RawNetwork &rail, const auto &goes_on) {
                              while (goes_on())
                                  rail.look();
                          });
}

}  // namespace sennit::bench
