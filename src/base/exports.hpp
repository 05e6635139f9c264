// SPDX-License-Identifier: BSD-3-Clause
// Makes only the functions of the public headers visible outside the library. The build includes
// this file before every source of the core (-include in cmake/SennitOptions.cmake) and compiles
// the core with hidden symbols. So the public headers need no export macro.
#pragma once

#pragma GCC visibility push(default)
#include <sennit/sennit.h>
#pragma GCC visibility pop
