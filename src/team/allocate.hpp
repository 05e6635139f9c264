// SPDX-License-Identifier: BSD-3-Clause
// Collective allocation and free over a team, for api/ and lock/.
#pragma once

#include "team/team.hpp"

namespace sennit::team {

// The following need a CollectiveCall. include/sennit/memory.h has their contracts.

struct AllocationArgs {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
    std::uint32_t flags = 0;
    sennit_status refused = SENNIT_OK;  // the error of this rank's arguments
};
sennit_status allocate(Rank &rank, Team &team, const AllocationArgs &args, sennit_gptr *gptr);
sennit_status free_segment(Rank &rank, Team &team, std::uint32_t id);
bool is_live(const Team &team, std::uint32_t id);

}  // namespace sennit::team
