// SPDX-License-Identifier: BSD-3-Clause
// Checks of invariants in the presets dev, asan and tsan (SENNIT_ASSERTIONS in cmake/). There a
// broken invariant ends the program with its text. No other build contains the checks, so the
// library that users run never aborts.
#pragma once

namespace sennit {

#if defined(SENNIT_CHECKS_INVARIANTS)
inline constexpr bool kChecksInvariants = true;
#else
inline constexpr bool kChecksInvariants = false;
#endif

[[noreturn]] void invariant_is_broken(const char *what, const char *file, int line);

}  // namespace sennit

// A macro, because it needs the condition's text and other builds must not evaluate the condition.
#define SENNIT_INVARIANT(condition)                                            \
    do {                                                                       \
        if constexpr (::sennit::kChecksInvariants) {                           \
            if (!(condition)) [[unlikely]]                                     \
                ::sennit::invariant_is_broken(#condition, __FILE__, __LINE__); \
        }                                                                      \
    } while (false)
