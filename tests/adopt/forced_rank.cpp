// One rank of a job where SENNIT_REGISTER lists the mechanisms for registered memory. The argument
// names the expected result:
//     adopt    heap memory is adopted, a buffer on the stack is refused
//     cma      heap memory stays where it is, and peers reach it
//     xpmem    both are refused, unless the node has XPMEM
//     inproc   both are refused: the ranks are processes
//     wrong    the list is invalid: sennit_init refuses it
// Broken by a knob that works as a preference and not as an order, a refusal without its reason.
#include <algorithm>
#include <memory>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

// Registers the buffer by mechanism `wanted` and reads the next rank's buffer; if `wanted` is NONE,
// expects a refusal whose text contains `why`.
void use(void *memory, std::size_t bytes, sennit_mechanism wanted, const char *why) {
    sennit_region region = SENNIT_REGION_NULL;
    const sennit_status status = sennit_register(memory, bytes, 0, &region);
    if (wanted == SENNIT_MECHANISM_NONE) {
        expect(status, SENNIT_ERR_UNSUPPORTED, "register");
        const std::string text = sennit_last_error()->text;
        require(text.find(why) != std::string::npos, "the error says why: " + text);
        return;
    }
    expect(status, SENNIT_OK, "register");
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    expect(sennit_region_mechanism(region, &mechanism), SENNIT_OK, "mechanism");
    require(mechanism == wanted, std::string("registered by ") + sennit_mechanism_name(mechanism));
    std::vector<sennit_region> all(static_cast<std::size_t>(sennit_size()));
    expect(sennit_region_attach(SENNIT_TEAM_WORLD, region, all.data()), SENNIT_OK, "attach");
    std::vector<char> got(bytes);
    const int next = (sennit_rank() + 1) % sennit_size();
    expect(sennit_get(got.data(), all[static_cast<std::size_t>(next)].gptr, bytes), SENNIT_OK,
           "get");
    require(got[bytes - 1] == next + 1, "a get returns the next rank's bytes");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    expect(sennit_deregister(region), SENNIT_OK, "deregister");
}

void use_both(sennit_mechanism on_heap, sennit_mechanism on_stack, const char *why) {
    constexpr std::size_t kBytes = 10000;
    const auto value = static_cast<char>(sennit_rank() + 1);
    const auto heap = std::make_unique<char[]>(kBytes);
    std::fill_n(heap.get(), kBytes, value);
    use(heap.get(), kBytes, on_heap, why);
    // A sanitizer keeps local variables elsewhere, but the frame itself is on the stack.
    auto *const frame = static_cast<char *>(__builtin_frame_address(0));
    if (on_stack == SENNIT_MECHANISM_NONE) use(frame, 8, on_stack, why);
}

}  // namespace

int main(int count, char **words) {
    const std::string scene = count > 1 ? words[1] : "";
    if (scene == "wrong") {
        expect(sennit_init(nullptr), SENNIT_ERR_ARG, "init");
        require(std::string(sennit_last_error()->text).find("adopt, cma") != std::string::npos,
                "the error lists the valid words");
        return 0;
    }
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    constexpr sennit_mechanism kNone = SENNIT_MECHANISM_NONE;
    if (scene == "adopt") use_both(SENNIT_MECHANISM_ADOPT, kNone, "adopt: the memory is on the");
    if (scene == "cma") use_both(SENNIT_MECHANISM_CMA, SENNIT_MECHANISM_CMA, "");
    if (scene == "xpmem") use_both(kNone, kNone, "xpmem: ");
    if (scene == "inproc") use_both(kNone, kNone, "inproc: there are peers in other processes");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
