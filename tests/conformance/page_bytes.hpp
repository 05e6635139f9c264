// Bytes whose pages hold nothing else. Ranks of one process can register them for the path mapped:
// a page that two ranks share can be moved into the memory of only one of them. Under the address
// sanitizer the buffers of all threads share pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace conformance {

template <class Element>
struct PageAllocator {
    using value_type = Element;
    static constexpr std::size_t kPage = 4096;

    Element *allocate(std::size_t count) {
        const std::size_t bytes = (count * sizeof(Element) + kPage - 1) / kPage * kPage;
        void *memory = std::aligned_alloc(kPage, bytes);
        if (memory == nullptr) throw std::bad_alloc();
        return static_cast<Element *>(memory);
    }
    void deallocate(Element *memory, std::size_t) { std::free(memory); }
    friend bool operator==(PageAllocator, PageAllocator) { return true; }
};

using PageBytes = std::vector<std::uint8_t, PageAllocator<std::uint8_t>>;

}  // namespace conformance
