// Tells the processor that this is a wait: 64-bit Arm processors. The build chooses the folder.
#pragma once

namespace sennit::bench {

inline void cpu_pause() {
    __asm__ __volatile__("yield" ::: "memory");
}

}  // namespace sennit::bench
