// Instructions that the language lacks, on processors of other kinds. The build chooses the folder.
#pragma once

namespace sennit::bench {

// No instruction known.
inline void cpu_pause() {
    __asm__ __volatile__("" ::: "memory");
}

// Fetches the line for a write; another core may have it.
inline void prefetch_to_write(const void *place) {
    __builtin_prefetch(place, 1);
}

}  // namespace sennit::bench
