// A rank that comes late for as long as the others want, however slow the machine is: those that
// are in time put the number of a round into words of its own. `segment` has 8 zeroed bytes for a
// rank.
#pragma once

#include <algorithm>
#include <vector>

#include "harness.hpp"

namespace conformance {

// By each of the others.
inline void tell_late(Ranks &test, sennit_gptr segment, int late, std::uint64_t round) {
    test.ok(sennit_put(sennit_gptr_add(sennit_gptr_at(segment, late), 8 * test.rank), &round, 8));
    test.ok(sennit_flush_all(20 * kSecond));
}

// The late rank makes no call that the others wait for, but some that carry the network on.
inline void be_late(Ranks &test, sennit_gptr segment, std::uint64_t round) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(test.size));
    std::uint64_t word = 0;
    do {
        test.ok(sennit_get(&word, sennit_gptr_at(segment, test.next()), 8));
        // Each by itself: a single word is read whole while it is put.
        for (std::size_t i = 0; i < words.size(); ++i)
            test.ok(sennit_get(&words[i], sennit_gptr_add(segment, 8 * i), 8));
    } while (std::count(words.begin(), words.end(), round) < test.size - 1);
}

}  // namespace conformance
