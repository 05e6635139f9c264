// What every error promises: nothing changed, the details filled, and for collective calls an error
// on all ranks.
#include "harness.hpp"

#include <climits>
#include <thread>

using namespace conformance;

namespace {

void expect_details(Ranks &it, sennit_status status, const char *operation, int peer,
                    Ranks::Where where = Ranks::Where::current()) {
    const sennit_error *error = sennit_last_error();
    it.equal(error->status, status, where);
    it.require(std::strcmp(error->operation, operation) == 0, "the operation is named", where);
    it.equal(error->peer, peer, where);
    it.require(error->path != nullptr, "the path is never null", where);
    it.require(error->text[0] != '\0', "there is a text", where);
    it.require(std::strchr(error->text, '\n') == nullptr, "the text is one line", where);
    it.require(std::memchr(error->text, '\0', sizeof error->text) != nullptr, "it ends", where);
}

// The world works: an allocation that all ranks can use, with the same id everywhere.
void expect_healthy(Ranks &it, Ranks::Where where = Ranks::Where::current()) {
    const sennit_gptr segment = it.allocate(64, 0, 0, where);
    const auto ids = it.tell_all(segment.segment, where);
    for (const std::uint32_t id : ids)
        it.equal(id, segment.segment, where);
    const std::uint64_t word = static_cast<std::uint64_t>(it.rank) + 5;
    it.ok(sennit_put(sennit_gptr_at(segment, it.next()), &word, sizeof word), where);
    it.barrier(where);
    std::uint64_t got = 0;
    it.ok(sennit_get(&got, segment, sizeof got), where);
    it.equal(got, static_cast<std::uint64_t>(it.previous()) + 5, where);
    it.free(segment, where);
}

}  // namespace

// Broken by a message that says what is wrong in the words of the library and not what was meant.
RANK_TEST(error, a_usual_mistake_is_answered_with_what_was_meant, kAnything) {
    const auto says = [&](const char *words) {
        it.require(std::strstr(sennit_last_error()->text, words) != nullptr, words);
    };
    const std::uint64_t word = 0;
    sennit_gptr never_set = SENNIT_GPTR_NULL;
    never_set.rank = it.next();
    it.is(sennit_put(never_set, &word, 8), SENNIT_ERR_NOT_REGISTERED);
    says("the global pointer is null");
    it.is(sennit_free(never_set), SENNIT_ERR_NOT_REGISTERED);
    says("the global pointer is null");
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    it.is(sennit_signal_create(0, 0, &signal), SENNIT_ERR_ARG);
    says("at least 1 event");
    it.is(sennit_signal_create(2, 0, &signal), SENNIT_ERR_ARG);
    says("2 events are more than max_events, 0");
    double sum = 0;
    it.is(sennit_allreduce(SENNIT_TEAM_WORLD, &sum, &sum,
                           sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_XOR), SENNIT_FOREVER),
          SENNIT_ERR_ARG);
    says("for integers");
    // Ten was meant to be seconds.
    sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, 10);
    if (status == SENNIT_ERR_TIMEOUT) {
        says("nanoseconds");
        status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    }
    it.ok(status);
    // The number of a rank in its team, where that of the world is wanted.
    sennit_team team = SENNIT_TEAM_NULL;
    sennit_gptr segment = SENNIT_GPTR_NULL;
    it.ok(sennit_team_split(SENNIT_TEAM_WORLD, it.rank % 2, it.rank, &team));
    it.ok(sennit_alloc(team, 8, 0, 0, &segment));
    const int stranger = 1 - it.rank % 2;
    if (stranger < it.size) {
        it.is(sennit_put(sennit_gptr_at(segment, stranger), &word, 8), SENNIT_ERR_NOT_REGISTERED);
        says("world ranks");
    }
    it.ok(sennit_free(segment));
    it.ok(sennit_team_destroy(team));
}

// Broken by an error that names another function or peer, or forgets its text.
RANK_TEST(error, the_last_error_names_operation_and_peer, kAnything) {
    const sennit_gptr segment = it.allocate(64);
    const sennit_gptr there = sennit_gptr_at(segment, it.next());
    const sennit_gptr past = sennit_gptr_add(there, 60);
    std::uint64_t word = 0;
    sennit_request request = SENNIT_REQUEST_NULL;
    it.is(sennit_put(past, &word, 8), SENNIT_ERR_RANGE);
    expect_details(it, SENNIT_ERR_RANGE, "sennit_put", it.next());
    it.is(sennit_get(&word, past, 8), SENNIT_ERR_RANGE);
    expect_details(it, SENNIT_ERR_RANGE, "sennit_get", it.next());
    it.is(sennit_put_nb(past, &word, 8, &request), SENNIT_ERR_RANGE);
    expect_details(it, SENNIT_ERR_RANGE, "sennit_put_nb", it.next());
    it.is(sennit_get_nb(&word, past, 8, &request), SENNIT_ERR_RANGE);
    expect_details(it, SENNIT_ERR_RANGE, "sennit_get_nb", it.next());
    it.is(sennit_put_nbi(past, &word, 8), SENNIT_ERR_RANGE);
    expect_details(it, SENNIT_ERR_RANGE, "sennit_put_nbi", it.next());
    it.is(sennit_get_nbi(&word, past, 8), SENNIT_ERR_RANGE);
    expect_details(it, SENNIT_ERR_RANGE, "sennit_get_nbi", it.next());
    it.is(sennit_put(there, nullptr, 8), SENNIT_ERR_ARG);
    it.require(std::strcmp(sennit_last_error()->operation, "sennit_put") == 0, "named");
    it.is(sennit_flush(it.size, 0), SENNIT_ERR_RANGE);
    expect_details(it, SENNIT_ERR_RANGE, "sennit_flush", -1);
    const sennit_gptr unknown{it.next(), there.segment + 0x12345600u, 0};
    it.is(sennit_put(unknown, &word, 8), SENNIT_ERR_NOT_REGISTERED);
    expect_details(it, SENNIT_ERR_NOT_REGISTERED, "sennit_put", it.next());
    it.barrier();
    it.free(segment);
}

// Broken by outputs that are written before the call is known to succeed.
RANK_TEST(error, an_error_leaves_outputs_as_they_were, kAnything) {
    const sennit_gptr before{3, 0xdeadbeef, 99};
    sennit_gptr gptr = before;
    it.is(sennit_alloc_local(8, 3, 0, &gptr), SENNIT_ERR_ARG);
    it.is(sennit_alloc_local(8, 0, 0x80, &gptr), SENNIT_ERR_ARG);
    it.is(sennit_alloc_local(SIZE_MAX, 0, 0, &gptr), SENNIT_ERR_NOMEM);
    it.is(sennit_alloc(sennit_team{77}, 8, 0, 0, &gptr), SENNIT_ERR_ARG);
    it.is(sennit_alloc(SENNIT_TEAM_WORLD, 8, 5, 0, &gptr), SENNIT_ERR_ARG);
    it.is(sennit_alloc(SENNIT_TEAM_WORLD, SIZE_MAX, 0, 0, &gptr), SENNIT_ERR_NOMEM);
    it.equal(gptr.rank, before.rank);
    it.equal(gptr.segment, before.segment);
    it.equal(gptr.offset, before.offset);
    std::size_t bytes = 4711;
    it.is(sennit_segment_bytes(before, &bytes),
          it.size > 3 ? SENNIT_ERR_NOT_REGISTERED : SENNIT_ERR_RANGE);
    it.equal(bytes, 4711u);
    sennit_request request{12345};
    std::uint64_t word = 0;
    it.is(sennit_put_nb(sennit_gptr{-1, 1, 0}, &word, 8, &request), SENNIT_ERR_RANGE);
    it.equal(request.handle, 12345u);
    sennit_locality_level level = SENNIT_LOCALITY_NETWORK;
    it.is(sennit_locality(-1, &level), SENNIT_ERR_RANGE);
    it.equal(level, SENNIT_LOCALITY_NETWORK);
    sennit_path path = SENNIT_PATH_MPI;
    it.is(sennit_peer_path(it.size, &path), SENNIT_ERR_RANGE);
    it.equal(path, SENNIT_PATH_MPI);
    it.barrier();
}

// Broken by one record for all threads.
RANK_TEST(error, each_thread_has_its_own_last_error, kFreeThreads) {
    std::uint64_t word = 0;
    it.is(sennit_put(sennit_gptr{INT_MAX, 1, 0}, &word, 8), SENNIT_ERR_RANGE);
    sennit_status seen = SENNIT_ERR_INTERNAL;
    sennit_status made = SENNIT_OK;
    std::thread other([&] {
        seen = sennit_last_error()->status;
        (void)sennit_error_report(SENNIT_ERR_FABRIC, "other_thread", "text", 5);
        made = sennit_last_error()->status;
    });
    other.join();
    it.equal(seen, SENNIT_OK);
    it.equal(made, SENNIT_ERR_FABRIC);
    it.equal(sennit_last_error()->status, SENNIT_ERR_RANGE);
}

// Broken by a report that loses what it was given.
RANK_TEST(error, a_binding_can_report_errors_of_its_own, kAnything) {
    it.is(sennit_error_report(SENNIT_ERR_UNSUPPORTED, "binding_call", "what happened", -12),
          SENNIT_ERR_UNSUPPORTED);
    expect_details(it, SENNIT_ERR_UNSUPPORTED, "binding_call", -1);
    it.equal(sennit_last_error()->provider_code, -12);
    it.require(std::strcmp(sennit_last_error()->text, "what happened") == 0, "the text is copied");
}

// Broken by a rank that leaves the others waiting when it refuses its arguments, by a rank that
// keeps a segment the others gave up, and by tables that go apart.
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
    for (int culprit = 0; culprit < it.size; ++culprit) {
        for (const Case &wrong : cases) {
            // Arguments that are only different are an error only where there is another rank.
            const bool only_differs = wrong.alignment % 64 == 0 && wrong.bytes < 100 &&
                                      wrong.flags < 4 && !wrong.null_output;
            if (only_differs && it.size == 1) continue;
            const bool mine = culprit == it.rank;
            sennit_gptr gptr{9, 9, 9};
            const sennit_status status =
                sennit_alloc(SENNIT_TEAM_WORLD, mine ? wrong.bytes : 64, mine ? wrong.alignment : 0,
                             mine ? wrong.flags : 0, mine && wrong.null_output ? nullptr : &gptr);
            it.is(status, wrong.wanted);
            it.equal(gptr.segment, 9u);
            it.require(std::strcmp(sennit_last_error()->operation, "sennit_alloc") == 0, "named");
        }
        expect_healthy(it);
    }
}

// Broken by a call on a team that does not exist which takes part all the same.
RANK_TEST(error, a_team_that_does_not_exist_is_refused_at_once, kAnything) {
    for (const std::uint32_t handle : {0u, 3u, 0x401u, 0xffffffffu}) {
        it.is(sennit_barrier(sennit_team{handle}, SENNIT_FOREVER), SENNIT_ERR_ARG);
        sennit_gptr gptr{9, 9, 9};
        it.is(sennit_alloc(sennit_team{handle}, 8, 0, 0, &gptr), SENNIT_ERR_ARG);
        it.equal(gptr.segment, 9u);
    }
    expect_healthy(it);
}
