// Collective calls: random programs against the oracle, and what random programs do not meet.
#include "collective_program.hpp"

#include <cmath>
#include <thread>

using namespace conformance;

namespace {

Members world_of(const Ranks &it) {
    return {SENNIT_TEAM_WORLD, it.rank, it.size};
}

}  // namespace

// Broken by anything that brings the wrong bytes to the wrong place, or combines them in another
// order.
RANK_TEST(collective, programs_do_what_the_sequential_oracle_says, kAnything) {
    for (int i = 0; i < (it.quick ? 2 : 6); ++i) {
        it.at("a program of small calls");
        run_collectives(it, world_of(it), it.quick ? 25 : 100, 2000);
    }
    it.at("a program of large calls");
    run_collectives(it, world_of(it), it.quick ? 8 : 40, it.load_store ? 150000 : 40000);
}
