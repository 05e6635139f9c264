// Adopted memory over fork: private in the child, with the values of the fork.
#pragma once

namespace sennit::memory::adopt {

// From here on forks of the process are watched. Any number of times.
void watch_forks();

}  // namespace sennit::memory::adopt
