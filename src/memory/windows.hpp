// SPDX-License-Identifier: BSD-3-Clause
// The views that one process has of one memory file. Segments whose ranges of the file are
// neighbours get neighbouring addresses, and the kernel then counts one mapping for all of them: it
// allows a process some 65000 (vm.max_map_count), and 64 ranks would reach that with 1022 segments.
//
// A window is a piece of address space that stands for kWindowBytes of the file. It is reserved as
// a whole when its first segment is mapped, and given back as a whole: when none of its
// segments is left and another window came after it, or by close(). So an address in it never
// belongs to anybody else. Large segments, and all where the address space is limited (ulimit
// -v), are mapped by themselves.
//
// Used under the rank's cold mutex: by the owner for its own segments, and by the transport mapped
// for those of each peer.
#pragma once

#include <sennit/error.h>

#include <cstddef>
#include <cstdint>

namespace sennit::memory {

class FileWindows {
  public:
    // As file_map().
    sennit_status map(int file, std::uint64_t offset, std::uint64_t bytes, std::uint64_t alignment,
                      std::byte **address);
    // As file_unmap(), of what map() or file_map() gave.
    void unmap(std::byte *address, std::uint64_t bytes);
    // Ends every view in a window, whether unmapped or not. `is_reached`: others may be at them by
    // their addresses, so these stay.
    void close(bool is_reached = false);

  private:
    struct Window {
        Window *next;
        std::byte *base;
        std::uint64_t file_begin;
        std::uint32_t segments;  // that are mapped
    };
    Window *find(std::uint64_t file_begin);
    void give_back(Window **link);

    Window *first_ = nullptr;  // the newest
};

}  // namespace sennit::memory
