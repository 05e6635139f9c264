// SPDX-License-Identifier: BSD-3-Clause
// Locality of ranks: levels, a line of text, and the tree of domains.
#include <sennit/domain.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "api/call.hpp"
#include "op/peer_memory.hpp"
#include "runtime/domains.hpp"

namespace sennit::api {
namespace {

using runtime::Domains;

// The processors on which a rank of this node may run. Errors: as op::get_control.
sennit_status read_processors(Rank &rank, int peer, ProcessorSet *set) {
    const ControlBlock *control = control_of(rank, peer);
    if (control != nullptr) {
        *set = control->processors;
        return SENNIT_OK;
    }
    return op::get_control(rank, peer, offsetof(ControlBlock, processors), set, sizeof *set);
}

sennit_status place_ranks(Rank &rank, Domains *domains) {
    const int size = world_size(rank);
    domains->ranks = static_cast<runtime::RankPlace *>(
        std::calloc(static_cast<std::size_t>(size), sizeof(runtime::RankPlace)));
    if (domains->ranks == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for places of ranks");
    for (int peer = 0; peer < size; ++peer) {
        if (!rank.peers[peer].same_node) continue;
        runtime::RankPlace &place = domains->ranks[domains->rank_count];
        place.world_rank = peer;
        const bool reached =
            control_of(rank, peer) != nullptr || rank.peers[peer].transport != nullptr;
        if (!reached) continue;
        const sennit_status status = read_processors(rank, peer, &place.processors);
        if (status != SENNIT_OK) return status;
        ++domains->rank_count;
    }
    return SENNIT_OK;
}

// The rank's tree, read on first use.
sennit_status find_domains(Rank &rank, const Domains **found) {
    {
        const ColdLock lock(rank);
        *found = rank.domains;
    }
    if (*found != nullptr) return SENNIT_OK;
    auto *made = new (std::nothrow) Domains;
    if (made == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the domains");
    sennit_status status = runtime::domains_load(made);
    if (status == SENNIT_OK) status = place_ranks(rank, made);
    if (status != SENNIT_OK) {
        runtime::domains_free(made);
        return status;
    }
    Domains *spare = made;
    {
        const ColdLock lock(rank);
        if (rank.domains == nullptr) {
            rank.domains = made;
            spare = nullptr;
        }
        *found = rank.domains;
    }
    runtime::domains_free(spare);
    return SENNIT_OK;
}

// Runs a public function on a domain. `body` writes the output.
template <class Body>
sennit_status domain_call(const char *name, int index, bool has_output, Body body) {
    return call(name, [&](Rank &rank) {
        if (!has_output) return null_argument("the output");
        const Domains *domains = nullptr;
        const sennit_status status = find_domains(rank, &domains);
        if (status != SENNIT_OK) return status;
        if (index < 0 || index >= domains->count)
            return fail(SENNIT_ERR_RANGE, "domain %d is outside 0 to %d", index,
                        domains->count - 1);
        body(*domains);
        return SENNIT_OK;
    });
}

// Returns the number of ranks bound to a domain. Writes as many of their world ranks as fit into
// `ranks`.
std::size_t ranks_in(const Domains &domains, int index, std::size_t capacity, int *ranks) {
    std::size_t count = 0;
    for (int i = 0; i < domains.rank_count; ++i) {
        const runtime::RankPlace &place = domains.ranks[i];
        if (!runtime::is_within(place.processors, domains.all[index].processors)) continue;
        if (count < capacity) ranks[count] = place.world_rank;
        ++count;
    }
    return count;
}

sennit_locality_level level_of(const Rank &rank, int other) {
    const Peer &peer = rank.peers[other];
    const int numa = rank.peers[rank.world_rank].numa;
    return other == rank.world_rank              ? SENNIT_LOCALITY_SELF
           : peer.same_process                   ? SENNIT_LOCALITY_PROCESS
           : !peer.same_node                     ? SENNIT_LOCALITY_NETWORK
           : peer.numa >= 0 && peer.numa == numa ? SENNIT_LOCALITY_NUMA
                                                 : SENNIT_LOCALITY_NODE;
}

// The set as ranges, such as 0-3,8; cut to `bytes`.
void write_set(const ProcessorSet &set, char *text, std::size_t bytes) {
    const auto has = [&](unsigned cpu) { return (set.words[cpu / 64] >> (cpu % 64) & 1) != 0; };
    constexpr unsigned kMost = kCpuWords * 64;
    std::size_t used = 0;
    text[0] = '\0';
    for (unsigned cpu = 0; cpu < kMost && used < bytes; ++cpu) {
        if (!has(cpu)) continue;
        unsigned last = cpu;
        while (last + 1 < kMost && has(last + 1))
            ++last;
        const char *comma = used == 0 ? "" : ",";
        const int wrote =
            last == cpu ? std::snprintf(text + used, bytes - used, "%s%u", comma, cpu)
                        : std::snprintf(text + used, bytes - used, "%s%u-%u", comma, cpu, last);
        used += static_cast<std::size_t>(wrote);
        cpu = last;
    }
}

sennit_status write_locality(Rank &rank, int other, char *text, std::size_t bytes) {
    static constexpr const char *kWords[] = {"this rank", "same process", "same NUMA domain",
                                             "same node", "another node"};
    const Peer &peer = rank.peers[other];
    const sennit_locality_level level = level_of(rank, other);
    if (level == SENNIT_LOCALITY_NETWORK) {
        (void)std::snprintf(text, bytes, "%s", kWords[level]);
        return SENNIT_OK;
    }
    char numa[24] = "unknown";
    if (peer.numa >= 0) (void)std::snprintf(numa, sizeof numa, "%d", peer.numa);
    char processors[256] = "unknown";
    const bool reached = control_of(rank, other) != nullptr || peer.transport != nullptr;
    ProcessorSet set{};
    if (reached) {
        const sennit_status status = read_processors(rank, other, &set);
        if (status != SENNIT_OK) return status;
    }
    if (runtime::count_of(set) > 0) write_set(set, processors, sizeof processors);
    (void)std::snprintf(text, bytes, "%s; NUMA %s; process %d; processors %s", kWords[level], numa,
                        peer.process_id, processors);
    return SENNIT_OK;
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_locality(int rank, sennit_locality_level *level) {
    return call(__func__, [=](const Rank &self) {
        if (level == nullptr) return null_argument("level");
        const sennit_status status = check_world_rank(self, rank);
        if (status == SENNIT_OK) *level = level_of(self, rank);
        return status;
    });
}

sennit_status sennit_locality_string(int rank, char *text, size_t bytes) {
    return call(__func__, [=](Rank &self) {
        if (check_text(text, bytes) != SENNIT_OK) return SENNIT_ERR_ARG;
        const sennit_status status = check_world_rank(self, rank);
        return status == SENNIT_OK ? write_locality(self, rank, text, bytes) : status;
    });
}

sennit_status sennit_domain_count(int *count) {
    return domain_call(__func__, 0, count != nullptr,
                       [=](const Domains &domains) { *count = domains.count; });
}

sennit_status sennit_domain_get(int index, sennit_domain *domain) {
    return domain_call(__func__, index, domain != nullptr, [=](const Domains &domains) {
        const runtime::Domain &found = domains.all[index];
        domain->kind = found.kind;
        domain->os_number = found.os_number;
        domain->parent = found.parent;
        domain->depth = found.depth;
        domain->inside = found.inside;
        domain->processors = runtime::count_of(found.processors);
        domain->ranks = static_cast<int>(ranks_in(domains, index, 0, nullptr));
    });
}

sennit_status sennit_domain_ranks(int index, size_t capacity, int ranks[], size_t *count) {
    const bool has_output = count != nullptr && (capacity == 0 || ranks != nullptr);
    return domain_call(__func__, index, has_output, [=](const Domains &domains) {
        *count = ranks_in(domains, index, capacity, ranks);
    });
}

}  // extern "C"
