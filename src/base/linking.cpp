// SPDX-License-Identifier: BSD-3-Clause
// A program with shared libraries names its loader (the interpreter) in a segment of its file.
#include "base/linking.hpp"

#include <link.h>

#include <cstddef>

namespace sennit {
namespace {

// Called for the program first, and only once, because the result is never 0: 1 if the program has
// an interpreter, 2 if not.
int find_interpreter(dl_phdr_info *program, std::size_t, void *) {
    for (int i = 0; i < program->dlpi_phnum; ++i)
        if (program->dlpi_phdr[i].p_type == PT_INTERP) return 1;
    return 2;
}

}  // namespace

bool linked_statically() {
    return dl_iterate_phdr(find_interpreter, nullptr) == 2;
}

}  // namespace sennit
