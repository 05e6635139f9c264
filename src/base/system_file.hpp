// SPDX-License-Identifier: BSD-3-Clause
// Reads short files of the kernel in /proc and /sys.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit {

// Reads the start of the file as text. False: it cannot be read.
bool read_system_file(const char *name, char *text, std::size_t bytes);

// The number after the first `key` in the file, or at its start if `key` is "". Returns `otherwise`
// if the file cannot be read or has no such number.
std::uint64_t number_in_file(const char *name, const char *key, std::uint64_t otherwise);

}  // namespace sennit
