// The number of operations that a rank starts towards other nodes in collective calls, under
// `sennit run --nodes`. `trips` prints them. With numbers as arguments it fails if a rank starts
// more than these in a barrier, an allocation, the creation of a team, an allreduce of 8 bytes
// (one more for 8 kB), a broadcast from the last rank, and an alltoall; if a rank that does not
// lead its node starts any; and if a long alltoall needs more than two for each rank plus those of
// its meetings.
#include <sennit/sennit.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "op/engine_state.hpp"
#include "rank/process.hpp"

namespace {

constexpr std::int64_t kLimit = 30'000'000'000;
constexpr std::int64_t kMostOfMeetings = 12;  // operations of a long call besides its data

struct Trips {
    std::int64_t puts, gets, tasks;
    std::int64_t sum() const { return puts + gets + tasks; }
};

[[noreturn]] void give_up(const char *call) {
    std::fprintf(stderr, "%s: %s\n", call, sennit_last_error()->text);
    std::exit(1);
}

void expect(sennit_status status, const char *call) {
    if (status != SENNIT_OK) give_up(call);
}

Trips trips_so_far() {
    const sennit::Rank &rank = *sennit::current_rank();
    if (rank.engine == nullptr) return {};
    const std::uint64_t *started = rank.engine->started;
    const auto at = [&](sennit::op::Direction direction) {
        return static_cast<std::int64_t>(started[static_cast<std::size_t>(direction)]);
    };
    return {at(sennit::op::Direction::put), at(sennit::op::Direction::get),
            at(sennit::op::Direction::execute)};
}

// The minimum over several calls: a look at something that has not come yet is repeated.
Trips measure(const std::function<void()> &call, const std::function<void()> &undo) {
    Trips fewest{INT32_MAX, INT32_MAX, INT32_MAX};
    for (int i = 0; i < 7; ++i) {
        expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit), "sennit_barrier");
        const Trips before = trips_so_far();
        call();
        const Trips after = trips_so_far();
        const Trips now{after.puts - before.puts, after.gets - before.gets,
                        after.tasks - before.tasks};
        if (i > 0 && now.sum() < fewest.sum()) fewest = now;
        undo();
    }
    return fewest;
}

// The first rank of each node leads it.
bool leads() {
    const sennit::Rank &rank = *sennit::current_rank();
    return rank.peers[rank.world_rank].first_of_node == rank.world_rank;
}

// True if no rank needed more than `most`, and ranks that do not lead their node needed none.
bool report(const char *call, const Trips &mine, std::int64_t most) {
    std::int64_t counts[5] = {mine.puts, mine.gets, mine.tasks, mine.sum(),
                              leads() ? 0 : mine.sum()};
    std::int64_t highest[5];
    expect(sennit_allreduce(SENNIT_TEAM_WORLD, counts, highest,
                            sennit_reduction_of(5, SENNIT_INT64, SENNIT_MAX), kLimit),
           "sennit_allreduce");
    if (sennit_rank() == 0)
        std::printf("%-20s %3lld puts %3lld gets %3lld tasks\n", call,
                    static_cast<long long>(highest[0]), static_cast<long long>(highest[1]),
                    static_cast<long long>(highest[2]));
    return most < 0 || (highest[3] <= most && highest[4] == 0);
}

// Private blocks that would need many rounds. Instead each rank copies its blocks, each in one
// piece, after asking for the address.
bool long_alltoall() {
    constexpr std::size_t kLong = 50'000;
    const int size = sennit_size();
    std::vector<std::int64_t> from(kLong * static_cast<std::size_t>(size), sennit_rank());
    std::vector<std::int64_t> to(from.size());
    const Trips trips = measure(
        [&] {
            std::fill(to.begin(), to.end(), -1);
            expect(sennit_alltoall(SENNIT_TEAM_WORLD, from.data(), to.data(), 8 * kLong, kLimit),
                   "sennit_alltoall");
        },
        [] {});
    (void)report("long alltoall", trips, -1);
    for (std::size_t i = 0; i < to.size(); ++i)
        if (to[i] != static_cast<std::int64_t>(i / kLong)) return false;
    return trips.sum() <= 2 * size + kMostOfMeetings;
}

// Broken by a start with descriptions: work in place takes three more operations.
bool longer_allreduce(std::int64_t most) {
    const std::vector<std::int64_t> many(1000, 1);
    std::vector<std::int64_t> sums(many.size());
    const Trips trips = measure(
        [&] {
            expect(sennit_allreduce(SENNIT_TEAM_WORLD, many.data(), sums.data(),
                                    sennit_reduction_of(many.size(), SENNIT_INT64, SENNIT_SUM),
                                    kLimit),
                   "sennit_allreduce");
        },
        [] {});
    return report("allreduce of 8 kB", trips, most) && sums.back() == sennit_size();
}

}  // namespace

int main(int argc, char **argv) {
    expect(sennit_init(nullptr), "sennit_init");
    const auto most = [&](int which) { return argc > which ? std::atoll(argv[which]) : -1; };
    const auto nothing = [] {};
    bool good = true;
    Trips trips = measure(
        [] { expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit), "sennit_barrier"); }, nothing);
    good &= report("barrier", trips, most(1));
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    trips =
        measure([&] { expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc"); },
                [&] { expect(sennit_free(gptr), "sennit_free"); });
    good &= report("allocation", trips, most(2));
    trips = measure(
        [&] {
            expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
            expect(sennit_free(gptr), "sennit_free");
        },
        nothing);
    good &= report("allocation and free", trips, -1);
    sennit_team team = SENNIT_TEAM_NULL;
    trips = measure(
        [&] { expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), "sennit_team_split"); },
        [&] { expect(sennit_team_destroy(team), "sennit_team_destroy"); });
    good &= report("team", trips, most(3));
    std::vector<std::byte> memory(4096);
    std::vector<sennit_region> regions(static_cast<std::size_t>(sennit_size()));
    sennit_region region;
    expect(sennit_register(memory.data(), memory.size(), 0, &region), "sennit_register");
    trips = measure(
        [&] {
            expect(sennit_region_attach(SENNIT_TEAM_WORLD, region, regions.data()),
                   "sennit_region_attach");
        },
        nothing);
    good &= report("regions", trips, -1);
    std::int64_t one = 1;
    std::int64_t all = 0;
    trips = measure(
        [&] {
            expect(sennit_allreduce(SENNIT_TEAM_WORLD, &one, &all,
                                    sennit_reduction_of(1, SENNIT_INT64, SENNIT_SUM), kLimit),
                   "sennit_allreduce");
        },
        nothing);
    good &= report("allreduce", trips, most(4)) && all == sennit_size();
    good &= longer_allreduce(argc > 4 ? most(4) + 1 : -1);
    // On nodes with several ranks this root is not the leader.
    const int last = sennit_size() - 1;
    std::uint8_t block[600];
    trips = measure(
        [&] {
            std::memset(block, sennit_rank(), sizeof block);
            expect(sennit_broadcast(SENNIT_TEAM_WORLD, last, block, sizeof block, kLimit),
                   "sennit_broadcast");
        },
        nothing);
    good &= report("broadcast", trips, most(5)) && block[0] == last && block[599] == last;
    std::vector<std::int64_t> from(static_cast<std::size_t>(sennit_size()), sennit_rank());
    std::vector<std::int64_t> to(from.size());
    trips = measure(
        [&] {
            expect(sennit_alltoall(SENNIT_TEAM_WORLD, from.data(), to.data(), 8, kLimit),
                   "sennit_alltoall");
        },
        nothing);
    good &= report("alltoall", trips, most(6)) && to.back() == last;
    good &= long_alltoall();
    expect(sennit_deregister(region), "sennit_deregister");
    expect(sennit_finalize(), "sennit_finalize");
    return good ? 0 : 2;
}
