// What kind of program the library is part of. Called where a shared library is to be opened at run
// time: hwloc, PMIx. Owns nothing.
#pragma once

namespace sennit {

// Whether the program was linked without any shared library. dlopen would then bring a second C
// library into the process, whose threads and thread-local storage nobody has set up: what it loads
// may crash. (It does with PMIx and glibc 2.36.)
bool linked_statically();

}  // namespace sennit
