// One rank of a job on a simulated machine with two NUMA domains: this program replaces the C
// library's getcpu(), and tells hwloc of two domains with a processor each. Four ranks; the
// argument names the scene:
//     known    even ranks are in domain 0, odd ones in domain 1
//     unknown  ranks 1 and 2 have unknown domains, the others are in domain 1
//     tree     the domains of hwloc and their ranks; rank r may only run on processor r % 2
// Broken by a NUMA domain treated as the node, or one rank's domain used for another.
#include <sched.h>
#include <sennit/sennit.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::fail;
using sennit::test::require;

constexpr int kSize = 4;
constexpr int kSkipped = 77;
int numa_here = 0;  // -1: the call fails

}  // namespace

// noexcept as in the C library's declaration.
extern "C" int getcpu(unsigned *cpu, unsigned *node) noexcept {
    if (numa_here < 0) {
        errno = ENOSYS;
        return -1;
    }
    if (cpu != nullptr) *cpu = 0;
    if (node != nullptr) *node = static_cast<unsigned>(numa_here);
    return 0;
}

namespace {

void expect_members(const char *what, sennit_team team, const std::vector<int> &wanted) {
    int size = 0;
    expect(sennit_team_size(team, &size), SENNIT_OK, "team_size");
    std::string found;
    std::string expected;
    for (int member = 0; member < size; ++member) {
        int world_rank = -1;
        expect(sennit_team_world_rank(team, member, &world_rank), SENNIT_OK, "team_world_rank");
        found += " " + std::to_string(world_rank);
    }
    for (const int rank : wanted)
        expected += " " + std::to_string(rank);
    require(found == expected, std::string(what) + " joins" + found + " and not" + expected);
}

// `domains`: the domain of each rank, -1 if unknown.
void check_splits(const std::vector<int> &domains) {
    const int self = sennit_rank();
    const std::vector<int> all{0, 1, 2, 3};
    const auto domain_of = [&](int rank) { return domains[static_cast<std::size_t>(rank)]; };
    std::vector<int> near;
    for (const int rank : all) {
        if (domain_of(rank) == domain_of(self)) near.push_back(rank);
        sennit_locality_level level{};
        expect(sennit_locality(rank, &level), SENNIT_OK, "locality");
        const bool same = domain_of(self) >= 0 && domain_of(rank) == domain_of(self);
        require(level == (rank == self ? SENNIT_LOCALITY_SELF
                          : same       ? SENNIT_LOCALITY_NUMA
                                       : SENNIT_LOCALITY_NODE),
                "the level of rank " + std::to_string(rank) + " is " + std::to_string(level));
        char text[256] = "";
        expect(sennit_locality_string(rank, text, sizeof text), SENNIT_OK, "locality_string");
        const std::string numa = domain_of(rank) < 0 ? "unknown" : std::to_string(domain_of(rank));
        require(std::string(text).find("; NUMA " + numa + ";") != std::string::npos, text);
    }
    const struct {
        const char *name;
        sennit_locality_level level;
        const std::vector<int> members;
    } splits[] = {{"the process", SENNIT_LOCALITY_PROCESS, {self}},
                  {"the NUMA domain", SENNIT_LOCALITY_NUMA, near},
                  {"the node", SENNIT_LOCALITY_NODE, all},
                  {"everybody", SENNIT_LOCALITY_NETWORK, all}};
    for (const auto &split : splits) {
        sennit_team team = SENNIT_TEAM_NULL;
        expect(sennit_team_split_locality(SENNIT_TEAM_WORLD, split.level, &team), SENNIT_OK,
               split.name);
        expect_members(split.name, team, split.members);
        expect(sennit_barrier(team, SENNIT_FOREVER), SENNIT_OK, "barrier");
        expect(sennit_team_destroy(team), SENNIT_OK, "team_destroy");
    }
    // The same from two parts of the world: ranks 3, 2, 1 in this order, and rank 0.
    sennit_team part = SENNIT_TEAM_NULL;
    sennit_team team = SENNIT_TEAM_NULL;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, self == 0 ? 1 : 0, -self, &part), SENNIT_OK,
           "split");
    expect(sennit_team_split_locality(part, SENNIT_LOCALITY_NUMA, &team), SENNIT_OK, "of a part");
    std::vector<int> members;
    for (auto rank = near.rbegin(); rank != near.rend(); ++rank)
        if ((*rank == 0) == (self == 0)) members.push_back(*rank);
    expect_members("the NUMA domain of a part", team, members);
    expect(sennit_team_destroy(team), SENNIT_OK, "team_destroy");
    expect(sennit_team_destroy(part), SENNIT_OK, "team_destroy");
}

void check_tree() {
    int count = 0;
    expect(sennit_domain_count(&count), SENNIT_OK, "domain_count");
    int domains = 0;
    for (int i = 0; i < count; ++i) {
        sennit_domain domain;
        expect(sennit_domain_get(i, &domain), SENNIT_OK, "domain_get");
        if (domain.kind == SENNIT_DOMAIN_MACHINE)
            require(domain.ranks == kSize && domain.processors == 2, "the machine has all ranks");
        if (domain.kind != SENNIT_DOMAIN_NUMA) continue;
        ++domains;
        int ranks[kSize] = {};
        std::size_t found = 0;
        expect(sennit_domain_ranks(i, kSize, ranks, &found), SENNIT_OK, "domain_ranks");
        require(domain.processors == 1, "a domain has one processor");
        require(domain.ranks == 2 && found == 2, "a domain has two ranks");
        require(ranks[0] == domain.os_number && ranks[1] == domain.os_number + 2,
                "the ranks of a domain run on its processor");
    }
    require(domains == 2, "there are two domains and not " + std::to_string(domains));
}

// hwloc reads these variables when the library asks for a tree.
bool make_up_topology(int rank) {
    (void)setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
    (void)setenv("HWLOC_THISSYSTEM", "1", 1);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(rank % 2, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

}  // namespace

int main(int count, char **words) {
    const std::string scene = count > 1 ? words[1] : "";
    const char *word = std::getenv("SENNIT_RANK");
    const int rank = word == nullptr ? 0 : std::atoi(word);
    const std::vector<int> domains =
        scene == "unknown" ? std::vector<int>{1, -1, -1, 1} : std::vector<int>{0, 1, 0, 1};
    if (rank >= 0 && rank < kSize) numa_here = domains[static_cast<std::size_t>(rank)];
    if (scene == "tree" && !make_up_topology(rank)) return kSkipped;
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    require(sennit_size() == kSize, "there are four ranks");
    if (scene == "tree") {
        check_tree();
    } else if (scene == "known" || scene == "unknown") {
        check_splits(domains);
    } else {
        fail("there is no scene " + scene);
    }
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
