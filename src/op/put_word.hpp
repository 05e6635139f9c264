// SPDX-License-Identifier: BSD-3-Clause
// sennit_put_word(): a put, then an operation on a word of the same rank.
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
    Completion::Mode mode;  // mode of the put: local or implicit
};

// Sends one task: at most engine_most_word_data() bytes of data, and an operation on a word of the
// same segment. Errors: those of engine_start().
sennit_status start_word_task(Rank &rank, Target target, const void *data, std::size_t bytes,
                              const WordTask &task, const Completion &completion);

// Errors: as sennit_put_word().
[[gnu::cold]] sennit_status put_word(Rank &rank, const PutWordArgs &args);

}  // namespace sennit::op
