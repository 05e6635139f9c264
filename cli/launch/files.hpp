// The open files that the launcher needs. Used by the launcher and by `sennit doctor`.
#pragma once

#include <cstdint>

namespace sennit::cli {

// Open files of the keeper: two pipes, control socket and connection of each rank, and some to read
// /proc. If the limit allows, also a pidfd of each rank.
constexpr std::uint64_t files_of_keeper(std::uint64_t ranks) {
    return 4 * ranks + 32;
}

}  // namespace sennit::cli
