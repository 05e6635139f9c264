// SPDX-License-Identifier: BSD-3-Clause
// Why a mechanism (control_block.hpp) was not used for a registration: a code, and a detail that is
// an errno or 0. The owner publishes both in the record of the segment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::memory {

enum class Refusal : std::uint8_t {
#define SENNIT_REFUSAL(name, number, sentence) name = number,
#include "memory/refusals.def"
#undef SENNIT_REFUSAL
};

struct Refused {
    Refusal code = Refusal::none;
    std::int32_t detail = 0;

    bool is_none() const { return code == Refusal::none; }
};

// Writes one sentence, cut to `bytes` and always terminated. Accepts any value.
void refusal_text(Refused refused, char *text, std::size_t bytes);

}  // namespace sennit::memory
