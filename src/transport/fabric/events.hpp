// SPDX-License-Identifier: BSD-3-Clause
// The completion data of peers' puts, between whoever reads it from a rail and progress(), which
// hands it to the rank. And the room for trials, in which data of the trials is told from theirs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::transport::fabric {

constexpr std::uint64_t low_data(std::uint64_t data, unsigned bits) {
    return bits >= 64 ? data : data & ((std::uint64_t{1} << bits) - 1);
}

// Events that have come by some rail. It grows; where there is no memory for that they are lost.
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

// Where the speaker of one node puts on trial by one rail: two places for each try, for a word and
// its complement. With both comes the low part of what is put, as completion data. A try never has
// the places of another one, so the owner knows the data of each, however late it comes.
struct TrialRoom {
    struct Place {
        std::uint64_t put;
        std::uint64_t told;  // the same, by its owner, when the completion data has come
    };
    static constexpr unsigned kTries = 8;  // with data; one more place is for those without

    Place places[kTries + 1][2];

    // Data of `bits` bits has come. Is it of a try whose data had not come? Then it has now.
    bool tell(std::uint64_t data, unsigned bits);
    // Of what is there, is the data missing?
    bool misses_data() const;
};

}  // namespace sennit::transport::fabric
