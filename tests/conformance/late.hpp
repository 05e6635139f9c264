// A rank that is late for as long as the others need, however slow the machine is: the other ranks
// put the number of a round into its words. `segment` has 8 zeroed bytes per rank.
#pragma once

#include <algorithm>
#include <vector>

#include "harness.hpp"

namespace conformance {

// Each of the other ranks calls it.
inline void tell_late(Ranks &test, sennit_gptr segment, int late, std::uint64_t round) {
    test.ok(sennit_put(sennit_gptr_add(sennit_gptr_at(segment, late), 8 * test.rank), &round, 8));
    test.ok(sennit_flush_all(20 * kSecond));
}

// Called by the late rank: makes no call that the others wait for, but some that progress the
// network.
inline void be_late(Ranks &test, sennit_gptr segment, std::uint64_t round) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(test.size));
    std::uint64_t word = 0;
    do {
        test.ok(sennit_get(&word, sennit_gptr_at(segment, test.next()), 8));
        // One get per word: a single word is never torn by a put.
        for (std::size_t i = 0; i < words.size(); ++i)
            test.ok(sennit_get(&words[i], sennit_gptr_add(segment, 8 * i), 8));
    } while (std::count(words.begin(), words.end(), round) < test.size - 1);
}

}  // namespace conformance
