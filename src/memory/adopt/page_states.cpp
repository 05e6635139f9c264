// SPDX-License-Identifier: BSD-3-Clause
#include "memory/adopt/page_states.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw.hpp"
#include "memory/file.hpp"

namespace sennit::memory::adopt {

PageStates::PageStates() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
    // The first call uses the C library, which read() must not do.
    (void)page_bytes();
}

PageStates::~PageStates() {
    if (file_ >= 0) (void)close(file_);
}

bool PageStates::read(std::uint64_t address, std::uint64_t pages, std::uint64_t *states) const {
    const std::uint64_t bytes = pages * sizeof *states;
    const std::uint64_t at = address / page_bytes() * sizeof *states;
    return file_ >= 0 &&
           raw_call(SYS_pread64, file_, states, bytes, at) == static_cast<long>(bytes);
}

}  // namespace sennit::memory::adopt
