// A put and a get of 8 bytes whose target is on another node and makes no call: it sleeps, or it
// computes on its processor. Whoever serves it there sleeps until the operation comes: the thread
// that Sennit has for that, against one that sleeps in fi_trywait and poll. An MPI has none.
#include <sennit/sennit.h>

#include <atomic>
#include <ctime>
#include <stdexcept>
#include <thread>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

constexpr int kOrigin = 0;
constexpr int kTarget = 1;
// After which a sleeper looks whether the batch is over.
constexpr int kSleepMs = 2;

enum class Target { asleep, busy };

struct Kind {
    const char *name;
    bool is_put;
    Target target;
};

// Until goes_on() is false.
template <class GoesOn>
void compute(const GoesOn &goes_on) {
    std::uint64_t value = 1;
    while (goes_on())
        for (int i = 0; i < 1000; ++i) {
            value = value * 6364136223846793005 + 1442695040888963407;
            keep(value);
        }
}

Subject raw(const Job &job, const Kind &kind) {
    const auto word = std::make_shared<std::uint64_t>(1);
    const auto operation = [word, is_put = kind.is_put](const RawNetwork &rail) {
        if (is_put)
            rail.put(word.get(), sizeof *word);
        else
            rail.get(word.get(), sizeof *word);
    };
    const auto serve = [target = kind.target](const RawNetwork &rail, const auto &goes_on) {
        const auto sleep = [&] {
            while (goes_on())
                rail.sleep(kSleepMs);
        };
        if (target == Target::asleep) return sleep();
        std::thread server(sleep);
        compute(goes_on);
        server.join();
    };
    return raw_by_network(
        job, std::make_shared<RawNetwork>(job, sizeof *word, RawNetwork::Use::sleeping), operation,
        serve);
}

Subject by_sennit(const Job &job, const Kind &kind, sennit_gptr there) {
    std::uint64_t *const over = job.raw_flag(kOrigin, kOrigin);
    *over = 0;
    job.barrier();
    const auto serve = [target = kind.target](const auto &goes_on) {
        if (target == Target::busy) return compute(goes_on);
        constexpr timespec kSleep{0, kSleepMs * 1'000'000};
        while (goes_on())
            (void)nanosleep(&kSleep, nullptr);
    };
    const char *const name = kind.is_put ? "sennit-put" : "sennit-get";
    return {name, [=, &job, is_put = kind.is_put,
                   number = std::uint64_t{0}](std::size_t operations) mutable {
                ++number;
                if (job.rank() == kOrigin) {
                    int failures = 0;
                    std::uint64_t word = 1;
                    const Interval elapsed = time_batch(operations, [&] {
                        failures |= is_put ? sennit_put(there, &word, sizeof word)
                                           : sennit_get(&word, there, sizeof word);
                    });
                    post_flag(over, number);
                    if (failures != SENNIT_OK) check(sennit_last_error()->status, name);
                    return elapsed;
                }
                // SYNC bench-flag: pairs with the release in post_flag(); nothing hangs on it.
                serve([&] { return Flag(*over).load(std::memory_order_acquire) < number; });
                return kNotTimed;
            }};
}

}  // namespace

void run_wake(const Run &run) {
    const Job &job = run.job;
    if (job.size() != 2 || !job.spans_nodes())
        throw std::runtime_error("a sleeping target wants two ranks on two nodes");
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(std::uint64_t), 0, 0, &own), "sennit_alloc");
    for (const Kind &kind : {Kind{"wake-put", true, Target::asleep},
                             {"wake-get", false, Target::asleep},
                             {"wake-put-busy", true, Target::busy},
                             {"wake-get-busy", false, Target::busy}}) {
        Case what{kind.name, sizeof(std::uint64_t), 1.0, {}};
        what.subjects.push_back(raw(job, kind));
        what.subjects.push_back(by_sennit(job, kind, sennit_gptr_at(own, kTarget)));
        measure_in_turn(job, what, run.limits);
        what.subjects.clear();
    }
    check(sennit_free(own), "sennit_free");
}

}  // namespace sennit::bench
