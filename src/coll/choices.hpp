// SPDX-License-Identifier: BSD-3-Clause
// The sizes from which collective calls start with descriptions, lend private buffers to the
// kernel, or relay results. Smaller calls only use the slots, with one synchronisation less.
// tools/tune-collectives makes choices.def from bench/collectives.json.
#pragma once

#include <cstddef>

namespace sennit::coll {

struct Choices {
#define SENNIT_CHOICE(name, bytes, meaning) std::size_t name = bytes;
#include "coll/choices.def"
#undef SENNIT_CHOICE
};

}  // namespace sennit::coll
