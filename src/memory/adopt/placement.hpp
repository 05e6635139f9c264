// SPDX-License-Identifier: BSD-3-Clause
// On machines with several NUMA nodes, finds the nodes of pages and lets the kernel allocate new
// pages on the same nodes. Does nothing on other machines. One object per move; its destructor
// restores the thread's memory policy. Not called while pages are protected.
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
    void (*save)(void *policy);  // the thread's policy, into kPolicyBytes bytes
    void (*restore)(const void *policy);
};
inline constexpr std::size_t kPolicyBytes = 256;
// Null: the calls of the kernel.
void placement_replace(const PlacementCalls *calls);

class Placement {
  public:
    Placement();
    ~Placement();
    Placement(const Placement &) = delete;
    Placement &operator=(const Placement &) = delete;

    // Finds the nodes of at most 512 pages of `page` bytes each.
    void find_nodes(const void *begin, std::uint64_t pages, std::uint64_t page);
    // The number of consecutive pages from `first` on, before `end`, that are on the same node.
    std::uint64_t alike(std::uint64_t first, std::uint64_t end) const;
    // From now on this thread's new pages are allocated on the node of that page.
    void prefer_node_of(std::uint64_t page);

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
