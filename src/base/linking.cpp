// SPDX-License-Identifier: BSD-3-Clause
// A program with shared libraries names its loader (the interpreter) in a segment of its file.
#include "base/linking.hpp"

#include <link.h>

#include <cstddef>

namespace sennit {
namespace {

// Called for the program first, and ends the search there: 1 with an interpreter, 2 without.
int look_at_program(dl_phdr_info *program, std::size_t, void *) {
    for (int i = 0; i < program->dlpi_phnum; ++i)
        if (program->dlpi_phdr[i].p_type == PT_INTERP) return 1;
    return 2;
}

}  // namespace

bool linked_statically() {
    return dl_iterate_phdr(look_at_program, nullptr) == 2;
}

}  // namespace sennit
