// SPDX-License-Identifier: BSD-3-Clause
// Checks of invariants, for builds with the option SENNIT_ASSERTIONS (presets dev, asan and tsan).
// In these builds a broken invariant prints its text and ends the program. Other builds do not
// contain the checks, so the library that users run never aborts.
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
