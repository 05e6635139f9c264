// SPDX-License-Identifier: BSD-3-Clause
// Short files in which the kernel tells about itself and its processes, in /proc and /sys.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit {

// The start of the file as text. False: it can not be read.
bool read_system_file(const char *name, char *text, std::size_t bytes);

// The number behind the first `key` in the file, at its start if that is "". `otherwise`: it can
// not be read, or there is none.
std::uint64_t number_in_file(const char *name, const char *key, std::uint64_t otherwise);

}  // namespace sennit
