// SPDX-License-Identifier: BSD-3-Clause
#include "memory/refusal.hpp"

#include <cstdio>
#include <cstring>

namespace sennit::memory {
namespace {

const char *sentence_of(Refusal code) {
    switch (code) {
#define SENNIT_REFUSAL(name, number, sentence) \
    case Refusal::name:                        \
        return sentence;
#include "memory/refusals.def"
#undef SENNIT_REFUSAL
    }
    return "unknown";
}

}  // namespace

void refusal_text(Refused refused, char *text, std::size_t bytes) {
    const char *sentence = sentence_of(refused.code);
    char system[96];
    if (refused.detail == 0) {
        (void)std::snprintf(text, bytes, "%s", sentence);
    } else {
        (void)std::snprintf(text, bytes, "%s: %s", sentence,
                            strerror_r(refused.detail, system, sizeof system));
    }
}

}  // namespace sennit::memory
