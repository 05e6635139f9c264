// Keys of NAS's Integer Sort, and the ranks by which it verifies a part of them (Bailey et al., The
// NAS Parallel Benchmarks, 1991, section 2.3.5; classes and test ranks as NPB 3 has them).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kernels {

struct Nas {
    const char *name;
    std::size_t total;     // number of keys
    std::uint64_t values;  // keys are less than this
    // The places of five keys, and for each the number of smaller keys in the first iteration.
    std::array<std::size_t, 5> places;
    std::array<std::int64_t, 5> ranks;
};

// Null for an unknown name.
const Nas *nas_class(const std::string &name);

// The keys from place `first` on, as in the first iteration.
void fill_nas_keys(const Nas &nas, std::size_t first, std::size_t count, std::uint32_t *keys);

}  // namespace kernels
