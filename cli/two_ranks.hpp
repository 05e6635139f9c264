// Two ranks of this program, for results that need two ranks. Used by `sennit info` and `sennit
// doctor`.
#pragma once

#include <string>

namespace sennit::cli {

struct TwoRanks {
    int exit_code;
    std::string text;  // the peers section as JSON if the code is 0, else the reason of the failure
};

// Runs `sennit run -n 2 sennit info --peers --json`, without a shell and without a thread. Ends
// after `limit_s`. Meanwhile this process must not wait for other child processes.
TwoRanks start_two_ranks(int limit_s);

}  // namespace sennit::cli
