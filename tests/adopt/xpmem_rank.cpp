// One rank of a job with a stub of XPMEM (xpmem_stub.cpp). The argument says how the stub behaves:
//     works      XPMEM is taken before adoption, and a peer loads and stores through its attachment
//     ordered    the same where SENNIT_REGISTER names only xpmem
//     no_device  the library exists without the module: adoption is taken, and the reason is kept
//     refused    rank 1 may attach nothing: the kernel copies for it, without a pointer, and the
//                reason says so; the other ranks have pointers
//     not_there  rank 1 has no such library: as for `refused`, and rank 1 adopts its own memory
// Broken by a library looked up under another name, functions called with other arguments, another
// order of preference, a failed attachment that fails the whole region, the owner's mechanism
// reported where this rank uses another one.
#include <sennit/sennit.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

constexpr std::size_t kBytes = 10000;

void barrier() {
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
}

void check_reason(sennit_region region, sennit_mechanism candidate, const std::string &why) {
    char text[300] = "";
    expect(sennit_region_reason(region, candidate, text, sizeof text), SENNIT_OK, "reason");
    require(text == why, std::string("the reason: ") + text);
}

void check_mechanism(sennit_region region, sennit_mechanism wanted, const std::string &why) {
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    expect(sennit_region_mechanism(region, &mechanism), SENNIT_OK, "mechanism");
    require(mechanism == wanted, std::string("reached by ") + sennit_mechanism_name(mechanism));
    check_reason(region, wanted, "taken");
    check_reason(region, SENNIT_MECHANISM_XPMEM, why);
    if (mechanism != SENNIT_MECHANISM_CMA) return;
    check_reason(region, SENNIT_MECHANISM_INPROC, "there are peers in other processes");
    check_reason(region, SENNIT_MECHANISM_ADOPT, "the owner offers the memory by XPMEM");
}

// The reason why this rank cannot attach; empty if it can.
std::string obstacle(const std::string &scene) {
    if (sennit_rank() != 1) return "";
    if (scene == "not_there") return "libxpmem is not installed here";
    if (scene != "refused") return "";
    return "this rank cannot attach what the owner offers by XPMEM: Permission denied";
}

void check_content(sennit_region theirs, int next) {
    std::vector<char> got(kBytes);
    expect(sennit_get(got.data(), theirs.gptr, kBytes), SENNIT_OK, "get");
    for (const char byte : got)
        require(byte == next + 1, "a get returns the next rank's bytes");
}

struct Expected {
    sennit_mechanism mechanism;
    std::string why_not_xpmem;
};

// `own`, `others`: the mechanism for this rank's and the next rank's memory, and the reason against
// XPMEM.
void use(bool may_attach, const Expected &own, const Expected &others) {
    // Not at the start of a page.
    auto *const pages = static_cast<char *>(std::aligned_alloc(4096, 16384));
    char *const memory = pages + 100;
    std::memset(pages, sennit_rank() + 1, 16384);
    sennit_region mine = SENNIT_REGION_NULL;
    expect(sennit_register(memory, kBytes, 0, &mine), SENNIT_OK, "register");
    std::vector<sennit_region> all(static_cast<std::size_t>(sennit_size()));
    expect(sennit_region_attach(SENNIT_TEAM_WORLD, mine, all.data()), SENNIT_OK, "attach");
    const int next = (sennit_rank() + 1) % sennit_size();
    const int previous = (sennit_rank() + sennit_size() - 1) % sennit_size();
    const sennit_region theirs = all[static_cast<std::size_t>(next)];
    check_mechanism(mine, own.mechanism, own.why_not_xpmem);
    check_mechanism(theirs, others.mechanism, others.why_not_xpmem);
    char *const there = static_cast<char *>(sennit_ptr(theirs.gptr));
    require((there != nullptr) == may_attach, "a rank has a pointer if it may attach");
    check_content(theirs, next);
    barrier();
    const auto value = static_cast<char>(40 + sennit_rank());
    if (may_attach) {
        there[kBytes - 1] = value;
    } else {
        const sennit_gptr last = sennit_gptr_add(theirs.gptr, kBytes - 1);
        expect(sennit_put(last, &value, 1), SENNIT_OK, "put");
    }
    barrier();
    require(memory[kBytes - 1] == 40 + previous, "the peer's store has arrived");
    require(memory[kBytes] == sennit_rank() + 1 && pages[99] == sennit_rank() + 1,
            "the peer stored nothing beside it");
    expect(sennit_region_detach(theirs), SENNIT_OK, "detach");
    barrier();
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");
    require(memory[kBytes - 1] == 40 + previous, "the peer's store stays");
    barrier();
    std::free(pages);
}

}  // namespace

int main(int count, char **words) {
    const std::string scene = count > 1 ? words[1] : "";
    const char *const rank = std::getenv("SENNIT_RANK");
    // The loader reads LD_LIBRARY_PATH when the program starts, so the program starts again.
    if (scene == "not_there" && rank != nullptr && std::strcmp(rank, "1") == 0 &&
        std::getenv("LD_LIBRARY_PATH") != nullptr) {
        unsetenv("LD_LIBRARY_PATH");
        (void)execv("/proc/self/exe", words);
        return 1;
    }
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const std::string why = obstacle(scene);
    Expected own{SENNIT_MECHANISM_XPMEM, "taken"};
    if (scene == "no_device")
        own = {SENNIT_MECHANISM_ADOPT, "XPMEM does not work here: No such file or directory"};
    // Without the library a rank cannot offer memory by XPMEM, so it adopts.
    if (scene == "not_there" && !why.empty()) own = {SENNIT_MECHANISM_ADOPT, why};
    Expected others{SENNIT_MECHANISM_XPMEM, "taken"};
    if (scene == "no_device") others = own;
    if (!why.empty()) others = {SENNIT_MECHANISM_CMA, why};
    if (scene == "not_there" && (sennit_rank() + 1) % sennit_size() == 1)
        others = {SENNIT_MECHANISM_ADOPT, "libxpmem is not installed here"};
    for (int round = 0; round < 3; ++round)
        use(why.empty(), own, others);
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
