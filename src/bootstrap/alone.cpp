// SPDX-License-Identifier: BSD-3-Clause
// The launcher of last resort, always present: a program without another launcher is one rank. Owns
// nothing.
#include <cstdio>
#include <cstring>

#include "bootstrap/bootstrap.hpp"

namespace sennit::runtime {
namespace {

int gather_one(void *, const void *mine, void *all, std::size_t bytes, std::int64_t) {
    if (bytes > 0 && all != mine) std::memmove(all, mine, bytes);
    return 0;
}

int barrier_alone(void *, std::int64_t) {
    return 0;
}

bool present(char *reason, std::size_t bytes) {
    (void)std::snprintf(reason, bytes, "always present, with one rank");
    return true;
}

sennit_status open(std::int64_t, sennit_bootstrap *out) {
    *out = sennit_bootstrap{
        sizeof(sennit_bootstrap), "alone", nullptr, 0, 1, gather_one, barrier_alone, nullptr};
    return SENNIT_OK;
}

}  // namespace

const Launcher kAloneLauncher = {"alone", present, open};

}  // namespace sennit::runtime
