// The same headers from C++: a sum whose terms are spread over the ranks.
//     sennit run -n 4 first
#include <sennit/sennit.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

void must(sennit_status status) {
    if (status != SENNIT_OK) throw std::runtime_error(sennit_last_error()->text);
}

// A rank for the lifetime of the object.
struct World {
    World() { must(sennit_init(nullptr)); }
    ~World() { (void)sennit_finalize(); }
    World(const World &) = delete;
    World &operator=(const World &) = delete;
};

void run() {
    const World world;
    const int rank = sennit_rank();
    const auto size = static_cast<std::size_t>(sennit_size());

    sennit_gptr sums;
    must(sennit_alloc(SENNIT_TEAM_WORLD, size * sizeof(long), 0, 0, &sums));

    std::vector<long> terms(1000);
    std::iota(terms.begin(), terms.end(), 1000L * rank);
    const long mine = std::accumulate(terms.begin(), terms.end(), 0L);

    // Puts every rank's sum into its place at rank 0.
    const sennit_gptr place =
        sennit_gptr_add(sennit_gptr_at(sums, 0), rank * static_cast<int>(sizeof mine));
    must(sennit_put(place, &mine, sizeof mine));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));

    if (rank == 0) {
        const auto *all = static_cast<const long *>(sennit_ptr(sums));
        const long sum = std::accumulate(all, all + size, 0L);
        const long terms_in_all = 1000L * sennit_size();
        if (sum != terms_in_all * (terms_in_all - 1) / 2) throw std::runtime_error("wrong sum");
        std::printf("the numbers below %ld add up to %ld\n", terms_in_all, sum);
    }
    must(sennit_free(sums));
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "first: %s\n", error.what());
        return 1;
    }
    return 0;
}
