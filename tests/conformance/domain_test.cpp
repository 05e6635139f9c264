// The tree of domains, and the line of text about a rank.
#include <sched.h>
#include <unistd.h>

#include <string>

#include "teams.hpp"

using namespace conformance;

namespace {

bool may_run_on(const cpu_set_t &set, int cpu) {
    return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &set);
}

std::vector<int> ranks_of(Ranks &test, int index, int expected) {
    std::vector<int> ranks(static_cast<std::size_t>(test.size), -7);
    std::size_t count = 77;
    test.ok(sennit_domain_ranks(index, ranks.size(), ranks.data(), &count));
    test.equal(count, static_cast<std::size_t>(expected));
    ranks.resize(count);
    test.ok(sennit_domain_ranks(index, 0, nullptr, &count));
    test.equal(count, ranks.size());
    return ranks;
}

}  // namespace

// Broken by a tree with parts outside their parents.
RANK_TEST(domain, domains_lie_within_each_other, kAnything) {
    int count = 0;
    test.ok(sennit_domain_count(&count));
    test.require(count >= 3, "a machine, a core, a processor");
    int processors = 0;
    for (int i = 0; i < count; ++i) {
        sennit_domain domain;
        test.ok(sennit_domain_get(i, &domain));
        test.require(domain.inside >= 0 && i + domain.inside < count,
                     "the domains inside are in the tree");
        if (domain.kind == SENNIT_DOMAIN_PROCESSOR) {
            ++processors;
            test.equal(domain.processors, 1);
            test.equal(domain.inside, 0);
        }
        if (i == 0) {
            test.equal(static_cast<int>(domain.kind), static_cast<int>(SENNIT_DOMAIN_MACHINE));
            test.equal(domain.parent, -1);
            test.equal(domain.depth, 0);
            test.equal(domain.inside, count - 1);
            continue;
        }
        sennit_domain around;
        test.require(domain.parent >= 0 && domain.parent < i, "the parent comes first");
        test.ok(sennit_domain_get(domain.parent, &around));
        test.equal(domain.depth, around.depth + 1);
        test.require(i + domain.inside <= domain.parent + around.inside, "the parent contains it");
        test.require(domain.processors <= around.processors, "no more processors than the parent");
        test.require(domain.ranks <= around.ranks, "no more ranks than the parent");
    }
    test.equal(processors, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
    sennit_domain nothing;
    std::memset(static_cast<void *>(&nothing), 0x6B, sizeof nothing);
    for (const int wrong : {-1, count})
        test.is(sennit_domain_get(wrong, &nothing), SENNIT_ERR_RANGE);
    test.equal(nothing.depth, 0x6B6B6B6B);
}

// Broken by ranks in the wrong domain: a rank is in each domain that has all its processors, and in
// no other.
RANK_TEST(domain, every_rank_is_in_the_domains_of_its_processors, kAnything) {
    int count = 0;
    test.ok(sennit_domain_count(&count));
    cpu_set_t mine;
    CPU_ZERO(&mine);
    test.equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (int i = 0; i < count; ++i) {
        sennit_domain domain;
        test.ok(sennit_domain_get(i, &domain));
        int here = 0;
        for (int inner = i; inner <= i + domain.inside; ++inner) {
            sennit_domain part;
            test.ok(sennit_domain_get(inner, &part));
            if (part.kind == SENNIT_DOMAIN_PROCESSOR && may_run_on(mine, part.os_number)) ++here;
        }
        const std::vector<int> ranks = ranks_of(test, i, domain.ranks);
        for (std::size_t place = 1; place < ranks.size(); ++place)
            test.require(ranks[place - 1] < ranks[place], "ranks ascend");
        const bool all_mine_are_here = here == CPU_COUNT(&mine);
        // A memory domain beside another one has no ranks.
        if (domain.inside == 0 && domain.kind == SENNIT_DOMAIN_NUMA) continue;
        test.equal(place_in(ranks, test.rank) != SENNIT_RANK_NONE, all_mine_are_here);
    }
}

// Broken by a text that is cut wrongly or describes another rank.
RANK_TEST(domain, the_text_says_where_a_rank_is, kAnything) {
    for (int rank = 0; rank < test.size; ++rank) {
        char text[512] = "";
        test.ok(sennit_locality_string(rank, text, sizeof text));
        const std::string line = text;
        const bool own = line.find("this rank") == 0;
        test.equal(own, rank == test.rank);
        sennit_locality_level level = SENNIT_LOCALITY_SELF;
        test.ok(sennit_locality(rank, &level));
        if (level == SENNIT_LOCALITY_NETWORK) continue;
        test.require(line.find("process ") != std::string::npos, "it names the process");
        test.require(line.find("processors ") != std::string::npos, "it names the processors");
        if (rank == test.rank)
            test.require(
                line.find("process " + std::to_string(getpid()) + ";") != std::string::npos,
                "it is this process");
        char shorter[8];
        std::memset(shorter, 0x6B, sizeof shorter);
        test.ok(sennit_locality_string(rank, shorter, 6));
        test.require(std::strlen(shorter) == 5 && line.compare(0, 5, shorter) == 0,
                     "the text is cut to 5 bytes");
        test.equal(static_cast<int>(shorter[6]), 0x6B);
    }
}
