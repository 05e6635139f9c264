// Barriers of all ranks, compared with two by hand: every rank increments a word on its own line
// and polls the lines of the others; or all add to one counter, and the last rank starts the next
// generation. Between two ranks on two nodes, compared with a put of the provider in each
// direction.
#include <sennit/sennit.h>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

Subject raw_flags(const Job &job) {
    const int rank = job.rank();
    const int size = job.size();
    const bool yields = job.is_oversubscribed();
    std::vector<std::uint64_t *> flags;
    for (int other = 0; other < size; ++other) {
        flags.push_back(job.raw_flag(other, other));
    }
    const std::uint64_t first = *flags[static_cast<std::size_t>(rank)];
    return {"raw-flags", [=, number = first](std::size_t operations) mutable {
                return time_batch(operations, [&] {
                    ++number;
                    post_flag(flags[static_cast<std::size_t>(rank)], number);
                    // seq_cst: the store leaves the store buffer before this core polls; without
                    // it the others wait longer.
                    std::atomic_thread_fence(std::memory_order_seq_cst);
                    for (std::uint64_t *flag : flags) {
                        wait_for_flag(flag, number, yields);
                    }
                });
            }};
}

Subject raw_counter(const Job &job) {
    const auto size = static_cast<std::uint64_t>(job.size());
    const bool yields = job.is_oversubscribed();
    // These lines are in the payload of rank 0, apart from the flags.
    auto *const arrived = reinterpret_cast<std::uint64_t *>(job.raw_payload(0));
    auto *const generation = reinterpret_cast<std::uint64_t *>(job.raw_payload(0) + kLineBytes);
    const std::uint64_t first = *generation;
    return {"raw-counter", [=, number = first](std::size_t operations) mutable {
                return time_batch(operations, [&] {
                    ++number;
                    // SYNC bench-counter: pairs with the acquire of the last rank; accesses before
                    // this arrival.
                    const auto before = Flag(*arrived).fetch_add(1, std::memory_order_release);
                    if (before + 1 == size * number) {
                        // SYNC bench-counter: pairs with the releases of the earlier ranks.
                        std::atomic_thread_fence(std::memory_order_acquire);
                        post_flag(generation, number);
                    } else {
                        wait_for_flag(generation, number, yields);
                    }
                });
            }};
}

// For two ranks on two nodes: each puts a word to the other and polls its own.
Subject raw_puts(const Job &job) {
    auto network = std::make_shared<RawNetwork>(job, sizeof(std::uint64_t));
    const std::string provider = network->provider();
    return {"raw-" + provider,
            [network, number = std::uint64_t{0}](std::size_t operations) mutable {
                return time_batch(operations, [&] { network->barrier(++number); });
            },
            provider};
}

Subject sennit_barrier_subject() {
    return {"sennit-barrier", [](std::size_t operations) {
                bool all_right = true;
                const Interval elapsed = time_batch(operations, [&] {
                    all_right &= sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK;
                });
                if (!all_right) {
                    check(sennit_last_error()->status, "sennit_barrier");
                }
                return elapsed;
            }};
}

}  // namespace

void run_barrier(const Run &run) {
    Case what{"barrier", 0, 1.0, {}};
    if (run.job.spans_nodes()) {
        what.subjects.push_back(raw_puts(run.job));
    } else {
        what.subjects.push_back(raw_flags(run.job));
        what.subjects.push_back(raw_counter(run.job));
    }
    what.subjects.push_back(sennit_barrier_subject());
    for (Subject &subject : run.library.barrier(run.job)) {
        what.subjects.push_back(std::move(subject));
    }
    measure_in_turn(run.job, what, run.limits);
}

}  // namespace sennit::bench
