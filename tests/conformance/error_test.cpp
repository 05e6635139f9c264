// The promises of every error: nothing has changed, the details are complete, and a collective call
// fails on all ranks.
#include "harness.hpp"

#include <climits>
#include <thread>

using namespace conformance;

namespace {

void expect_details(Ranks &test, sennit_status status, const char *operation, int peer,
                    Ranks::Where where = Ranks::Where::current()) {
    const sennit_error *error = sennit_last_error();
    test.equal(error->status, status, where);
    test.require(std::strcmp(error->operation, operation) == 0, "the operation is named", where);
    test.equal(error->peer, peer, where);
    test.require(error->path != nullptr, "the path is never null", where);
    test.require(error->text[0] != '\0', "there is a text", where);
    test.require(std::strchr(error->text, '\n') == nullptr, "the text is one line", where);
    test.require(std::memchr(error->text, '\0', sizeof error->text) != nullptr, "the text ends",
                 where);
}

// Checks that the world works: all ranks can use an allocation, and its id is the same everywhere.
void expect_healthy(Ranks &test, Ranks::Where where = Ranks::Where::current()) {
    const sennit_gptr segment = test.allocate(64, 0, 0, where);
    const auto ids = test.tell_all(segment.segment, where);
    for (const std::uint32_t id : ids)
        test.equal(id, segment.segment, where);
    const std::uint64_t word = static_cast<std::uint64_t>(test.rank) + 5;
    test.ok(sennit_put(sennit_gptr_at(segment, test.next()), &word, sizeof word), where);
    test.barrier(where);
    std::uint64_t got = 0;
    test.ok(sennit_get(&got, segment, sizeof got), where);
    test.equal(got, static_cast<std::uint64_t>(test.previous()) + 5, where);
    test.free(segment, where);
}

}  // namespace

// Broken by a message that describes the error but not the probable intention.
RANK_TEST(error, errors_of_common_mistakes_name_the_likely_intention, kAnything) {
    const auto says = [&](const char *words) {
        test.require(std::strstr(sennit_last_error()->text, words) != nullptr, words);
    };
    const std::uint64_t word = 0;
    sennit_gptr never_set = SENNIT_GPTR_NULL;
    never_set.rank = test.next();
    test.is(sennit_put(never_set, &word, 8), SENNIT_ERR_ARG);
    says("the global pointer is null");
    test.is(sennit_free(never_set), SENNIT_ERR_ARG);
    says("the global pointer is null");
    // Fortran's constants are integers, so no compiler notices that two of them are swapped.
    double one = 1;
    const sennit_reduction swapped =
        sennit_reduction_of(SENNIT_DOUBLE, static_cast<sennit_type>(1000), SENNIT_SUM);
    test.is(sennit_allreduce(SENNIT_TEAM_WORLD, &one, &one, swapped, SENNIT_FOREVER),
            SENNIT_ERR_ARG);
    says("there is no type 1000 (sennit_reduction_of takes count, type and operator)");
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    test.is(sennit_signal_create(0, 0, 0, &signal), SENNIT_ERR_ARG);
    says("at least 1 event");
    test.is(sennit_signal_create(2, 0, 0, &signal), SENNIT_ERR_ARG);
    says("max_events (0) must be at least events (2)");
    double sum = 0;
    test.is(sennit_allreduce(SENNIT_TEAM_WORLD, &sum, &sum,
                             sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), SENNIT_FOREVER),
            SENNIT_ERR_ARG);
    says("for integers");
    // The caller meant ten seconds.
    sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, 10);
    if (status == SENNIT_ERR_TIMEOUT) {
        says("nanoseconds");
        status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    }
    test.ok(status);
    // The rank in a team, where the rank in the world is needed.
    sennit_team team = SENNIT_TEAM_NULL;
    sennit_gptr segment = SENNIT_GPTR_NULL;
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, test.rank % 2, test.rank, &team));
    test.ok(sennit_alloc(team, 8, 0, 0, &segment));
    const int stranger = 1 - test.rank % 2;
    if (stranger < test.size) {
        test.is(sennit_put(sennit_gptr_at(segment, stranger), &word, 8), SENNIT_ERR_NOT_REGISTERED);
        says("world ranks");
    }
    test.ok(sennit_free(segment));
    test.ok(sennit_team_destroy(team));
}

// Broken by the "in place" marker used as an address, which ends the program.
RANK_TEST(error, the_mark_for_in_place_is_refused_as_a_destination, kAnything) {
    void *const mark = SENNIT_IN_PLACE;
    const auto refused = [&](sennit_status status, Ranks::Where where = Ranks::Where::current()) {
        test.is(status, SENNIT_ERR_ARG, where);
        test.require(std::strstr(sennit_last_error()->text, "in place") != nullptr ||
                         std::strstr(sennit_last_error()->text, "IN_PLACE") != nullptr,
                     "the message names the mark", where);
    };
    const auto team = SENNIT_TEAM_WORLD;
    const auto ranks = static_cast<std::size_t>(test.size);
    std::vector<double> data(ranks, 1);
    std::vector<std::size_t> sizes(ranks, 8);
    const sennit_vbuffer blocks{data.data(), sizes.data(), nullptr};
    const sennit_vbuffer nowhere{mark, sizes.data(), nullptr};
    const sennit_reduction sum = sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_SUM);
    refused(sennit_allreduce(team, data.data(), mark, sum, SENNIT_FOREVER));
    refused(sennit_scan(team, data.data(), mark, sum, SENNIT_FOREVER));
    refused(sennit_allgather(team, data.data(), mark, 8, SENNIT_FOREVER));
    refused(sennit_alltoall(team, data.data(), mark, 8, SENNIT_FOREVER));
    refused(sennit_broadcast(team, 0, mark, 8, SENNIT_FOREVER));
    refused(sennit_allgatherv(team, data.data(), 8, &nowhere, SENNIT_FOREVER));
    refused(sennit_alltoallv(team, &blocks, &nowhere, SENNIT_FOREVER));
    sennit_request request = SENNIT_REQUEST_NULL;
    refused(sennit_allreduce_nb(team, data.data(), mark, sum, &request));
    // At the root of a scatter the marker is valid; where no result is written it is not read.
    const bool is_root = test.rank == 0;
    if (!is_root) {
        refused(sennit_scatter(team, 0, data.data(), mark, 8, SENNIT_FOREVER));
        refused(sennit_scatterv(team, 0, &blocks, mark, 8, SENNIT_FOREVER));
    }
    test.ok(sennit_scatter(team, 0, data.data(), is_root ? mark : data.data(), 8, SENNIT_FOREVER));
    test.ok(sennit_gather(team, 0, is_root ? mark : data.data(), is_root ? data.data() : mark, 8,
                          SENNIT_FOREVER));
}

// Broken by a negative number that is reported as too large.
RANK_TEST(error, a_negative_size_of_a_box_is_called_negative, kAnything) {
    const sennit_gptr segment = test.allocate(64);
    const double data[8] = {};
    sennit_box box = sennit_box_line(8, static_cast<std::size_t>(-2), 8, 8);
    test.is(sennit_put_strided(segment, data, &box), SENNIT_ERR_RANGE);
    test.require(std::strstr(sennit_last_error()->text, "-2 is negative") != nullptr,
                 "the count is named");
    box = sennit_box_line(static_cast<std::size_t>(-8), 2, 8, 8);
    test.is(sennit_put_strided(segment, data, &box), SENNIT_ERR_RANGE);
    test.require(std::strstr(sennit_last_error()->text, "-8 is negative") != nullptr,
                 "the size is named");
    const sennit_piece piece{0, 0, static_cast<std::size_t>(-4)};
    test.is(sennit_put_indexed(segment, data, 1, &piece), SENNIT_ERR_RANGE);
    test.require(std::strstr(sennit_last_error()->text, "-4 is negative") != nullptr,
                 "a piece is named");
    test.free(segment);
}

// Broken by an error that names another function or peer, or forgets its text.
RANK_TEST(error, the_last_error_names_operation_and_peer, kAnything) {
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    const sennit_gptr past = sennit_gptr_add(there, 60);
    std::uint64_t word = 0;
    sennit_request request = SENNIT_REQUEST_NULL;
    test.is(sennit_put(past, &word, 8), SENNIT_ERR_RANGE);
    expect_details(test, SENNIT_ERR_RANGE, "sennit_put", test.next());
    test.is(sennit_get(&word, past, 8), SENNIT_ERR_RANGE);
    expect_details(test, SENNIT_ERR_RANGE, "sennit_get", test.next());
    test.is(sennit_put_nb(past, &word, 8, &request), SENNIT_ERR_RANGE);
    expect_details(test, SENNIT_ERR_RANGE, "sennit_put_nb", test.next());
    test.is(sennit_get_nb(&word, past, 8, &request), SENNIT_ERR_RANGE);
    expect_details(test, SENNIT_ERR_RANGE, "sennit_get_nb", test.next());
    test.is(sennit_put_nbi(past, &word, 8), SENNIT_ERR_RANGE);
    expect_details(test, SENNIT_ERR_RANGE, "sennit_put_nbi", test.next());
    test.is(sennit_get_nbi(&word, past, 8), SENNIT_ERR_RANGE);
    expect_details(test, SENNIT_ERR_RANGE, "sennit_get_nbi", test.next());
    test.is(sennit_put(there, nullptr, 8), SENNIT_ERR_ARG);
    test.require(std::strcmp(sennit_last_error()->operation, "sennit_put") == 0, "named");
    test.is(sennit_flush(test.size, 0), SENNIT_ERR_RANGE);
    expect_details(test, SENNIT_ERR_RANGE, "sennit_flush", -1);
    const sennit_gptr unknown{test.next(), there.segment + 0x12345600u, 0};
    test.is(sennit_put(unknown, &word, 8), SENNIT_ERR_NOT_REGISTERED);
    expect_details(test, SENNIT_ERR_NOT_REGISTERED, "sennit_put", test.next());
    test.barrier();
    test.free(segment);
}

// Broken by outputs that are written before the call can no longer fail.
RANK_TEST(error, an_error_leaves_outputs_as_they_were, kAnything) {
    const sennit_gptr before{3, 0xdeadbeef, 99};
    sennit_gptr gptr = before;
    test.is(sennit_alloc_local(8, 3, 0, &gptr), SENNIT_ERR_ARG);
    test.is(sennit_alloc_local(8, 0, 0x80, &gptr), SENNIT_ERR_ARG);
    test.is(sennit_alloc_local(SIZE_MAX, 0, 0, &gptr), SENNIT_ERR_NOMEM);
    test.is(sennit_alloc(sennit_team{77}, 8, 0, 0, &gptr), SENNIT_ERR_ARG);
    test.is(sennit_alloc(SENNIT_TEAM_WORLD, 8, 5, 0, &gptr), SENNIT_ERR_ARG);
    test.is(sennit_alloc(SENNIT_TEAM_WORLD, SIZE_MAX, 0, 0, &gptr), SENNIT_ERR_NOMEM);
    test.equal(gptr.rank, before.rank);
    test.equal(gptr.segment, before.segment);
    test.equal(gptr.offset, before.offset);
    std::size_t bytes = 4711;
    test.is(sennit_segment_bytes(before, &bytes),
            test.size > 3 ? SENNIT_ERR_NOT_REGISTERED : SENNIT_ERR_RANGE);
    test.equal(bytes, 4711u);
    sennit_request request{12345};
    std::uint64_t word = 0;
    test.is(sennit_put_nb(sennit_gptr{-1, 1, 0}, &word, 8, &request), SENNIT_ERR_RANGE);
    test.equal(request.handle, 12345u);
    sennit_locality_level level = SENNIT_LOCALITY_NETWORK;
    test.is(sennit_locality(-1, &level), SENNIT_ERR_RANGE);
    test.equal(level, SENNIT_LOCALITY_NETWORK);
    sennit_path path = SENNIT_PATH_MPI;
    test.is(sennit_peer_path(test.size, &path), SENNIT_ERR_RANGE);
    test.equal(path, SENNIT_PATH_MPI);
    test.barrier();
}

// Broken by one error record for all threads.
RANK_TEST(error, each_thread_has_its_own_last_error, kFreeThreads) {
    std::uint64_t word = 0;
    test.is(sennit_put(sennit_gptr{INT_MAX, 1, 0}, &word, 8), SENNIT_ERR_RANGE);
    sennit_status seen = SENNIT_ERR_INTERNAL;
    sennit_status made = SENNIT_OK;
    std::thread other([&] {
        seen = sennit_last_error()->status;
        (void)sennit_error_report(SENNIT_ERR_FABRIC, "other_thread", "text", 5);
        made = sennit_last_error()->status;
    });
    other.join();
    test.equal(seen, SENNIT_OK);
    test.equal(made, SENNIT_ERR_FABRIC);
    test.equal(sennit_last_error()->status, SENNIT_ERR_RANGE);
}

// Broken by a report that loses a part of its arguments.
RANK_TEST(error, a_binding_can_report_errors_of_its_own, kAnything) {
    test.is(sennit_error_report(SENNIT_ERR_UNSUPPORTED, "binding_call", "what happened", -12),
            SENNIT_ERR_UNSUPPORTED);
    expect_details(test, SENNIT_ERR_UNSUPPORTED, "binding_call", -1);
    test.equal(sennit_last_error()->provider_code, -12);
    test.require(std::strcmp(sennit_last_error()->text, "what happened") == 0,
                 "the text is copied");
}

// Broken by a rank that refuses its arguments and leaves the others waiting, by a rank that keeps a
// segment which the others gave up, and by tables that differ afterwards.
RANK_TEST(error, wrong_arguments_of_one_rank_are_an_error_on_all, kAnything) {
    struct Case {
        std::size_t bytes;
        std::size_t alignment;
        unsigned flags;
        bool null_output;
        sennit_status wanted;
    };
    const Case cases[] = {
        {64, 3, 0, false, SENNIT_ERR_ARG},
        {64, std::size_t{1} << 31, 0, false, SENNIT_ERR_ARG},
        {64, 0, 0x100, false, SENNIT_ERR_ARG},
        {64, 0, 0, true, SENNIT_ERR_ARG},
        {SIZE_MAX, 0, 0, false, SENNIT_ERR_NOMEM},
        {std::size_t{1} << 45, 0, 0, false, SENNIT_ERR_NOMEM},
        {65, 0, 0, false, SENNIT_ERR_ARG},
        {64, 128, 0, false, SENNIT_ERR_ARG},
        {64, 0, SENNIT_ALLOC_RESERVE, false, SENNIT_ERR_ARG},
    };
    for (int culprit = 0; culprit < test.size; ++culprit) {
        for (const Case &wrong : cases) {
            // Arguments that merely differ are an error only with another rank.
            const bool only_differs = wrong.alignment % 64 == 0 && wrong.bytes < 100 &&
                                      wrong.flags < 4 && !wrong.null_output;
            if (only_differs && test.size == 1) continue;
            const bool mine = culprit == test.rank;
            sennit_gptr gptr{9, 9, 9};
            const sennit_status status =
                sennit_alloc(SENNIT_TEAM_WORLD, mine ? wrong.bytes : 64, mine ? wrong.alignment : 0,
                             mine ? wrong.flags : 0, mine && wrong.null_output ? nullptr : &gptr);
            test.is(status, wrong.wanted);
            test.equal(gptr.segment, 9u);
            test.require(std::strcmp(sennit_last_error()->operation, "sennit_alloc") == 0, "named");
        }
        expect_healthy(test);
    }
}

// Broken by a call on a nonexistent team that takes part nevertheless.
RANK_TEST(error, a_team_that_does_not_exist_is_refused_at_once, kAnything) {
    for (const std::uint32_t handle : {0u, 3u, 0x401u, 0xffffffffu}) {
        test.is(sennit_barrier(sennit_team{handle}, SENNIT_FOREVER), SENNIT_ERR_ARG);
        sennit_gptr gptr{9, 9, 9};
        test.is(sennit_alloc(sennit_team{handle}, 8, 0, 0, &gptr), SENNIT_ERR_ARG);
        test.equal(gptr.segment, 9u);
    }
    expect_healthy(test);
}
