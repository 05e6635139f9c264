// Instructions that the language lacks, on x86 processors. The build chooses the folder.
#pragma once

namespace sennit::bench {

// Tells the processor that this is a wait.
inline void cpu_pause() {
    __builtin_ia32_pause();
}

// Fetches the line for a write; another core may have it. The compiler's builtin would fetch it for
// a read.
inline void prefetch_to_write(const void *place) {
    __asm__ __volatile__("prefetchw %0" : : "m"(*static_cast<const char *>(place)));
}

}  // namespace sennit::bench
