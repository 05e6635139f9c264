// A put, and an operation on a word of the same rank that tells of it: sennit_put_word().
#pragma once

#include <sennit/atomic.h>

#include "op/engine.hpp"

namespace sennit::op {

struct PutWordArgs {
    sennit_gptr destination;
    const void *source;
    std::size_t bytes;
    sennit_gptr word;
    sennit_operator operation;
    std::uint64_t value;
    Completion::Mode mode;  // of the put: local or implicit
};

// Errors: as the public calls.
[[gnu::cold]] sennit_status put_word(Rank &rank, const PutWordArgs &args);

}  // namespace sennit::op
