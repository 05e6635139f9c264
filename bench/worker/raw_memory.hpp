// Memory that all ranks of the job map, made without Sennit and without an MPI. Used by the raw-*
// subjects, and for data that the ranks exchange about the measurement. Every rank owns one piece,
// a memfd that the others open through /proc; nothing named is left behind. Collective: all ranks
// construct and destroy it. Sennit is used once, to exchange the places of the memfds.
#pragma once

#include <cstddef>
#include <vector>

namespace sennit::bench {

class RawMemory {
  public:
    // `bytes` per rank, touched by its owner.
    RawMemory(int rank, int size, std::size_t bytes);
    ~RawMemory();
    RawMemory(const RawMemory &) = delete;
    RawMemory &operator=(const RawMemory &) = delete;

    std::byte *piece(int rank) const { return m_pieces[static_cast<std::size_t>(rank)]; }

  private:
    std::size_t m_bytes;
    std::vector<std::byte *> m_pieces;
};

}  // namespace sennit::bench
