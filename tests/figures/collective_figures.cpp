// Measures collective calls, for tools/tune-collectives, with each way forced: slots alone;
// descriptions first; descriptions with private buffers that the kernel copies from. Prints a line
// of JSON for each kind, size, buffer and way. All ranks run it under `sennit run`; rank 0 prints.
// Arguments: the number of rounds, the smallest and the largest size.
#include <sennit/sennit.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "coll/state.hpp"
#include "rank/process.hpp"

namespace {

using sennit::coll::Choices;

constexpr double kBatchSeconds = 0.0003;
int rounds = 41;

enum class By { slots, descriptions, kernel, relay };
constexpr By kWays[] = {By::slots, By::descriptions, By::kernel, By::relay};
constexpr const char *kWayNames[] = {"slots", "descriptions", "kernel", "relay"};

void must(sennit_status status) {
    if (status == SENNIT_OK) return;
    std::fprintf(stderr, "%s: %s\n", sennit_last_error()->operation, sennit_last_error()->text);
    std::exit(1);
}

struct Buffers {
    const char *name;
    char *source;
    char *destination;
};

enum class Kind { broadcast, alltoall, allreduce };
constexpr const char *kNames[] = {"broadcast", "copy", "fold"};

// Writes and reads a word of each line, as a program would.
void touch(char *memory, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 64)
        ++memory[i];
}

void call(Kind kind, const Buffers &buffers, std::size_t bytes) {
    const auto size = static_cast<std::size_t>(sennit_size());
    switch (kind) {
        case Kind::broadcast:
            touch(buffers.destination, bytes);
            must(
                sennit_broadcast(SENNIT_TEAM_WORLD, 0, buffers.destination, bytes, SENNIT_FOREVER));
            break;
        case Kind::alltoall:
            touch(buffers.source, bytes * size);
            must(sennit_alltoall(SENNIT_TEAM_WORLD, buffers.source, buffers.destination, bytes,
                                 SENNIT_FOREVER));
            touch(buffers.destination, bytes * size);
            break;
        case Kind::allreduce:
            touch(buffers.source, bytes);
            must(sennit_allreduce(SENNIT_TEAM_WORLD, buffers.source, buffers.destination,
                                  sennit_reduction_of(bytes / 4, SENNIT_INT32, SENNIT_SUM),
                                  SENNIT_FOREVER));
            touch(buffers.destination, bytes);
            break;
    }
}

// Returns the seconds of one call.
double batch(Kind kind, const Buffers &buffers, std::size_t bytes, int calls) {
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    call(kind, buffers, bytes);
    const double start = sennit_wtime();
    for (int i = 0; i < calls; ++i)
        call(kind, buffers, bytes);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    return (sennit_wtime() - start) / calls;
}

void choose(By way) {
    Choices &choices = sennit::current_rank()->collectives->choices;
    const std::size_t in_place = way == By::slots ? SIZE_MAX : 1;
    choices.broadcast_in_place_from = in_place;
    choices.copy_in_place_from = in_place;
    choices.fold_in_place_from = in_place;
    const std::size_t kernel = way == By::kernel ? 1 : SIZE_MAX;
    choices.broadcast_by_kernel_from = kernel;
    choices.broadcast_by_kernel_shared_from = kernel;
    choices.copy_by_kernel_from = kernel;
    choices.fold_by_kernel_from = kernel;
    choices.relay_from = way == By::relay ? 1 : SIZE_MAX;
}

void print(Kind kind, std::size_t bytes, const Buffers &buffers, By way,
           std::vector<double> &seconds) {
    std::sort(seconds.begin(), seconds.end());
    sennit_path path{};
    must(sennit_peer_path(1, &path));
    std::printf(
        "{\"kind\":\"%s\",\"bytes\":%zu,\"ranks\":%d,\"path\":\"%s\",\"buffer\":\"%s\",\"way\":\"%"
        "s\","
        "\"median_ns\":%.1f}\n",
        kNames[static_cast<int>(kind)], bytes, sennit_size(), sennit_path_name(path), buffers.name,
        kWayNames[static_cast<int>(way)], seconds[seconds.size() / 2] * 1e9);
}

void measure(Kind kind, const Buffers (&buffers)[2], std::size_t bytes) {
    // All ranks make the same number of calls.
    double guess = batch(kind, buffers[0], bytes, 20);
    must(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &guess, sizeof guess, SENNIT_FOREVER));
    const int calls = std::clamp(static_cast<int>(kBatchSeconds / guess), 2, 1000);
    std::vector<double> seconds[2][4];
    for (int round = 0; round < rounds; ++round)
        for (int buffer = 0; buffer < 2; ++buffer)
            for (const By way : kWays) {
                choose(way);
                seconds[buffer][static_cast<int>(way)].push_back(
                    batch(kind, buffers[buffer], bytes, calls));
            }
    if (sennit_rank() != 0) return;
    for (int buffer = 0; buffer < 2; ++buffer)
        for (const By way : kWays)
            print(kind, bytes, buffers[buffer], way, seconds[buffer][static_cast<int>(way)]);
}

}  // namespace

int main(int count, char **words) {
    std::size_t least = 1024;
    std::size_t most = 4 << 20;
    if (count > 1) rounds = std::max(1, std::atoi(words[1]));
    if (count > 3) {
        least = std::strtoull(words[2], nullptr, 10);
        most = std::strtoull(words[3], nullptr, 10);
    }
    must(sennit_init(nullptr));
    const std::size_t room = most * static_cast<std::size_t>(sennit_size());
    std::vector<char> memory(2 * room);
    sennit_gptr segment = SENNIT_GPTR_NULL;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 2 * room, 0, 0, &segment));
    auto *shared = static_cast<char *>(sennit_ptr(segment));
    if (shared == nullptr) return 1;
    const Buffers buffers[2] = {{"private", memory.data(), memory.data() + room},
                                {"segment", shared, shared + room}};
    for (const Kind kind : {Kind::broadcast, Kind::alltoall, Kind::allreduce})
        for (std::size_t bytes = least; bytes <= most; bytes *= 2)
            measure(kind, buffers, bytes);
    must(sennit_free(segment));
    must(sennit_finalize());
    return 0;
}
