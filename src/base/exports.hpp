// SPDX-License-Identifier: BSD-3-Clause
// Makes the functions of the public headers, and nothing else, visible outside the library. The
// build puts this file before every source of the core (-include in cmake/SennitOptions.cmake),
// which is compiled with hidden symbols; so the public headers need no export macro and no source
// can forget it.
#pragma once

#pragma GCC visibility push(default)
#include <sennit/sennit.h>
#pragma GCC visibility pop
