// Private memory of a rank for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit::bench {

// Touched from the start, on a cache line, and half a page away from where the shared buffers begin
// on theirs: where two buffers begin at the same place of a page, whether their lines get in each
// other's way in the first cache depends on the addresses that a run happens to get.
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
