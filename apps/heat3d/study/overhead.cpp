// The overhead of sennit_put and sennit_get over a copy by hand, as in figure 6 of Zhou and Gracia
// 2017: the same bytes to and from a neighbour on the node by Sennit, and by memcpy through a
// shared window of MPI. Two ranks of one MPI; started by study/overhead.py.
//
//     mpirun -n 2 heat3d-overhead-openmpi [rounds [batch_us]]
//
// Rank 0 measures, rank 1 sleeps in a barrier. Every round measures each way in turn, in a batch of
// calls that takes about batch_us; so a change of the machine's speed affects all ways. The third
// way is memcpy through sennit_ptr, into the same memory that Sennit's calls use: its difference to
// the window is due to the placement of memory, not to the library.
//
// Prints one JSON object a line: op, bytes, calls of a batch, the median of ns per call for each
// way, and the quartiles of the differences within a round.
#include <mpi.h>
#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

void must(sennit_status status, const char *doing) {
    if (status == SENNIT_OK) return;
    (void)std::fprintf(stderr, "heat3d-overhead: %s: %s\n", doing, sennit_last_error()->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// The peer's memory, as each way reaches it.
struct Peer {
    sennit_gptr global = SENNIT_GPTR_NULL;
    char *pointer = nullptr;
    char *window = nullptr;
};

enum Way : std::size_t { way_sennit, way_window, way_pointer, way_count };

// Makes the compiler treat memory as read and written.
inline void touch_memory() {
    asm volatile("" ::: "memory");
}

// Nanoseconds per call, from a batch of calls.
template <typename Call>
double time_calls(std::size_t calls, const Call &call) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    for (std::size_t i = 0; i < calls; ++i) {
        call();
        touch_memory();
    }
    const std::chrono::duration<double, std::nano> took = clock::now() - start;
    return took.count() / static_cast<double>(calls);
}

double time_way(Way way, bool put, const Peer &peer, char *mine, std::size_t bytes,
                std::size_t calls) {
    if (way == way_sennit) {
        sennit_status worst = SENNIT_OK;
        const double ns = time_calls(calls, [&] {
            const sennit_status status =
                put ? sennit_put(peer.global, mine, bytes) : sennit_get(mine, peer.global, bytes);
            if (status != SENNIT_OK) worst = status;
        });
        must(worst, put ? "sennit_put" : "sennit_get");
        return ns;
    }
    char *theirs = way == way_window ? peer.window : peer.pointer;
    char *to = put ? theirs : mine;
    const char *from = put ? mine : theirs;
    return time_calls(calls, [&] { std::memcpy(to, from, bytes); });
}

// The quantile at 0 <= share <= 1; interpolates.
double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

void print_quartiles(const char *name, const std::vector<double> &from,
                     const std::vector<double> &less) {
    std::vector<double> difference;
    for (std::size_t i = 0; i < from.size(); ++i)
        difference.push_back(from[i] - less[i]);
    std::printf(", \"%s_ns\": [%.3f, %.3f, %.3f]", name, quantile(difference, 0.25),
                quantile(difference, 0.5), quantile(difference, 0.75));
}

void measure(bool put, std::size_t bytes, const Peer &peer, char *mine, std::size_t rounds,
             double batch_ns) {
    // The window's time of 64 calls sets the size of a batch. Round 0 warms up and does not count.
    const double first = time_way(way_window, put, peer, mine, bytes, 64);
    const auto calls = static_cast<std::size_t>(std::clamp(batch_ns / first, 4.0, 10000.0));
    std::vector<double> ns[way_count];
    for (std::size_t round = 0; round <= rounds; ++round) {
        for (std::size_t turn = 0; turn < way_count; ++turn) {
            const std::size_t way = (turn + round) % way_count;  // each is first, second and last
            const double took = time_way(static_cast<Way>(way), put, peer, mine, bytes, calls);
            if (round > 0) ns[way].push_back(took);
        }
    }
    std::printf("{\"op\": \"%s\", \"bytes\": %zu, \"calls\": %zu", put ? "put" : "get", bytes,
                calls);
    const char *names[way_count] = {"sennit", "window", "pointer"};
    for (std::size_t way = 0; way < way_count; ++way)
        std::printf(", \"%s_ns\": %.3f", names[way], quantile(ns[way], 0.5));
    print_quartiles("over_window", ns[way_sennit], ns[way_window]);
    print_quartiles("over_pointer", ns[way_sennit], ns[way_pointer]);
    std::printf("}\n");
}

// Whether Sennit's put and get reach the memory that the pointer reaches.
bool ways_agree(const Peer &peer, char *mine) {
    std::memset(mine, 'a', kMostBytes);
    must(sennit_put(peer.global, mine, kMostBytes), "sennit_put");
    const bool same = std::memcmp(peer.pointer, mine, kMostBytes) == 0;
    std::memset(peer.pointer, 'b', kMostBytes);
    must(sennit_get(mine, peer.global, kMostBytes), "sennit_get");
    return same && std::memcmp(peer.pointer, mine, kMostBytes) == 0;
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 201;
    const double batch_ns = 1e3 * (argc > 2 ? std::strtod(argv[2], nullptr) : 100.0);
    must(sennit_init_mpi(MPI_COMM_WORLD, nullptr), "sennit_init_mpi");
    if (sennit_size() != 2 || rounds == 0 || !(batch_ns > 0)) {
        (void)std::fprintf(stderr, "heat3d-overhead: two ranks, rounds and batch_us above 0\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    Peer peer;
    must(sennit_alloc(SENNIT_TEAM_WORLD, kMostBytes, 4096, 0, &peer.global), "sennit_alloc");
    char *own = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate_shared(kMostBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    MPI_Win_lock_all(0, window);
    std::memset(own, 1, kMostBytes);
    std::memset(sennit_ptr(peer.global), 1, kMostBytes);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    bool good = true;
    if (sennit_rank() == 0) {
        peer.global = sennit_gptr_at(peer.global, 1);
        peer.pointer = static_cast<char *>(sennit_ptr(peer.global));
        MPI_Aint bytes = 0;
        int unit = 0;
        MPI_Win_shared_query(window, 1, &bytes, &unit, &peer.window);
        const std::unique_ptr<char, void (*)(void *)> mine(
            static_cast<char *>(std::aligned_alloc(4096, kMostBytes)), std::free);
        good = ways_agree(peer, mine.get());
        for (const bool put : {true, false}) {
            for (std::size_t size = 1; size <= kMostBytes; size *= 2)
                measure(put, size, peer, mine.get(), rounds, batch_ns);
        }
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    must(sennit_finalize(), "sennit_finalize");
    MPI_Finalize();
    return good ? 0 : 1;
}
