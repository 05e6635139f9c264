// Start, end, and who is who.
#include "harness.hpp"

#include <sched.h>

#include <set>
#include <string>

using namespace conformance;

// Broken by an init that starts a second world, or a finalize that ends it too early.
RANK_TEST(start, init_is_counted, kAnything) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    for (int i = 0; i < 3; ++i)
        it.ok(sennit_init(&options));
    it.ok(sennit_init(nullptr));
    for (int i = 0; i < 4; ++i) {
        it.ok(sennit_finalize());
        it.equal(sennit_initialized(), 1);
        it.equal(sennit_rank(), it.rank);
    }
    it.barrier();
}

// Broken by a bootstrap that mixes up numbers.
RANK_TEST(start, every_rank_has_its_number_once, kAnything) {
    it.equal(sennit_size(), it.size);
    const auto ranks = it.tell_all(sennit_rank());
    for (int r = 0; r < it.size; ++r)
        it.equal(ranks[static_cast<std::size_t>(r)], r);
    it.equal(sennit_thread_level_granted(), SENNIT_THREAD_MULTIPLE);
}

// Broken by state that outlives its world: epochs, tables, descriptors, mappings (the harness
// counts those).
RANK_TEST(start, the_world_can_be_left_and_entered_100_times, kNoWorld | kOnce) {
    const int rounds = it.quick ? 20 : 100;
    for (int round = 0; round < rounds; ++round) {
        it.start();
        const sennit_gptr segment = it.allocate(64);
        const std::uint64_t mine =
            static_cast<std::uint64_t>(round) * 1000 + static_cast<std::uint64_t>(it.rank);
        it.ok(sennit_put(sennit_gptr_at(segment, it.next()), &mine, sizeof mine));
        it.barrier();
        std::uint64_t got = 0;
        it.ok(sennit_get(&got, segment, sizeof got));
        it.equal(got, mine - static_cast<std::uint64_t>(it.rank) +
                          static_cast<std::uint64_t>(it.previous()));
        // Every other time the segment is left to finalize.
        it.barrier();
        if (round % 2 == 0) it.free(segment);
        it.stop();
    }
}

// Broken by a finalize that takes away memory which a slower rank still looks at in its last
// barrier.
RANK_TEST(start, ranks_may_be_early_and_late_at_the_end, kNoWorld | kOnce) {
    for (int round = 0; round < 20; ++round) {
        it.start();
        (void)it.allocate(4096);
        for (std::uint64_t i = it.own.below(20); i > 0; --i)
            (void)sched_yield();
        it.stop();
    }
}

sennit_path path_to(Ranks &it, int peer) {
    sennit_path path = SENNIT_PATH_NONE;
    it.ok(sennit_peer_path(peer, &path));
    return path;
}

// Broken by a locality that does not follow from where the ranks are.
RANK_TEST(start, locality_tells_how_near_a_peer_is, kAnything) {
    for (int peer = 0; peer < it.size; ++peer) {
        sennit_locality_level level = SENNIT_LOCALITY_NETWORK;
        it.ok(sennit_locality(peer, &level));
        if (peer == it.rank) {
            it.equal(level, SENNIT_LOCALITY_SELF);
        } else if (path_to(it, peer) == SENNIT_PATH_FABRIC) {
            it.equal(level, SENNIT_LOCALITY_NETWORK);
        } else if (it.one_process) {
            it.equal(level, SENNIT_LOCALITY_PROCESS);
        } else {
            it.require(level == SENNIT_LOCALITY_NUMA || level == SENNIT_LOCALITY_NODE,
                       "a process of the same node is NUMA or NODE");
        }
    }
}

// Broken by two ranks that disagree on the path between them, or a path without a reason.
RANK_TEST(start, every_path_has_its_reason, kAnything) {
    for (int peer = 0; peer < it.size; ++peer) {
        sennit_path path = SENNIT_PATH_NONE;
        it.ok(sennit_peer_path(peer, &path));
        it.require(path != SENNIT_PATH_NONE, "there is a path to every rank");
        std::set<std::string> taken;
        for (int i = SENNIT_PATH_SELF; i < SENNIT_PATH_END; ++i) {
            char text[200] = "";
            const auto candidate = static_cast<sennit_path>(i);
            it.ok(sennit_peer_path_reason(peer, candidate, text, sizeof text));
            it.require(text[0] != '\0', "each path that was not taken has a reason");
            char cut[6];
            it.ok(sennit_peer_path_reason(peer, candidate, cut, sizeof cut));
            it.require(std::string(text).substr(0, 5) == cut, "the text is cut to the room given");
        }
    }
    const auto paths = it.tell_all([&] {
        struct Row {
            std::uint8_t path[64];
        } row{};
        for (int peer = 0; peer < it.size; ++peer) {
            sennit_path path = SENNIT_PATH_NONE;
            it.ok(sennit_peer_path(peer, &path));
            row.path[peer] = static_cast<std::uint8_t>(path);
        }
        return row;
    }());
    for (int peer = 0; peer < it.size; ++peer)
        it.equal(paths[static_cast<std::size_t>(it.rank)].path[peer],
                 paths[static_cast<std::size_t>(peer)].path[it.rank]);
}

// Broken by a name that is freed, or missing for a given bootstrap.
RANK_TEST(start, the_bootstrap_has_a_name, kAnything) {
    const char *name = sennit_bootstrap_used();
    it.require(name != nullptr, "a rank was started by something");
    if (it.one_process) it.require(std::string(name) == "inproc", "threads start by inproc");
}

// Broken by a clock that goes back, or differs between the ranks of a node.
RANK_TEST(start, the_clock_of_a_node_goes_forward, kAnything) {
    const double before = sennit_wtime();
    it.barrier();
    const auto times = it.tell_all(sennit_wtime());
    const double after = sennit_wtime();
    for (const double time : times)
        it.require(time >= before - 60 && time <= after, "one clock for all ranks");
    it.require(after >= before, "time does not go back");
}
