// SPDX-License-Identifier: BSD-3-Clause
// On machines with several memory nodes: finds the nodes of pages, and has new pages allocated on
// the same nodes. Costs nothing on other machines. One object per move; it restores the thread's
// own policy at its end. Not called while pages are held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::memory::adopt {

// The kernel calls; a test replaces them.
struct PlacementCalls {
    unsigned (*nodes)();  // of the machine
    // The node of each page, or a negative number. False: not known.
    bool (*where)(std::size_t count, void *const *pages, int *nodes);
    void (*prefer)(int node);    // for pages that this thread allocates from now on
    void (*save)(void *policy);  // of the thread; kPolicyBytes
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

    // Finds the nodes of at most 512 pages of `page` bytes each.
    void look(const void *begin, std::uint64_t pages, std::uint64_t page);
    // The number of pages from `first` on, up to `end`, on the node of the first.
    std::uint64_t alike(std::uint64_t first, std::uint64_t end) const;
    // From now on this thread's new pages are allocated on the node of that page.
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
