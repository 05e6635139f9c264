// A peer's view of an adopted region: the pieces of the owner's memory file that its chain of
// records names, side by side. Called by the transport mapped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rank/control_block.hpp"

namespace sennit::memory::adopt {

struct RegionView {
    std::byte *pointer = nullptr;  // the first byte of the region
    std::uint64_t mapped_bytes = 0;
};

// `first` is a copy of the region's first record in `control`. Errors: NOT_REGISTERED (it ended
// meanwhile), NOMEM, OS.
sennit_status view_map(const ControlBlock &control, int file, const SegmentRecord &first,
                       RegionView *view);
void view_unmap(const RegionView &view);

}  // namespace sennit::memory::adopt
