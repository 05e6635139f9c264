// SPDX-License-Identifier: BSD-3-Clause
// The tree of domains of this node: the parts of hwloc's topology that programs need to place
// ranks. hwloc is opened at run time to make the tree, then closed; the library is not linked to
// it.
#pragma once

#include <sennit/domain.h>

#include "base/fail.hpp"
#include "rank/control_block.hpp"
#include "rank/part.hpp"

namespace sennit::runtime {
struct Domains;
}
template <>
struct sennit::PartType<sennit::Part::domains> {
    using Type = sennit::runtime::Domains;
};

namespace sennit::runtime {

struct Domain {
    sennit_domain_kind kind;
    int os_number;
    int parent;
    int depth;
    int inside;
    ProcessorSet processors;
};

// The processors on which a rank of the node may run.
struct RankPlace {
    int world_rank;
    ProcessorSet processors;
};

// Constant once it is made.
struct Domains {
    int count = 0;
    Domain *all = nullptr;  // each domain before the domains inside it
    int rank_count = 0;
    RankPlace *ranks = nullptr;  // by world rank
};

// Whether every processor of `part` is in `whole`. False for an empty `part`, which means that its
// processors are unknown.
bool is_within(const ProcessorSet &part, const ProcessorSet &whole);
int count_of(const ProcessorSet &set);

// Fills `count` and `all`. Errors: UNSUPPORTED, NOMEM, OS.
sennit_status domains_load(Domains *domains);
void domains_free(Domains *domains);

}  // namespace sennit::runtime
