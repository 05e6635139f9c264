// SPDX-License-Identifier: BSD-3-Clause
// The views of one memory file in one process. Segments with adjacent ranges of the file get
// adjacent addresses, and the kernel then counts one mapping for all of them. By default it allows
// a process about 65000 mappings (vm.max_map_count). Without windows, 64 ranks with 1022 segments
// each would reach this limit.
//
// A window is a range of addresses for kWindowBytes of the file. It is reserved as a whole when its
// first segment is mapped. It is released as a whole when its last segment has gone and a newer
// window exists, or by close(). Until then no other memory gets an address in it. Large segments
// are mapped separately, and so are all segments if the address space is limited (ulimit -v).
//
// The owner of a memory file has one object for its own segments; the mapped transport has one for
// each peer. The caller makes sure that one thread at a time uses an object.
#pragma once

#include <sennit/error.h>

#include <cstddef>
#include <cstdint>

namespace sennit::memory {

class FileWindows {
  public:
    // Like file_map(), but in a window if the segment fits.
    sennit_status map(int file, std::uint64_t offset, std::uint64_t bytes, std::uint64_t alignment,
                      std::byte **address);
    // The same as file_unmap(), for addresses of map() or file_map().
    void unmap(std::byte *address, std::uint64_t bytes);
    // Ends all windows, with the views that are still in them. `is_reached`: others may still use
    // the addresses, so the addresses stay mapped.
    void close(bool is_reached = false);

  private:
    struct Window {
        Window *next;
        std::byte *base;
        std::uint64_t file_begin;
        std::uint32_t segments;  // mapped segments
    };
    Window *find(std::uint64_t file_begin);
    void give_back(Window **link);

    Window *first_ = nullptr;  // the newest
};

}  // namespace sennit::memory
