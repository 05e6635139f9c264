// SPDX-License-Identifier: BSD-3-Clause
// Replaces memory/adopt/ in a build without adoption: no memory moves, and every adoption is
// refused with Refusal::not_built.
#include "base/fail.hpp"
#include "memory/adopt/adopt.hpp"

namespace sennit::memory::adopt {

Refused adopt(Rank &, const AdoptionArgs &, Adoption *) {
    return {Refusal::not_built, 0};
}

void unregister(const std::uint32_t *, std::uint32_t) {}
void detach(const Rank &) {}
void hold(std::uint64_t, std::uint64_t) {}
void let_go(std::uint64_t, std::uint64_t) {}
void watch_forks() {}

sennit_status view_map(const ControlBlock &, int, const SegmentRecord &, RegionView *) {
    return fail(SENNIT_ERR_UNSUPPORTED,
                "the owner has adopted the region, and this build of Sennit has no adoption");
}

}  // namespace sennit::memory::adopt
