// SPDX-License-Identifier: BSD-3-Clause
// The bootstrap for ranks that are threads of one process, behind sennit_bootstrap_inproc_create.
#pragma once

#include <sennit/runtime.h>

namespace sennit::runtime {

// Described in include/sennit/runtime.h.
sennit_status inproc_bootstrap_create(int size, sennit_bootstrap bootstraps[]);
sennit_status inproc_bootstrap_destroy(int size, sennit_bootstrap bootstraps[]);

// Called when a rank starts to use its bootstrap; release() ends the use. False if the bootstrap is
// one of the above and a rank already uses it. True for any other bootstrap.
bool inproc_bootstrap_take(const sennit_bootstrap &bootstrap);

}  // namespace sennit::runtime
