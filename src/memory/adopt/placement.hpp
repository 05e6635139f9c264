// SPDX-License-Identifier: BSD-3-Clause
// On machines with more than one memory node: which node pages lie on, and that pages taken now
// come from the same. Costs nothing on others. One object for each move; the thread's own policy is
// as before when it ends. Not called while pages are held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::memory::adopt {

// What is asked of the kernel; a test replaces it.
struct PlacementCalls {
    unsigned (*nodes)();  // of the machine
    // The node of each page, or a negative number. False: not known.
    bool (*where)(std::size_t count, void *const *pages, int *nodes);
    void (*prefer)(int node);    // for what this thread takes from now on
    void (*save)(void *policy);  // kPolicyBytes, and back
    void (*restore)(const void *policy);
};
inline constexpr std::size_t kPolicyBytes = 256;
// Null: the kernel itself.
void placement_replace(const PlacementCalls *calls);

class Placement {
  public:
    Placement();
    ~Placement();
    Placement(const Placement &) = delete;
    Placement &operator=(const Placement &) = delete;

    // Looks where the pages lie, 512 at most, of which each is `page` bytes long.
    void look(const void *begin, std::uint64_t pages, std::uint64_t page);
    // How many of the pages from `first` on, up to `end`, lie on the node of the first.
    std::uint64_t alike(std::uint64_t first, std::uint64_t end) const;
    // Pages that are taken from now on come from where that page was.
    void follow(std::uint64_t page);

  private:
    static constexpr std::size_t kMostPages = 512;
    const PlacementCalls &calls_;
    bool matters_;
    bool known_ = false;
    bool is_changed_ = false;
    int nodes_[kMostPages];
    alignas(8) std::uint8_t policy_[kPolicyBytes];
};

}  // namespace sennit::memory::adopt
