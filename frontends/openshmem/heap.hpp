// Which parts of a run of bytes are in use: best fit among free parts, which are joined with their
// neighbours. It knows offsets and not memory, so nothing that a program overwrites can harm it,
// and PEs that make the same calls get the same offsets.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace shmem {

class Heap {
  public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    static constexpr std::size_t kAlignment = 64;  // at least, and every part is a multiple

    explicit Heap(std::size_t bytes);

    // `bytes` is not 0; `alignment` is a power of two. kNone: there is no room.
    std::size_t allocate(std::size_t bytes, std::size_t alignment);
    // False: nothing was allocated there.
    bool release(std::size_t offset);
    // Makes it as long where it is. False: it is as it was.
    bool resize(std::size_t offset, std::size_t bytes);
    // Of what was allocated there; kNone: nothing was.
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
