// SPDX-License-Identifier: BSD-3-Clause
// The bootstrap for ranks that are threads of one process, behind sennit_bootstrap_inproc_create.
#pragma once

#include <sennit/runtime.h>

namespace sennit::runtime {

// See runtime.h of the public headers.
sennit_status inproc_bootstrap_create(int size, sennit_bootstrap bootstraps[]);
sennit_status inproc_bootstrap_destroy(int size, sennit_bootstrap bootstraps[]);

// A rank begins to use its bootstrap; its release() ends that. False if it is one of the above and
// a rank uses it already. Any other bootstrap: true.
bool inproc_bootstrap_take(const sennit_bootstrap &bootstrap);

}  // namespace sennit::runtime
