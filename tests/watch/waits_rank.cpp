// Every kind of wait for a rank of another node that dies or falls silent. Rank i waits in the kind
// with number i for the last rank, which is alone on its node and, once all wait, stops or kills
// itself. Started by watch_test.py:
//
//     waits_rank KILL|STOP
//
// Each rank prints which rank it has lost, and when.
#include <sennit/sennit.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <unistd.h>

#include "events.hpp"

namespace {

struct Place {
    sennit_team pair = SENNIT_TEAM_NULL;               // this rank and the last one
    sennit_gptr there = SENNIT_GPTR_NULL;              // memory of the last rank
    sennit_peer_block block = SENNIT_PEER_BLOCK_NULL;  // the same memory
    sennit_lock lock = SENNIT_LOCK_NULL;               // held by the last rank
};

// Repeats the call until it fails.
template <class Call>
sennit_status repeat(const Call &call) {
    sennit_status status = SENNIT_OK;
    while (status == SENNIT_OK)
        status = call();
    return status;
}

std::uint64_t word = 1;
std::vector<std::byte> megabytes(1 << 20);

sennit_status put(const Place &place) {
    return repeat([&] { return sennit_put(place.there, &word, sizeof word); });
}

sennit_status get(const Place &place) {
    return repeat([&] { return sennit_get(&word, place.there, sizeof word); });
}

sennit_status get_large(const Place &place) {
    return repeat([&] { return sennit_get(megabytes.data(), place.there, megabytes.size()); });
}

sennit_status flush(const Place &place) {
    return repeat([&] {
        const sennit_status put = sennit_put_nbi(place.there, megabytes.data(), megabytes.size());
        const sennit_status flushed = sennit_flush(sennit_size() - 1, SENNIT_FOREVER);
        return put != SENNIT_OK ? put : flushed;
    });
}

sennit_status request(const Place &place) {
    return repeat([&] {
        sennit_request request = SENNIT_REQUEST_NULL;
        const sennit_status put = sennit_put_nb(place.there, &word, sizeof word, &request);
        return put != SENNIT_OK ? put : sennit_wait(&request, SENNIT_FOREVER);
    });
}

sennit_status atomic(const Place &place) {
    return repeat([&] { return sennit_atomic_fetch_add_u64(place.there, 1, &word); });
}

sennit_status notify(const Place &place) {
    return repeat([&] { return sennit_put_notify(place.block, 0, &word, sizeof word); });
}

sennit_status plan(const Place &place) {
    sennit_plan plan = SENNIT_PLAN_NULL;
    must(sennit_plan_create(&plan), "plan_create");
    must(sennit_plan_put(plan, place.block, 0, &word, sizeof word), "plan_put");
    must(sennit_plan_commit(plan, 0, 1), "plan_commit");
    return repeat([&] {
        const sennit_status started = sennit_plan_start(plan);
        return started != SENNIT_OK ? started : sennit_plan_wait(plan, SENNIT_FOREVER);
    });
}

sennit_status signal(const Place &) {
    sennit_signal signal{};
    must(sennit_signal_create(1, 1, 0, &signal), "signal_create");
    return sennit_signal_wait(signal, SENNIT_FOREVER);
}

sennit_status wait_word(const Place &) {
    static std::uint64_t never = 0;
    return sennit_signal_wait_word(&never, SENNIT_EQUAL, 1, SENNIT_FOREVER);
}

// OWNER_DIED is not the error of a lost peer, so put afterwards.
sennit_status lock(const Place &place) {
    const sennit_status status = sennit_lock_acquire(place.lock, SENNIT_FOREVER);
    if (status != SENNIT_ERR_OWNER_DIED) return status;
    return sennit_put(place.there, &word, sizeof word);
}

sennit_status barrier(const Place &place) {
    return sennit_barrier(place.pair, SENNIT_FOREVER);
}

sennit_status allreduce(const Place &place) {
    const double mine = 1;
    double sum = 0;
    return sennit_allreduce(place.pair, &mine, &sum,
                            sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_SUM), SENNIT_FOREVER);
}

sennit_status allocate(const Place &place) {
    sennit_gptr memory = SENNIT_GPTR_NULL;
    return sennit_alloc(place.pair, 64, 0, 0, &memory);
}

sennit_status create_team(const Place &place) {
    sennit_team team = SENNIT_TEAM_NULL;
    return sennit_team_split(place.pair, 0, 0, &team);
}

sennit_status finalize(const Place &) {
    return sennit_finalize();
}

struct Kind {
    const char *name;
    sennit_status (*wait)(const Place &place);
};
constexpr Kind kKinds[] = {{"put", put},
                           {"get", get},
                           {"get of megabytes", get_large},
                           {"flush", flush},
                           {"request", request},
                           {"atomic", atomic},
                           {"notified put", notify},
                           {"plan", plan},
                           {"signal", signal},
                           {"word", wait_word},
                           {"lock", lock},
                           {"barrier", barrier},
                           {"allreduce", allreduce},
                           {"alloc", allocate},
                           {"team", create_team},
                           {"finalize", finalize}};
constexpr int kRanks = sizeof kKinds / sizeof kKinds[0] + 1;

Place make_place(int self, int last) {
    Place place;
    sennit_gptr memory = SENNIT_GPTR_NULL;
    must(sennit_alloc(SENNIT_TEAM_WORLD, megabytes.size(), 0, 0, &memory), "alloc");
    place.there = sennit_gptr_at(memory, last);
    must(sennit_lock_create(SENNIT_TEAM_WORLD, &place.lock), "lock_create");
    if (self == last) must(sennit_lock_acquire(place.lock, SENNIT_FOREVER), "acquire");
    for (int other = 0; other < last; ++other) {
        const int both[] = {other, last};
        sennit_team team = SENNIT_TEAM_NULL;
        must(sennit_team_create(SENNIT_TEAM_WORLD, 2, both, &team), "team_create");
        if (self == other) place.pair = team;
    }
    sennit_block block;
    if (self == last)
        must(sennit_block_init({place.there, megabytes.size()}, 0, megabytes.size(),
                               SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, &block),
             "block_init");
    must(sennit_broadcast(SENNIT_TEAM_WORLD, last, &block, sizeof block, SENNIT_FOREVER),
         "broadcast");
    must(sennit_block_attach(&block, &place.block), "attach");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
    return place;
}

}  // namespace

int main(int, char **words) {
    must(sennit_init(nullptr), "init");
    const int self = sennit_rank();
    const int last = sennit_size() - 1;
    if (last != kRanks - 1) {
        std::printf("for %d ranks\n", kRanks);
        return 1;
    }
    const Place place = make_place(self, last);
    if (self == last) {
        (void)sleep(1);  // by then all wait
        say(self, "dies", getpid());
        (void)raise(std::strcmp(words[1], "STOP") == 0 ? SIGSTOP : SIGKILL);
        return 0;
    }
    const Kind &kind = kKinds[self];
    const sennit_status status = kind.wait(place);
    const bool is_lost = status == SENNIT_ERR_PEER_LOST;
    say(self, is_lost ? "lost" : sennit_status_string(status), sennit_last_error()->peer);
    if (kind.wait == finalize) return 0;
    (void)sleep(1);  // or a late rank would learn of this rank's leaving first
    (void)sennit_finalize();
    return 0;
}
