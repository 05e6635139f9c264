// SPDX-License-Identifier: BSD-3-Clause
// The collective exchange of regions, as api/ calls it. Owns nothing: a region is plain data.
#pragma once

#include <sennit/memory.h>

#include "team/team.hpp"

namespace sennit::team {

struct RegionOffer {
    sennit_region region;
    sennit_status refused = SENNIT_OK;  // what this rank found wrong with its arguments
};

// Needs a CollectiveCall. Every member gives a region and gets all, `regions` [size]; each member
// has tried that it reaches them, and all get OK or all an error. See memory.h.
sennit_status exchange_regions(Rank &rank, Team &team, const RegionOffer &offer,
                               sennit_region *regions);

}  // namespace sennit::team
