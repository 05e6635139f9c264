// Collective calls of ranks on several nodes, where a leader speaks for its node:
//   meetings RANK
// RANK dies at the end; the other ranks exit with 0. Broken by messages that do not reach all
// members, by a refusal or a death that some rank does not learn of, and by a barrier that waits
// longer than it may.
#include <sennit/sennit.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

constexpr std::int64_t kLimit = 30'000'000'000;

int size = 0;
int self = 0;

void expect(bool good, const char *what) {
    if (good) return;
    std::fprintf(stderr, "rank %d: %s: %s\n", self, what, sennit_last_error()->text);
    std::_Exit(1);
}

void pass_on(sennit_team team, const char *what) {
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    int members = 0;
    int member = 0;
    expect(sennit_team_size(team, &members) == SENNIT_OK, what);
    expect(sennit_team_rank(team, &member) == SENNIT_OK, what);
    expect(sennit_alloc(team, 8, 0, 0, &gptr) == SENNIT_OK, what);
    int next = 0;
    expect(
        sennit_team_translate(team, (member + 1) % members, SENNIT_TEAM_WORLD, &next) == SENNIT_OK,
        what);
    const std::int64_t word = member + 100;
    expect(sennit_put(sennit_gptr_at(gptr, next), &word, 8) == SENNIT_OK, what);
    expect(sennit_barrier(team, kLimit) == SENNIT_OK, what);
    const auto *mine = static_cast<const std::int64_t *>(sennit_ptr(gptr));
    expect(*mine == (member + members - 1) % members + 100, what);
    expect(sennit_free(gptr) == SENNIT_OK, what);
}

void refusals_reach_all() {
    for (int bad = 0; bad < size; ++bad) {
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        const std::size_t bytes = self == bad ? 128 : 64;
        expect(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &gptr) == SENNIT_ERR_ARG,
               "another size of one rank");
        expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, self == bad ? 3 : 0, 0, &gptr) == SENNIT_ERR_ARG,
               "a refusal of one rank");
        expect(self == bad || sennit_last_error()->peer == bad, "the rank that has refused");
    }
    pass_on(SENNIT_TEAM_WORLD, "after the refusals");
}

void teams_in_any_order() {
    sennit_team team = SENNIT_TEAM_NULL;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, -self, &team) == SENNIT_OK, "reversed");
    pass_on(team, "reversed");
    expect(sennit_team_destroy(team) == SENNIT_OK, "reversed");
    // One team has several nodes, the other one may have only one.
    for (int turn = 0; turn < 3; ++turn) {
        expect(sennit_team_split(SENNIT_TEAM_WORLD, self % 2, 0, &team) == SENNIT_OK, "odd");
        pass_on(team, "odd");
        expect(sennit_team_destroy(team) == SENNIT_OK, "odd");
        expect(sennit_team_split(SENNIT_TEAM_WORLD, self < 2 ? 0 : 1, 0, &team) == SENNIT_OK,
               "low");
        pass_on(team, "low");
        expect(sennit_team_destroy(team) == SENNIT_OK, "low");
    }
}

void regions_of_all() {
    std::vector<std::int64_t> memory(512, self);
    std::vector<sennit_region> regions(static_cast<std::size_t>(size));
    sennit_region mine;
    expect(sennit_register(memory.data(), 4096, 0, &mine) == SENNIT_OK, "sennit_register");
    for (int turn = 0; turn < 3; ++turn) {
        expect(sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions.data()) == SENNIT_OK,
               "regions");
        for (int peer = 0; peer < size; ++peer) {
            std::int64_t word = -1;
            expect(sennit_get(&word, regions[static_cast<std::size_t>(peer)].gptr, 8) == SENNIT_OK,
                   "a region of a peer");
            expect(word == peer, "the word in the region");
        }
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "regions");
    expect(sennit_deregister(mine) == SENNIT_OK, "sennit_deregister");
}

double now_s() {
    timespec now{};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Each rank in turn is late. It sleeps outside of Sennit, so only its thread serves the others.
void late_ranks_are_not_waited_for() {
    for (int late = 0; late < size; ++late) {
        expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "before");
        if (self == late) {
            (void)usleep(700'000);
        } else {
            const double start = now_s();
            const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, 20'000'000);
            expect(status == SENNIT_ERR_TIMEOUT || now_s() - start > 0.5, "a late rank");
            expect(status != SENNIT_OK || now_s() - start < 30, "a late rank");
            expect(status == SENNIT_OK || sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK,
                   "the rest of the meeting");
        }
        if (self == late)
            expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "the late rank");
    }
    pass_on(SENNIT_TEAM_WORLD, "after the late ranks");
}

}  // namespace

// The rank that dies waits here until all others have left the last call.
void wait_for_all(sennit_gptr words, int rank) {
    const std::int64_t one = 1;
    if (self != rank) {
        const sennit_gptr there = sennit_gptr_add(sennit_gptr_at(words, rank), 8 * self);
        expect(sennit_put(there, &one, sizeof one) == SENNIT_OK, "a word");
        return;
    }
    for (int other = 0; other < size; ++other)
        for (std::int64_t word = 0; other != self && word != one;)
            expect(sennit_get(&word, sennit_gptr_add(sennit_gptr_at(words, rank), 8 * other),
                              sizeof word) == SENNIT_OK,
                   "a word");
}

int main(int, char **argv) {
    const int dies = std::atoi(argv[1]);
    expect(sennit_init(nullptr) == SENNIT_OK, "sennit_init");
    size = sennit_size();
    self = sennit_rank();
    sennit_gptr words = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, static_cast<std::size_t>(8 * size), 0, 0, &words) ==
               SENNIT_OK,
           "sennit_alloc");
    refusals_reach_all();
    teams_in_any_order();
    regions_of_all();
    late_ranks_are_not_waited_for();
    wait_for_all(words, dies);
    if (self == dies) (void)raise(SIGKILL);
    sennit_status status = SENNIT_ERR_TIMEOUT;
    const double start = now_s();
    while (status == SENNIT_ERR_TIMEOUT && now_s() - start < 30)
        status = sennit_barrier(SENNIT_TEAM_WORLD, 100'000'000);
    // A rank that learned of the death first may have left before this rank learned of it.
    const sennit_error &error = *sennit_last_error();
    const bool names_it = error.peer == dies || std::strstr(error.text, "has left") != nullptr;
    expect(status == SENNIT_ERR_PEER_LOST && names_it, "a death");
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr) == SENNIT_ERR_PEER_LOST,
           "an allocation after a death");
    (void)sennit_finalize();
    std::printf("rank %d has heard of it\n", self);
    return 0;
}
