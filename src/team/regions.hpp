// SPDX-License-Identifier: BSD-3-Clause
// The collective exchange of regions, for api/. Owns nothing: a region is plain data.
#pragma once

#include <sennit/memory.h>

#include "team/team.hpp"

namespace sennit::team {

struct RegionOffer {
    sennit_region region;
    sennit_status refused = SENNIT_OK;  // the error of this rank's arguments
};

// Needs a CollectiveCall. Every member gives a region and gets the regions of all members,
// `regions` [size]. Each member tests that it reaches all of them. If one member does not, all
// members get an error. include/sennit/memory.h has the contract.
sennit_status exchange_regions(Rank &rank, Team &team, const RegionOffer &offer,
                               sennit_region *regions);

}  // namespace sennit::team
