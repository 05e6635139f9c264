// SPDX-License-Identifier: BSD-3-Clause
#include "memory/adopt/placement.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "base/system_file.hpp"

namespace sennit::memory::adopt {
namespace {

// Values of numaif.h.
constexpr int kPreferred = 1;
constexpr unsigned long kNodeBits = 1024;
constexpr std::size_t kNodeWords = kNodeBits / 64;

struct Policy {
    int mode;
    std::uint64_t nodes[kNodeWords];
};
static_assert(sizeof(Policy) <= kPolicyBytes);

// Returns 1 if the machine has one node, else 2. The file has "0" for one node, else a list such as
// "0-1".
unsigned count_nodes() {
    char text[64];
    return read_system_file("/sys/devices/system/node/has_memory", text, sizeof text) &&
                   std::strpbrk(text, ",-") != nullptr
               ? 2
               : 1;
}

unsigned machine_nodes() {
    static const unsigned count = count_nodes();
    return count;
}

bool where_are(std::size_t count, void *const *pages, int *nodes) {
    return syscall(SYS_move_pages, 0, count, pages, nullptr, nodes, 0) == 0;
}

void prefer_node(int node) {
    if (node < 0 || static_cast<unsigned long>(node) >= kNodeBits) return;
    std::uint64_t nodes[kNodeWords] = {};
    nodes[node / 64] = std::uint64_t{1} << (node % 64);
    (void)syscall(SYS_set_mempolicy, kPreferred, nodes, kNodeBits + 1);
}

void save_policy(void *policy) {
    Policy saved{};
    (void)syscall(SYS_get_mempolicy, &saved.mode, saved.nodes, kNodeBits + 1, nullptr, 0);
    std::memcpy(policy, &saved, sizeof saved);
}

void restore_policy(const void *policy) {
    Policy saved;
    std::memcpy(&saved, policy, sizeof saved);
    (void)syscall(SYS_set_mempolicy, saved.mode, saved.nodes, kNodeBits + 1);
}

constexpr PlacementCalls kKernel{machine_nodes, where_are, prefer_node, save_policy,
                                 restore_policy};
std::atomic<const PlacementCalls *> chosen{&kKernel};

}  // namespace

void placement_replace(const PlacementCalls *calls) {
    // relaxed: set by a test before it registers anything.
    chosen.store(calls != nullptr ? calls : &kKernel, std::memory_order_relaxed);
}

// relaxed: set by a test before it registers anything.
Placement::Placement()
    : calls_(*chosen.load(std::memory_order_relaxed)), matters_(calls_.nodes() > 1) {}

Placement::~Placement() {
    if (is_changed_) calls_.restore(policy_);
}

void Placement::find_nodes(const void *begin, std::uint64_t pages, std::uint64_t page) {
    known_ = false;
    if (!matters_ || pages > kMostPages) return;
    void *places[kMostPages];
    for (std::uint64_t i = 0; i < pages; ++i)
        places[i] = const_cast<std::byte *>(static_cast<const std::byte *>(begin) + i * page);
    known_ = calls_.where(pages, places, nodes_);
}

std::uint64_t Placement::alike(std::uint64_t first, std::uint64_t end) const {
    if (!known_) return end - first;
    std::uint64_t stop = first + 1;
    while (stop < end && nodes_[stop] == nodes_[first])
        ++stop;
    return stop - first;
}

void Placement::prefer_node_of(std::uint64_t page) {
    if (!known_ || nodes_[page] < 0) return;
    if (!is_changed_) calls_.save(policy_);
    is_changed_ = true;
    calls_.prefer(nodes_[page]);
}

}  // namespace sennit::memory::adopt
