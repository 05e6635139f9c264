// Instructions that the language lacks, on 64-bit Arm processors. The build chooses the folder.
#pragma once

namespace sennit::bench {

// Tells the processor that this is a wait.
inline void cpu_pause() {
    __asm__ __volatile__("yield" ::: "memory");
}

// Fetches the line for a write; another core may have it.
inline void prefetch_to_write(const void *place) {
    __builtin_prefetch(place, 1);
}

}  // namespace sennit::bench
