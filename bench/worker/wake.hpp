// Operations of rank 0 on memory of rank 1, which is on another node and sleeps or computes.
#pragma once

#include <sennit/memory.h>

#include <cstdint>
#include <functional>

#include "worker/measure.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

enum class Target : std::uint8_t { asleep, busy };

struct WakeKind {
    static constexpr int kOrigin = 0;  // ranks
    static constexpr int kTarget = 1;

    const char *name;
    bool is_put;
    Target target;
    // What rank 1 calls after each 2 ms of sleep, or each kWorkSteps; empty: it makes no call.
    std::function<void()> call;
};

// A computation that no compiler shortens, of a nanosecond or two a step.
inline void compute_for(int steps) {
    std::uint64_t value = 1;
    for (int i = 0; i < steps; ++i) {
        value = value * 6364136223846793005 + 1442695040888963407;
        keep(value);
    }
}
inline constexpr int kWorkSteps = 1'000'000;

// By the provider, whose target sleeps in fi_trywait and poll, in a thread of its own where the
// rank computes; and by Sennit. Collective.
Subject raw_wake(const Job &job, const WakeKind &kind);
Subject sennit_wake(const Job &job, const WakeKind &kind, sennit_gptr there);

}  // namespace sennit::bench
