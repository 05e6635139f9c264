// All processes below this one, even detached ones. The caller must be a subreaper
// (PR_SET_CHILD_SUBREAPER): then every orphan below it becomes its child, and "no child left" means
// that no descendant is left.
#pragma once

#include <sys/types.h>

#include <vector>

namespace sennit::cli {

// Every living descendant of the calling process; zombies are left out.
std::vector<pid_t> descendants();
// The descendants of another process below the caller.
std::vector<pid_t> descendants(pid_t root);

// Sends `signal` once to each descendant, and then SIGCONT, so that a stopped process handles it.
void signal_descendants(int signal);

// Kills all descendants and collects their exit statuses, for at most `timeout_ns`. True if none is
// left.
bool end_descendants(long long timeout_ns);

}  // namespace sennit::cli
