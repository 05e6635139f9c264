// Private memory of a rank for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit::bench {

// Touched memory at the beginning of a cache line, half a page away from the page offset of the
// shared buffers. If two buffers had the same page offset, their lines might evict each other from
// the first-level cache, depending on the addresses of the run.
class PrivateBuffer {
  public:
    PrivateBuffer(std::uint64_t bytes, int fill)
        : m_pages(static_cast<std::byte *>(std::aligned_alloc(kPage, rounded(bytes)))) {
        if (m_pages == nullptr) {
            throw std::bad_alloc();
        }
        std::memset(m_pages, fill, rounded(bytes));
    }
    ~PrivateBuffer() { std::free(m_pages); }
    PrivateBuffer(const PrivateBuffer &) = delete;
    PrivateBuffer &operator=(const PrivateBuffer &) = delete;

    std::byte *data() const { return m_pages + kPage / 2; }

  private:
    static constexpr std::size_t kPage = 4096;
    static std::size_t rounded(std::uint64_t bytes) {
        return (static_cast<std::size_t>(bytes) + kPage / 2 + kPage - 1) / kPage * kPage;
    }

    std::byte *m_pages;
};

}  // namespace sennit::bench
