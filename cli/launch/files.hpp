// What the launcher needs of the system, for itself and for `sennit doctor`.
#pragma once

#include <cstdint>

namespace sennit::cli {

// Open files of the keeper: two pipes, control socket and connection of each rank, and some to look
// at /proc. Where there is room it has a pidfd of each rank too.
constexpr std::uint64_t files_of_keeper(std::uint64_t ranks) {
    return 4 * ranks + 32;
}

}  // namespace sennit::cli
