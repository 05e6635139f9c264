// Atomic operations of rank 0 on a word of rank 1, of all ranks on one word, accumulate, and locks,
// compared with the instructions. Each kind is a separate case. Between nodes only one rank works,
// compared with the provider's atomic operations.
#include <sennit/sennit.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "worker/cases.hpp"
#include "worker/check.hpp"
#include "worker/raw_network.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

constexpr int kOrigin = 0;
constexpr int kTarget = 1;

// The ranks that work: rank 0 alone, or all at once.
bool works(const Job &job, AtomicKind kind) {
    return is_contended(kind) || job.rank() == kOrigin;
}

template <class Operation>
Subject by_workers(std::string name, const Job &job, AtomicKind kind, Operation operation) {
    const bool active = works(job, kind);
    return {std::move(name), [=](std::size_t operations) mutable {
                return active ? time_batch(operations, operation) : kNotTimed;
            }};
}

// The same for calls of Sennit. Their statuses are checked after the batch.
template <class Operation>
Subject by_sennit(std::string name, const Job &job, AtomicKind kind, Operation operation) {
    const bool active = works(job, kind);
    return {name, [=](std::size_t operations) {
                int failures = 0;
                const Interval elapsed =
                    active ? time_batch(operations, [&] { failures |= operation(); }) : kNotTimed;
                if (failures != SENNIT_OK) {
                    check(sennit_last_error()->status, name.c_str());
                }
                return elapsed;
            }};
}

Subject raw_add(const Job &job, AtomicKind kind, std::uint64_t *word) {
    return by_workers("raw-xadd", job, kind, [word] {
        // relaxed: on x86 every read-modify-write is the same instruction.
        std::uint64_t old = Flag(*word).fetch_add(1, std::memory_order_relaxed);
        keep(old);
    });
}

Subject raw_compare_swap(const Job &job, AtomicKind kind, std::uint64_t *word) {
    return by_workers("raw-cmpxchg", job, kind, [word, value = std::uint64_t{0}]() mutable {
        // relaxed: on x86 every read-modify-write is the same instruction.
        (void)Flag(*word).compare_exchange_strong(value, value + 1, std::memory_order_relaxed);
        keep(value);
    });
}

// The accumulate by hand: a sum of doubles, each by a compare and swap.
Subject raw_accumulate(const Job &job, AtomicKind kind, double *there, std::size_t count) {
    return by_workers("raw-cmpxchg-loop", job, kind, [=]() mutable {
        keep(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::atomic_ref<double> element(there[i]);
            // relaxed twice: on x86 every read-modify-write is the same instruction.
            double old = element.load(std::memory_order_relaxed);
            while (!element.compare_exchange_weak(old, old + 1.0, std::memory_order_relaxed)) {
            }
        }
    });
}

// A spinning lock: no order, no time limit, no detection of deaths.
Subject raw_lock(const Job &job, AtomicKind kind, std::uint64_t *word) {
    const bool yields = job.is_oversubscribed();
    return by_workers("raw-spinlock", job, kind, [=] {
        // SYNC bench-lock: pairs with the release below.
        while (Flag(*word).exchange(1, std::memory_order_acquire) != 0) {
            if (yields) {
                sched_yield();
            } else {
                cpu_pause();
            }
        }
        // SYNC bench-lock: pairs with the acquire above.
        Flag(*word).store(0, std::memory_order_release);
    });
}

Subject sennit_accumulate_subject(std::string name, const Job &job, sennit_gptr there,
                                  const std::vector<double> &ones) {
    return by_sennit(std::move(name), job, AtomicKind::accumulate, [there, &ones] {
        return static_cast<int>(
            sennit_accumulate(there, ones.data(), ones.size(), SENNIT_DOUBLE, SENNIT_SUM));
    });
}

Subject sennit_subject(const Job &job, AtomicKind kind, sennit_gptr there, sennit_lock lock,
                       const std::vector<double> &ones) {
    switch (kind) {
        case AtomicKind::fetch_add:
        case AtomicKind::fetch_add_contended:
            return by_sennit("sennit-fetch-add", job, kind, [there] {
                std::uint64_t old = 0;
                const int status = sennit_atomic_fetch_add_u64(there, 1, &old);
                keep(old);
                return status;
            });
        case AtomicKind::compare_swap:
            return by_sennit("sennit-compare-swap", job, kind, [there] {
                static std::uint64_t value = 0;
                const std::uint64_t expected = value;
                const int status =
                    sennit_atomic_compare_swap_u64(there, expected, expected + 1, &value);
                if (value == expected) {
                    ++value;
                }
                return status;
            });
        case AtomicKind::accumulate:
            return sennit_accumulate_subject("sennit-accumulate", job, there, ones);
        case AtomicKind::lock:
        case AtomicKind::lock_contended:
            break;
    }
    return by_sennit("sennit-lock", job, kind, [lock] {
        return sennit_lock_acquire(lock, SENNIT_FOREVER) | sennit_lock_release(lock);
    });
}

// The first provider with atomic operations: `net` of libfabric 1.17, which Sennit uses, has none.
Subject raw_card(const Job &job, AtomicKind kind) {
    const auto network =
        std::make_shared<RawNetwork>(job, sizeof(std::uint64_t), RawNetwork::Use::atomics);
    if (kind == AtomicKind::fetch_add)
        return raw_by_network(job, network, [](const RawNetwork &rail) {
            std::uint64_t old = rail.add(1);
            keep(old);
        });
    return raw_by_network(job, network, [value = std::uint64_t{0}](const RawNetwork &rail) mutable {
        value = rail.compare_swap(value, value + 1);
    });
}

Subject raw_subject(const Job &job, AtomicKind kind, std::byte *there, std::size_t count) {
    auto *const word = reinterpret_cast<std::uint64_t *>(there);
    switch (kind) {
        case AtomicKind::fetch_add:
        case AtomicKind::fetch_add_contended:
            return raw_add(job, kind, word);
        case AtomicKind::compare_swap:
            return raw_compare_swap(job, kind, word);
        case AtomicKind::accumulate:
            return raw_accumulate(job, kind, reinterpret_cast<double *>(there), count);
        case AtomicKind::lock:
        case AtomicKind::lock_contended:
            break;
    }
    return raw_lock(job, kind, reinterpret_cast<std::uint64_t *>(there) + 2 * kLineBytes / 8);
}

void run_kind(const Run &run, AtomicKind kind, std::uint64_t bytes) {
    const Job &job = run.job;
    const std::size_t room = bytes + 4 * kLineBytes;
    const std::vector<double> ones(bytes / sizeof(double), 1.0);
    sennit_gptr own = SENNIT_GPTR_NULL;
    sennit_gptr in_turn = SENNIT_GPTR_NULL;
    sennit_lock lock = SENNIT_LOCK_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, room, 4096, 0, &own), "sennit_alloc");
    check(sennit_alloc(SENNIT_TEAM_WORLD, room, 4096, SENNIT_ALLOC_ACCUMULATE, &in_turn),
          "sennit_alloc");
    check(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), "sennit_lock_create");
    const sennit_gptr there = sennit_gptr_at(own, kTarget);
    auto *const place = static_cast<std::byte *>(sennit_ptr(there));
    if (place == nullptr && !job.spans_nodes()) {
        check(sennit_last_error()->status, "sennit_ptr");
    }
    job.barrier();
    Case what{atomic_name(kind), bytes, 1.0, {}};
    what.subjects.push_back(job.spans_nodes() ? raw_card(job, kind)
                                              : raw_subject(job, kind, place, ones.size()));
    what.subjects.push_back(sennit_subject(job, kind, there, lock, ones));
    if (kind == AtomicKind::accumulate) {
        what.subjects.push_back(sennit_accumulate_subject("sennit-accumulate-locked", job,
                                                          sennit_gptr_at(in_turn, kTarget), ones));
    }
    for (Subject &subject : run.library.atomic(job, kind, bytes)) {
        what.subjects.push_back(std::move(subject));
    }
    measure_in_turn(job, what, run.limits);
    what.subjects.clear();
    check(sennit_lock_destroy(lock), "sennit_lock_destroy");
    check(sennit_free(in_turn), "sennit_free");
    check(sennit_free(own), "sennit_free");
}

// Checks the timed operations: every rank adds, and no addition may be lost.
void verify_counting(const Job &job) {
    constexpr std::uint64_t kEach = 1000;
    sennit_gptr own = SENNIT_GPTR_NULL;
    check(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &own), "sennit_alloc");
    const sennit_gptr there = sennit_gptr_at(own, kTarget);
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < kEach; ++i) {
        check(sennit_atomic_fetch_add_u64(there, 1, &value), "sennit_atomic_fetch_add_u64");
    }
    job.barrier();
    check(sennit_atomic_fetch_u64(there, &value), "sennit_atomic_fetch_u64");
    if (value != kEach * static_cast<std::uint64_t>(job.size())) {
        throw std::runtime_error("an addition was lost");
    }
    check(sennit_free(own), "sennit_free");
}

}  // namespace

const char *atomic_name(AtomicKind kind) {
    switch (kind) {
        case AtomicKind::fetch_add:
            return "fetch-add";
        case AtomicKind::fetch_add_contended:
            return "fetch-add-contended";
        case AtomicKind::compare_swap:
            return "compare-swap";
        case AtomicKind::accumulate:
            return "accumulate";
        case AtomicKind::lock:
            return "lock";
        case AtomicKind::lock_contended:
            break;
    }
    return "lock-contended";
}

void run_atomic(const Run &run) {
    if (run.job.size() < 2) {
        throw std::runtime_error("atomic operations on another rank need two ranks");
    }
    verify_counting(run.job);
    if (run.job.spans_nodes()) {
        run_kind(run, AtomicKind::fetch_add, 8);
        run_kind(run, AtomicKind::compare_swap, 8);
        return;
    }
    for (const AtomicKind kind :
         {AtomicKind::fetch_add, AtomicKind::fetch_add_contended, AtomicKind::compare_swap,
          AtomicKind::lock, AtomicKind::lock_contended}) {
        run_kind(run, kind, 8);
    }
    for (const std::uint64_t bytes : run.sizes) {
        run_kind(run, AtomicKind::accumulate, bytes);
    }
}

}  // namespace sennit::bench
