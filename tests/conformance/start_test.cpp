// Start, end, ranks and localities.
#include "harness.hpp"

#include <sched.h>

#include <set>
#include <string>

using namespace conformance;

// Broken by an init that starts a second world, or a finalize that ends the world too early.
RANK_TEST(start, init_is_counted, kAnything) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    for (int i = 0; i < 3; ++i)
        test.ok(sennit_init(&options));
    test.ok(sennit_init(nullptr));
    for (int i = 0; i < 4; ++i) {
        test.ok(sennit_finalize());
        test.equal(sennit_initialized(), 1);
        test.equal(sennit_rank(), test.rank);
    }
    test.barrier();
}

// Broken by a bootstrap that mixes up ranks.
RANK_TEST(start, every_rank_has_its_number_once, kAnything) {
    test.equal(sennit_size(), test.size);
    const auto ranks = test.tell_all(sennit_rank());
    for (int r = 0; r < test.size; ++r)
        test.equal(ranks[static_cast<std::size_t>(r)], r);
    test.equal(sennit_thread_level_granted(), SENNIT_THREAD_MULTIPLE);
}

// Broken by state that outlives its world: epochs, tables, descriptors, mappings (the harness
// counts the last two).
RANK_TEST(start, the_world_can_be_left_and_entered_100_times, kNoWorld | kOnce) {
    const int rounds = test.quick ? 20 : 100;
    for (int round = 0; round < rounds; ++round) {
        test.start();
        const sennit_gptr segment = test.allocate(64);
        const std::uint64_t mine =
            static_cast<std::uint64_t>(round) * 1000 + static_cast<std::uint64_t>(test.rank);
        test.ok(sennit_put(sennit_gptr_at(segment, test.next()), &mine, sizeof mine));
        test.barrier();
        std::uint64_t got = 0;
        test.ok(sennit_get(&got, segment, sizeof got));
        test.equal(got, mine - static_cast<std::uint64_t>(test.rank) +
                            static_cast<std::uint64_t>(test.previous()));
        // Every second time finalize has to free the segment.
        test.barrier();
        if (round % 2 == 0) test.free(segment);
        test.stop();
    }
}

// Broken by a finalize that frees memory which a slower rank still reads in its last barrier.
RANK_TEST(start, ranks_may_be_early_and_late_at_the_end, kNoWorld | kOnce) {
    for (int round = 0; round < 20; ++round) {
        test.start();
        (void)test.allocate(4096);
        for (std::uint64_t i = test.own.below(20); i > 0; --i)
            (void)sched_yield();
        test.stop();
    }
}

sennit_path path_to(Ranks &test, int peer) {
    sennit_path path = SENNIT_PATH_NONE;
    test.ok(sennit_peer_path(peer, &path));
    return path;
}

// Broken by a locality that does not match the places of the ranks.
RANK_TEST(start, locality_tells_how_near_a_peer_is, kAnything) {
    for (int peer = 0; peer < test.size; ++peer) {
        sennit_locality_level level = SENNIT_LOCALITY_NETWORK;
        test.ok(sennit_locality(peer, &level));
        if (peer == test.rank) {
            test.equal(level, SENNIT_LOCALITY_SELF);
        } else if (path_to(test, peer) == SENNIT_PATH_FABRIC) {
            test.equal(level, SENNIT_LOCALITY_NETWORK);
        } else if (test.one_process) {
            test.equal(level, SENNIT_LOCALITY_PROCESS);
        } else {
            test.require(level == SENNIT_LOCALITY_NUMA || level == SENNIT_LOCALITY_NODE,
                         "a process of the same node is NUMA or NODE");
        }
    }
}

// Broken by two ranks that disagree on the path between them, or a path without a reason.
RANK_TEST(start, every_path_has_its_reason, kAnything) {
    for (int peer = 0; peer < test.size; ++peer) {
        sennit_path path = SENNIT_PATH_NONE;
        test.ok(sennit_peer_path(peer, &path));
        test.require(path != SENNIT_PATH_NONE, "there is a path to every rank");
        std::set<std::string> taken;
        for (int i = SENNIT_PATH_SELF; i < SENNIT_PATH_END; ++i) {
            char text[200] = "";
            const auto candidate = static_cast<sennit_path>(i);
            test.ok(sennit_peer_path_reason(peer, candidate, text, sizeof text));
            test.require(text[0] != '\0', "each path that was not taken has a reason");
            char cut[6];
            test.ok(sennit_peer_path_reason(peer, candidate, cut, sizeof cut));
            test.require(std::string(text).substr(0, 5) == cut,
                         "the text is cut to the room given");
        }
    }
    const auto paths = test.tell_all([&] {
        struct Row {
            std::uint8_t path[64];
        } row{};
        for (int peer = 0; peer < test.size; ++peer) {
            sennit_path path = SENNIT_PATH_NONE;
            test.ok(sennit_peer_path(peer, &path));
            row.path[peer] = static_cast<std::uint8_t>(path);
        }
        return row;
    }());
    for (int peer = 0; peer < test.size; ++peer)
        test.equal(paths[static_cast<std::size_t>(test.rank)].path[peer],
                   paths[static_cast<std::size_t>(peer)].path[test.rank]);
}

// Broken by a name that is freed, or missing for a given bootstrap.
RANK_TEST(start, the_bootstrap_has_a_name, kAnything) {
    const char *name = sennit_bootstrap_used();
    test.require(name != nullptr, "a rank was started by something");
    if (test.one_process) test.require(std::string(name) == "inproc", "threads start by inproc");
}

// Broken by a clock that goes back, or differs between the ranks of a node.
RANK_TEST(start, the_clock_of_a_node_goes_forward, kAnything) {
    const double before = sennit_wtime();
    test.barrier();
    const auto times = test.tell_all(sennit_wtime());
    const double after = sennit_wtime();
    for (const double time : times)
        test.require(time >= before - 60 && time <= after, "one clock for all ranks");
    test.require(after >= before, "time does not go back");
}
