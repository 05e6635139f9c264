// Tells the processor that this is a wait: x86 processors. The build chooses the folder.
#pragma once

namespace sennit::bench {

inline void cpu_pause() {
    __builtin_ia32_pause();
}

}  // namespace sennit::bench
