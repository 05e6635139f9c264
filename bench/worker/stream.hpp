// The common part of the subjects of `sennit bench queue`, which differ only in the transfer. Rank
// 0 takes items, and all other ranks put them. Every word of an item is written before the put and
// read after the take.
//
// Memory of one rank. `producers` is the number of ranks less one; the taker is rank 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "worker/job.hpp"
#include "worker/measure.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

struct Stream {
    static constexpr int kTaker = 0;

    int self;
    int producers;
    bool takes;
    bool yields;
    std::uint64_t bytes;   // of an item, a multiple of 8
    std::size_t capacity;  // items of one producer that may be in the stream
    std::byte *item;       // private memory of this rank, for kSlots items

    // The number of items that an MPI gets at once.
    static constexpr std::size_t kSlots = 64;
    std::byte *slot(std::size_t i) const { return item + i * bytes; }
};

// The numbers of the items of one subject, which continue over its batches. All words of an item
// have its producer and its number.
class ItemNumbers {
  public:
    explicit ItemNumbers(const Stream &stream)
        : m_bytes(stream.bytes),
          m_tag(static_cast<std::uint64_t>(stream.self) << kShift),
          m_last(static_cast<std::size_t>(stream.producers) + 1, 0) {}

    // The next item of this rank.
    void produce(std::byte *place) {
        stamp(place, m_bytes, m_tag | ++m_next, sizeof(std::uint64_t));
    }
    // Notes for check() whether the item is complete and the next one of its producer.
    void consume(const std::byte *place) {
        std::uint64_t word = 0;
        std::memcpy(&word, place, sizeof word);
        m_all_right &= bench::consume(place, m_bytes, word, sizeof word);
        const std::uint64_t producer = word >> kShift;
        if (producer >= m_last.size()) {
            m_all_right = false;
            return;
        }
        m_all_right &= (word & kNumber) == ++m_last[producer];
    }
    void check() const {
        if (!m_all_right) throw std::runtime_error("an item did not come out as it was put in");
    }

  private:
    static constexpr int kShift = 48;
    static constexpr std::uint64_t kNumber = (std::uint64_t{1} << kShift) - 1;

    std::uint64_t m_bytes;
    std::uint64_t m_tag;
    std::uint64_t m_next = 0;
    std::vector<std::uint64_t> m_last;
    bool m_all_right = true;
};

// `put(count)` puts this number of items, `take(count)` takes them. The reported time is from the
// first put to the last take, over all ranks.
template <class Put, class Take>
Interval time_stream(const Stream &stream, ItemNumbers &numbers, std::size_t operations, Put put,
                     Take take) {
    const auto move = [&](std::size_t count) {
        if (stream.takes)
            take(count * static_cast<std::size_t>(stream.producers));
        else
            put(count);
    };
    move(warm_up_operations(operations));
    const double start = now_ns();
    move(operations);
    const double end = now_ns();
    numbers.check();
    return {start, end};
}

}  // namespace sennit::bench
