// The shapes of the strided benchmarks: runs at equal distances, the same on both sides.
#pragma once

#include <sennit/rma.h>

#include <cstdint>
#include <string>

namespace sennit::bench {

struct Stripes {
    std::string name;         // of the subjects: "words", "rows"
    std::uint64_t run_bytes;  // a multiple of 8
    std::uint64_t stride;     // from run to run
    std::uint64_t count;      // runs

    std::uint64_t span() const { return (count - 1) * stride + run_bytes; }
    sennit_box box() const {
        const auto step = static_cast<std::int64_t>(stride);
        return {run_bytes, {count, 1, 1}, {step, 0, 0}, {step, 0, 0}};
    }
};

// One word of each cache line, like a face of a field across its rows; and rows of a field.
inline Stripes words_of(std::uint64_t bytes) {
    return {"words", 8, 64, bytes / 8};
}
inline Stripes rows_of(std::uint64_t bytes) {
    const std::uint64_t run = bytes < 512 ? bytes : 512;
    return {"rows", run, 2048, bytes / run};
}

}  // namespace sennit::bench
