// SPDX-License-Identifier: BSD-3-Clause
// Replaces domains_hwloc.cpp in a build without the header of hwloc.
#include "base/build_info.hpp"
#include "runtime/domains.hpp"

namespace sennit::runtime {

sennit_status domains_load(Domains *) {
    return fail(SENNIT_ERR_UNSUPPORTED,
                "the tree of domains needs hwloc, which this build of Sennit does not have: %s",
                build_info().without_hwloc);
}

}  // namespace sennit::runtime
