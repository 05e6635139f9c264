// The same as user.c in C++20, with exceptions: a failing call throws, and a fetch_add counts the
// ranks.
#include <sennit/sennit.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string_view>

namespace {

void check(sennit_status status) {
    if (status != SENNIT_OK) throw std::runtime_error(sennit_last_error()->text);
}

void exchange() {
    const int rank = sennit_rank();
    const int size = sennit_size();
    sennit_gptr box = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, 2 * sizeof(std::int64_t), 0, 0, &box));
    const std::int64_t value = rank;
    std::int64_t old = 0;
    check(sennit_put(sennit_gptr_at(box, (rank + 1) % size), &value, sizeof value));
    check(sennit_atomic_fetch_add_i64(sennit_gptr_add(sennit_gptr_at(box, 0), sizeof value), 1,
                                      &old));
    check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const std::span words(static_cast<const std::int64_t *>(sennit_ptr(box)), 2);
    if (rank == 0 && words[1] != size) throw std::runtime_error("a rank was not counted");
    std::printf("rank %d of %d found %d\n", rank, size, static_cast<int>(words[0]));
    check(sennit_free(box));
}

}  // namespace

int main() {
    if (std::string_view(sennit_version()) != SENNIT_VERSION_STRING) return 2;
    try {
        check(sennit_init(nullptr));
        exchange();
        check(sennit_finalize());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
