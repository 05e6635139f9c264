// The allocator of the symmetric heap. It uses the best fit among the free parts and joins adjacent
// free parts. It stores its tables outside the heap, so a program that writes beyond an allocation
// does not damage them. PEs that make the same calls get the same offsets.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace shmem {

class Heap {
  public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    static constexpr std::size_t kAlignment = 64;  // the least; also the unit of sizes

    explicit Heap(std::size_t bytes);

    // `bytes` is not 0; `alignment` is 0 or a power of two. Returns kNone if there is no room.
    std::size_t allocate(std::size_t bytes, std::size_t alignment);
    // Returns false if nothing is allocated at the offset.
    bool release(std::size_t offset);
    // Resizes an allocation in place. Returns false, and changes nothing, if that is impossible.
    bool resize(std::size_t offset, std::size_t bytes);
    // The size of the allocation at the offset; kNone if there is none.
    std::size_t bytes_at(std::size_t offset) const;
    std::size_t free_bytes() const;

  private:
    using Parts = std::map<std::size_t, std::size_t>;  // offset, bytes
    void add_free(std::size_t offset, std::size_t bytes);
    void take_free(Parts::iterator part);

    Parts free_;
    std::set<std::pair<std::size_t, std::size_t>> by_bytes_;  // bytes, offset of free parts
    Parts used_;
};

}  // namespace shmem
