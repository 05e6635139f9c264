// SPDX-License-Identifier: BSD-3-Clause
// EventList: the completion data of peers' puts, from the read of a completion queue until
// progress() delivers it. TrialRoom: the memory into which peers put words at start to try a rail
// (trial.cpp). By these words the owner distinguishes the completion data of trials from events.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::transport::fabric {

constexpr std::uint64_t low_data(std::uint64_t data, unsigned bits) {
    return bits >= 64 ? data : data & ((std::uint64_t{1} << bits) - 1);
}

// Events received by any rail. The list grows; if there is no memory for that, an event is lost.
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
    // Returns false if there is no memory.
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

// The memory for the trial of one rail by the speaker of one node (trial.cpp). A try puts a word
// and its complement into two places. A try with completion data has places of its own, and
// the data of each put is the low part of its word. So the owner recognizes the data of each try,
// however late it arrives.
struct TrialRoom {
    struct Place {
        std::uint64_t put;
        std::uint64_t confirmed;  // copy of `put`, stored by the owner when its data arrives
    };
    static constexpr unsigned kTries = 8;  // with data; tries without data share one pair of places

    Place places[kTries + 1][2];

    // Confirms the put that had this completion data of `bits` bits. Returns false if there is
    // none.
    bool confirm(std::uint64_t data, unsigned bits);
    // Whether a put has arrived without its completion data.
    bool misses_data() const;
};

}  // namespace sennit::transport::fabric
