// SPDX-License-Identifier: BSD-3-Clause
// Decides on which processors the copies use vectors.
#include "base/copy_vectors.hpp"

namespace sennit {
namespace {

bool is_measured() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

}  // namespace

bool has_copy_by_vectors = is_measured();

[[SENNIT_COPY_TARGET]] void copy_by_vectors(void *to, const void *from, std::size_t bytes) {
    copy_by_vectors_in_place(to, from, bytes);
}

}  // namespace sennit
