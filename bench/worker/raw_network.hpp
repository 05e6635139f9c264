// The raw limit between nodes: only the calls of libfabric that an operation needs, by the provider
// that Sennit also uses. In a build without libfabric the constructors throw.
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
    // atomics: the first provider whose fi_fetch_atomic works, which may differ from Sennit's.
    // sleeping: the target can sleep until data arrives. events: either rank puts to the other.
    enum class Use { transfers, atomics, sleeping, events };

    // Collective: rank 0 accesses `bytes` of memory of rank 1. Throws if libfabric or a provider is
    // missing.
    RawNetwork(const Job &job, std::size_t bytes, Use use = Use::transfers);
    // For events between this rank and `partner`, by the rail on which this rank has the address;
    // "": by the provider's default.
    RawNetwork(const Job &job, std::size_t bytes, int partner, const std::string &address);
    ~RawNetwork();
    RawNetwork(const RawNetwork &) = delete;
    RawNetwork &operator=(const RawNetwork &) = delete;

    const std::string &provider() const;

    // Called by rank 0; waits until the data is delivered (put) or received (get).
    void put(const void *from, std::size_t bytes) const;
    void get(void *to, std::size_t bytes) const;
    std::uint64_t add(std::uint64_t value) const;
    std::uint64_t compare_swap(std::uint64_t expected, std::uint64_t desired) const;

    // Called by rank 0: kWindow puts from contiguous memory to addresses `stride` bytes apart, all
    // under way at the same time, and the wait for them.
    static constexpr std::size_t kWindow = 64;
    void put_window(const std::byte *from, std::size_t bytes, std::size_t stride) const;

    // Called by rank 1 while rank 0 does one of these: software providers need the target to poll.
    void look() const;
    void sleep(int timeout_ms) const;

    // Called by either rank: a put with completion data, after which `from` may be reused; and the
    // wait for the other rank's put, whose data is then in memory(). Each stream has its own area
    // of the size of a put there.
    void put_event(const void *from, std::size_t bytes, unsigned stream = 0) const;
    void await_event(unsigned stream = 0) const;
    const std::byte *memory() const;

    // Several streams of such puts. start_event() does not wait: `from` may be reused when an
    // answer has arrived. take_event() polls, and returns whether a put of the stream has arrived.
    static constexpr unsigned kStreams = 4;
    void start_event(unsigned stream, const void *from, std::size_t bytes) const;
    bool take_event(unsigned stream) const;
    // Waits until all puts of this rank, `count` in total, are sent.
    void finish_events(std::size_t count) const;

    // A barrier of the two ranks: each puts a word to the other. The memory has at least 8 bytes.
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
                // SYNC bench-flag: pairs with the release in post_flag(); no other data depends on
                // it.
                const auto goes_on = [&] {
                    return Flag(*over).load(std::memory_order_acquire) < number;
                };
                serve(*network, goes_on);
                return kNotTimed;
            },
            provider};
}

// The same with a target that polls all the time.
template <class Operation>
Subject raw_by_network(const Job &job, std::shared_ptr<RawNetwork> network, Operation operation) {
    return raw_by_network(job, std::move(network), std::move(operation),
                          [](const RawNetwork &rail, const auto &goes_on) {
                              while (goes_on())
                                  rail.look();
                          });
}

}  // namespace sennit::bench
