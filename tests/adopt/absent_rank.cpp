// One rank of a library that was built without adoption. Broken by a part of the library that needs
// adoption, or a build without adoption that loses registered memory or gives no reason why the
// memory is copied.
#include <array>
#include <string>
#include <vector>

#include "../support/rank_checks.hpp"

using sennit::test::expect;
using sennit::test::require;

int main() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const int next = (sennit_rank() + 1) % sennit_size();
    std::vector<int> memory(5000, sennit_rank());
    const std::size_t bytes = memory.size() * sizeof(int);
    sennit_region mine = SENNIT_REGION_NULL;
    std::vector<sennit_region> all(static_cast<std::size_t>(sennit_size()));
    expect(sennit_register(memory.data(), bytes, 0, &mine), SENNIT_OK, "register");
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    expect(sennit_region_mechanism(mine, &mechanism), SENNIT_OK, "mechanism");
    require(mechanism == SENNIT_MECHANISM_CMA, "the kernel copies");
    std::array<char, 200> why{};
    expect(sennit_region_reason(mine, SENNIT_MECHANISM_ADOPT, why.data(), why.size()), SENNIT_OK,
           "reason");
    require(std::string(why.data()).find("SENNIT_ADOPTION=OFF") != std::string::npos,
            std::string("the reason names the build: ") + why.data());
    const sennit_status attached = sennit_region_attach(SENNIT_TEAM_WORLD, mine, all.data());
    if (attached == SENNIT_ERR_UNSUPPORTED) return 77;  // the kernel does not copy here
    expect(attached, SENNIT_OK, "attach");
    int got = -1;
    expect(sennit_get(&got, all[static_cast<std::size_t>(next)].gptr, sizeof got), SENNIT_OK,
           "get");
    require(got == next, "a get returns the next rank's number");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
