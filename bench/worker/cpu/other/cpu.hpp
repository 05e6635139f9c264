// Instructions that the language lacks, on processors of other kinds. The build chooses the folder.
#pragma once

namespace sennit::bench {

// Nothing to tell.
inline void cpu_pause() {
    __asm__ __volatile__("" ::: "memory");
}

// Asks for the line, which is about to be written and may be with another core.
inline void prefetch_to_write(const void *place) {
    __builtin_prefetch(place, 1);
}

}  // namespace sennit::bench
