// SPDX-License-Identifier: BSD-3-Clause
// A program with shared libraries names its loader (the interpreter) in a segment of its file.
#include "base/linking.hpp"

#include <link.h>

#include <cstddef>

namespace sennit {
namespace {

// dl_iterate_phdr() calls this function for the program first. A result other than 0 ends the
// iteration, so there is no second call. 1: the program has an interpreter; 2: it has none.
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
