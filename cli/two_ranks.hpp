// Two ranks of this very program, for what only two can tell. Used by `sennit info` and
// `sennit doctor`.
#pragma once

#include <string>

namespace sennit::cli {

struct TwoRanks {
    int exit_code;
    std::string text;  // the peers section as JSON if the code is 0, else why there is none
};

// `sennit run -n 2 sennit info --peers --json`, without a shell and without a thread. Ends after
// `limit_s`. No process of this one's may be waited for meanwhile.
TwoRanks start_two_ranks(int limit_s);

}  // namespace sennit::cli
