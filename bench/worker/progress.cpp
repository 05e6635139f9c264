// Benefit and cost of Sennit's progress thread with the job's SENNIT_PROGRESS. Measures a put of 8
// bytes to a rank that sleeps or computes, and makes a call every one or two milliseconds, as a
// program without the thread must. Also measures the work of a rank to which another one puts
// meanwhile.
#include <sennit/sennit.h>

#include <stdexcept>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/wake.hpp"

namespace sennit::bench {

namespace {

constexpr int kOrigin = WakeKind::kOrigin;
constexpr int kTarget = WakeKind::kTarget;

// Processor time of the other threads of this process: those of Sennit and the MPI.
double others_cpu_ns() {
    return now_ns(CLOCK_PROCESS_CPUTIME_ID) - now_ns(CLOCK_THREAD_CPUTIME_ID);
}

enum class Clock : std::uint8_t { wall, others };
enum class Puts : std::uint8_t { none, all_the_time };

// Rank 1 works, one piece for each operation. Its time is measured, or that of the other threads of
// its process. Meanwhile rank 0 puts.
Subject work(const Job &job, const char *name, Clock clock, Puts puts, sennit_gptr there,
             const std::function<void()> &call) {
    std::uint64_t *const over = job.raw_flag(kOrigin, kTarget);
    *over = 0;
    job.barrier();
    return {name, [=, &job, number = std::uint64_t{0}](std::size_t operations) mutable {
                ++number;
                if (job.rank() == kTarget) {
                    const auto now = [clock] {
                        return clock == Clock::wall ? now_ns() : others_cpu_ns();
                    };
                    const double start = now();
                    for (std::size_t i = 0; i < operations; ++i) {
                        compute_for(kWorkSteps);
                        call();
                    }
                    // A time below a tick of the clock is 0, which cannot be reported.
                    const double end = std::max(now(), start + 1.0);
                    post_flag(over, number);
                    return Interval{start, end};
                }
                // SYNC bench-flag: pairs with the release in post_flag(); no other data depends on
                // it.
                const auto goes_on = [&] {
                    return Flag(*over).load(std::memory_order_acquire) < number;
                };
                const std::uint64_t word = number;
                while (puts == Puts::all_the_time && goes_on())
                    check(sennit_put(there, &word, sizeof word), "sennit_put");
                return kNotTimed;
            }};
}

}  // namespace

void run_progress(const Run &run) {
    const Job &job = run.job;
    if (job.size() != 2 || !job.spans_nodes())
        throw std::runtime_error("a thread for progress needs two ranks on two nodes");
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(std::uint64_t), 0, 0, &own), "sennit_alloc");
    const sennit_gptr there = sennit_gptr_at(own, kTarget);
    sennit_signal never = SENNIT_SIGNAL_NULL;
    check(sennit_signal_create(1, 1, 0, &never), "sennit_signal_create");
    const auto call = [never] {
        int has_fired = 0;
        check(sennit_signal_test(never, &has_fired), "sennit_signal_test");
    };
    for (const WakeKind &kind : {WakeKind{"progress-asleep", true, Target::asleep, call},
                                 {"progress-busy", true, Target::busy, call}}) {
        measure_in_turn(job,
                        {kind.name,
                         sizeof(std::uint64_t),
                         1.0,
                         {raw_wake(job, kind), sennit_wake(job, kind, there)}},
                        run.limits);
    }
    // Long enough for the clocks of threads, some of which count in ticks of the kernel.
    Limits limits = run.limits;
    limits.batch_ns = limits.shared_batch_ns = 50e6;
    limits.most_operations = 50;  // a thread may take no time at all
    measure_in_turn(
        job,
        {"progress-work",
         sizeof(std::uint64_t),
         1.0,
         {work(job, "raw-work", Clock::wall, Puts::none, there, [] {}),
          work(job, "sennit-work", Clock::wall, Puts::none, there, call),
          work(job, "sennit-work-put-to", Clock::wall, Puts::all_the_time, there, call),
          work(job, "sennit-thread", Clock::others, Puts::none, there, call),
          work(job, "sennit-thread-put-to", Clock::others, Puts::all_the_time, there, call)}},
        limits);
    check(sennit_signal_destroy(never), "sennit_signal_destroy");
    check(sennit_free(own), "sennit_free");
}

}  // namespace sennit::bench
