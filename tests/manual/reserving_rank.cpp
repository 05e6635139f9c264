// One of two ranks in a control group of 64 MiB (containers_test.py). Each reserves 44 MiB; there
// is room for one of them only. Broken by ranks that check once and then take everything: the
// kernel would kill them.
#include <sennit/sennit.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr std::size_t kMi = 1 << 20;

bool is(sennit_status status, sennit_status wanted, const char *what) {
    if (status == wanted) return true;
    std::fprintf(stderr, "%s: %s: %s\n", what, sennit_status_string(status),
                 sennit_last_error()->text);
    return false;
}

bool run() {
    sennit_gptr segment = SENNIT_GPTR_NULL;
    if (!is(sennit_alloc(SENNIT_TEAM_WORLD, 44 * kMi, 0, SENNIT_ALLOC_RESERVE, &segment),
            SENNIT_ERR_NOMEM, "44 MiB for each rank"))
        return false;
    // Memory that the failed call had taken was given back.
    if (!is(sennit_alloc(SENNIT_TEAM_WORLD, 16 * kMi, 0, SENNIT_ALLOC_RESERVE, &segment), SENNIT_OK,
            "16 MiB for each rank"))
        return false;
    std::memset(sennit_ptr(segment), 1, 16 * kMi);
    return is(sennit_free(segment), SENNIT_OK, "free");
}

}  // namespace

int main() {
    if (!is(sennit_init(nullptr), SENNIT_OK, "init")) return 1;
    const bool is_right = run();
    return is(sennit_finalize(), SENNIT_OK, "finalize") && is_right ? 0 : 1;
}
