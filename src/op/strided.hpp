// Strided and indexed put and get as api/ calls them: one look-up, one check of bounds, and then
// the way that the path takes.
#pragma once

#include "op/layout.hpp"
#include "op/rma.hpp"

namespace sennit::op {

// `local` is only read for a put. Errors: those of op::transfer.
sennit_status transfer_layout(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                              const Layout &layout, const Completion &completion);

// As message_target() and start_by_message(), of the runs of a layout that is not empty.
sennit_status layout_target(Rank &rank, sennit_gptr remote, const Layout &layout, Target *target,
                            bool *by_message);
sennit_status start_layout_by_message(Rank &rank, Direction direction, sennit_gptr remote,
                                      void *local, const Layout &layout,
                                      const Completion &completion);

// Does what the layout touches lie in `bytes` bytes, where `place` is that of its named place?
bool lies_inside(const Hull &hull, std::uint64_t place, std::uint64_t bytes);

// True if the box is a plain one that load and store reach, and it is moved; else nothing is.
bool moved_at_once(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                   const sennit_box &box);

}  // namespace sennit::op
