// SPDX-License-Identifier: BSD-3-Clause
// From which size on a collective call asks first whether its buffers can be used where they are.
// Below, everything is copied through the slots, which takes one meeting of the ranks less for each
// call. The numbers in choices.def are those of bench/collectives.json, made by
// tools/tune-collectives.
#pragma once

#include <cstddef>

namespace sennit::coll {

struct Choices {
#define SENNIT_CHOICE(name, bytes, meaning) std::size_t name = bytes;
#include "coll/choices.def"
#undef SENNIT_CHOICE
};

}  // namespace sennit::coll
