// From which size on a collective call asks first whether its buffers can be used where they are.
// Below, everything is copied through the slots, which takes one meeting of the ranks less for each
// call. The numbers in choices.def are those of bench/collectives.json, made by
// tools/tune-collectives.
#pragma once

#include <cstddef>

namespace sennit::coll {

struct Choices {
    // Private buffers that the kernel copies from (path cma): worth its system calls from here. Of
    // a broadcast every receiver reads the same bytes, which the slots bring into the first caches.
    std::size_t broadcast_by_kernel_from = 524288;
    std::size_t copy_by_kernel_from = 32768;
#define SENNIT_CHOICE(name, bytes, meaning) std::size_t name = bytes;
#include "coll/choices.def"
#undef SENNIT_CHOICE
};

}  // namespace sennit::coll
