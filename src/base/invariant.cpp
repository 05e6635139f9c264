// SPDX-License-Identifier: BSD-3-Clause
#include "base/invariant.hpp"

#if defined(SENNIT_CHECKS_INVARIANTS)
#include <cstdio>
#include <cstdlib>

void sennit::invariant_is_broken(const char *what, const char *file, int line) {
    (void)std::fprintf(stderr, "sennit: %s:%d: broken invariant: %s\n", file, line, what);
    std::abort();
}
#endif
