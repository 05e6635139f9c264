// A put and a get of 8 bytes whose target is on another node and makes no call: it sleeps or
// computes. A thread there sleeps until the operation arrives, and serves it: Sennit's progress
// thread, compared with a thread that sleeps by fi_trywait and poll. An MPI has no such thread.
#include <sennit/sennit.h>

#include <atomic>
#include <ctime>
#include <stdexcept>
#include <thread>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"
#include "worker/wake.hpp"

namespace sennit::bench {

namespace {

constexpr int kOrigin = WakeKind::kOrigin;
constexpr int kTarget = WakeKind::kTarget;
// The interval at which a sleeper checks whether the batch is over.
constexpr int kSleepMs = 2;

}  // namespace

Subject raw_wake(const Job &job, const WakeKind &kind) {
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
        while (goes_on())
            compute_for(1000);
        server.join();
    };
    return raw_by_network(
        job, std::make_shared<RawNetwork>(job, sizeof *word, RawNetwork::Use::sleeping), operation,
        serve);
}

Subject sennit_wake(const Job &job, const WakeKind &kind, sennit_gptr there) {
    std::uint64_t *const over = job.raw_flag(kOrigin, kOrigin);
    *over = 0;
    job.barrier();
    const auto serve = [kind](const auto &goes_on) {
        constexpr timespec kSleep{0, kSleepMs * 1'000'000};
        while (goes_on()) {
            if (kind.target == Target::busy)
                compute_for(kind.call ? kWorkSteps : 1000);
            else
                (void)nanosleep(&kSleep, nullptr);
            if (kind.call) kind.call();
        }
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
                // SYNC bench-flag: pairs with the release in post_flag(); no other data depends on
                // it.
                serve([&] { return Flag(*over).load(std::memory_order_acquire) < number; });
                return kNotTimed;
            }};
}

void run_wake(const Run &run) {
    const Job &job = run.job;
    if (job.size() != 2 || !job.spans_nodes())
        throw std::runtime_error("a sleeping target needs two ranks on two nodes");
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(std::uint64_t), 0, 0, &own), "sennit_alloc");
    for (const WakeKind &kind : {WakeKind{"wake-put", true, Target::asleep, {}},
                                 {"wake-get", false, Target::asleep, {}},
                                 {"wake-put-busy", true, Target::busy, {}},
                                 {"wake-get-busy", false, Target::busy, {}}}) {
        Case what{kind.name, sizeof(std::uint64_t), 1.0, {}};
        what.subjects.push_back(raw_wake(job, kind));
        what.subjects.push_back(sennit_wake(job, kind, sennit_gptr_at(own, kTarget)));
        measure_in_turn(job, what, run.limits);
        what.subjects.clear();
    }
    check(sennit_free(own), "sennit_free");
}

}  // namespace sennit::bench
