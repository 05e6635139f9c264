// The open files that the launcher needs. Used by the launcher and by `sennit doctor`.
#pragma once

#include <cstdint>

namespace sennit::cli {

// The open files that the keeper needs: for each rank two pipes, a control socket and a connection;
// and some to read /proc. If the limit allows more, the keeper also opens a pidfd for each rank.
constexpr std::uint64_t files_of_keeper(std::uint64_t ranks) {
    return 4 * ranks + 32;
}

}  // namespace sennit::cli
