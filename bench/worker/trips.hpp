// The trips of a ping-pong, the same for all subjects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "worker/job.hpp"
#include "worker/measure.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

// The partners of a ping-pong: ranks 2k and 2k+1.
struct Pair {
    int self;
    int partner;
    bool starts;  // the even rank sends first, and measures the time
    bool yields;

    explicit Pair(const Job &job)
        : self(job.rank()),
          partner(job.rank() ^ 1),
          starts((job.rank() & 1) == 0),
          yields(job.is_oversubscribed()) {}
};

// Private memory of this rank. `bytes` is 0 (only a flag) or a multiple of 8.
struct Messages {
    std::byte *outgoing;
    std::byte *incoming;
    std::uint64_t bytes;
    std::size_t stride =
        kCacheLineBytes;  // distance between the words that a ping-pong writes and reads

    void produce(std::uint64_t number) const { stamp(outgoing, bytes, number, stride); }
    bool consume_at(const std::byte *place, std::uint64_t number) const {
        return consume(place, bytes, number, stride);
    }
};

// send(number) sends the message of this number and returns whether that succeeded. receive(number)
// waits for the partner's message and returns whether its content is right. `number` continues over
// batches.
template <class Send, class Receive>
Interval time_trips(bool starts, std::uint64_t &number, std::size_t operations, Send send,
                    Receive receive) {
    bool all_right = true;
    const auto trip = [&] {
        ++number;
        if (starts) {
            all_right &= send(number);
            all_right &= receive(number);
        } else {
            all_right &= receive(number);
            all_right &= send(number);
        }
    };
    const Interval elapsed = time_batch(operations, trip);
    if (!all_right) {
        throw std::runtime_error("a message did not arrive as it was sent");
    }
    return starts ? elapsed : kNotTimed;
}

}  // namespace sennit::bench
