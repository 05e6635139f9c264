// The limit on open files of this process (RLIMIT_NOFILE).
#pragma once

#include <sennit/error.h>

namespace sennit::runtime {

// Makes room for `needed` more descriptors, which the ranks of a node (`ranks` of them) take in
// start-up. The soft limit is raised to the hard one if need be, and stays so. Errors: OS, with
// both numbers.
sennit_status reserve_descriptors(int needed, int ranks);

}  // namespace sennit::runtime
