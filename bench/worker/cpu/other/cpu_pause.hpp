// Tells the processor that this is a wait: nothing to tell to processors of other kinds. The build
// chooses the folder.
#pragma once

namespace sennit::bench {

inline void cpu_pause() {
    __asm__ __volatile__("" ::: "memory");
}

}  // namespace sennit::bench
