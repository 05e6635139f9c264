// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/domains.hpp"

#include <bit>
#include <cstdlib>

namespace sennit::runtime {

bool is_within(const ProcessorSet &part, const ProcessorSet &whole) {
    std::uint64_t any = 0;
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < kCpuWords; ++i) {
        any |= part.words[i];
        outside |= part.words[i] & ~whole.words[i];
    }
    return any != 0 && outside == 0;
}

int count_of(const ProcessorSet &set) {
    int count = 0;
    for (const std::uint64_t word : set.words)
        count += std::popcount(word);
    return count;
}

void domains_free(Domains *domains) {
    if (domains == nullptr) return;
    std::free(domains->all);
    std::free(domains->ranks);
    delete domains;
}

}  // namespace sennit::runtime
