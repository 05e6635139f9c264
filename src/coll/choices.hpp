// SPDX-License-Identifier: BSD-3-Clause
// The size from which a collective call first asks whether it can use its buffers in place. Smaller
// calls copy everything through the slots, which takes one synchronisation less.
// tools/tune-collectives makes the numbers in choices.def from bench/collectives.json.
#pragma once

#include <cstddef>

namespace sennit::coll {

struct Choices {
#define SENNIT_CHOICE(name, bytes, meaning) std::size_t name = bytes;
#include "coll/choices.def"
#undef SENNIT_CHOICE
};

}  // namespace sennit::coll
