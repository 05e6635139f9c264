// SPDX-License-Identifier: BSD-3-Clause
// Completion data of peers' puts: kept between its reading from a rail and progress(), which hands
// it to the rank. Also the room for trials, which separates their data from peers' data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::transport::fabric {

constexpr std::uint64_t low_data(std::uint64_t data, unsigned bits) {
    return bits >= 64 ? data : data & ((std::uint64_t{1} << bits) - 1);
}

// Events that have come by any rail. The list grows; without memory for that, events are lost.
class EventList {
  public:
    struct Row {
        std::uint64_t data;
        unsigned rail;
    };

    EventList() = default;
    ~EventList();
    EventList(const EventList &) = delete;
    EventList &operator=(const EventList &) = delete;

    bool empty() const { return count_ == 0; }
    // False: no memory.
    bool add(const Row &row);
    void remove_those_of(unsigned rail);
    void clear() { count_ = 0; }
    void swap(EventList &other);
    const Row *begin() const { return rows_; }
    const Row *end() const { return rows_ + count_; }

  private:
    Row *rows_ = nullptr;
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

// The memory for trial puts of the speaker of one node by one rail: two places per try, for a word
// and its complement. With both comes the low part of the word as completion data. No two tries
// share places, so the owner recognizes the data of each, however late it comes.
struct TrialRoom {
    struct Place {
        std::uint64_t put;
        std::uint64_t confirmed;  // the same, stored by its owner when the completion data arrives
    };
    static constexpr unsigned kTries = 8;  // tries with data; one more place is for tries without

    Place places[kTries + 1][2];

    // Data of `bits` bits has come: whether it is the missing data of a try, which is then marked.
    bool tell(std::uint64_t data, unsigned bits);
    // Whether a put that has arrived lacks its data.
    bool misses_data() const;
};

}  // namespace sennit::transport::fabric
