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
    // Rank 1 calls this after each 2 ms of sleep, or after kWorkSteps; empty: it makes no call.
    std::function<void()> call;
};

// A computation that no compiler shortens. A step takes one or two nanoseconds.
inline void compute_for(int steps) {
    std::uint64_t value = 1;
    for (int i = 0; i < steps; ++i) {
        value = value * 6364136223846793005 + 1442695040888963407;
        keep(value);
    }
}
inline constexpr int kWorkSteps = 1'000'000;

// The subjects of the provider and of Sennit. The provider's target sleeps by fi_trywait and poll,
// in a separate thread if the rank computes. Collective.
Subject raw_wake(const Job &job, const WakeKind &kind);
Subject sennit_wake(const Job &job, const WakeKind &kind, sennit_gptr there);

}  // namespace sennit::bench
