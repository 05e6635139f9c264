// Instructions that the language lacks, on 64-bit Arm processors. The build chooses the folder.
#pragma once

namespace sennit::bench {

// Tells the processor that this is a wait.
inline void cpu_pause() {
    __asm__ __volatile__("yield" ::: "memory");
}

// Asks for the line, which is about to be written and may be with another core.
inline void prefetch_to_write(const void *place) {
    __builtin_prefetch(place, 1);
}

}  // namespace sennit::bench
