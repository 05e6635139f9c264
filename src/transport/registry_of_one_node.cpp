// SPDX-License-Identifier: BSD-3-Clause
// The transports of a build without libfabric's headers, best first.
#include "base/build_info.hpp"
#include "transport/node_paths.hpp"
#include "transport/sim/sim.hpp"
#include "transport/transport.hpp"

namespace sennit::transport {

const Maker kMakers[] = {
    {SENNIT_PATH_INPROC, true, make_inproc}, {SENNIT_PATH_MAPPED, true, make_mapped},
    {SENNIT_PATH_CMA, true, make_cma},       {SENNIT_PATH_SIM, false, make_sim},
    {SENNIT_PATH_NONE, false, nullptr},
};

sennit_status describe_provider(int, sennit_provider *) {
    return fail(SENNIT_ERR_UNSUPPORTED, "this build has no libfabric, so jobs have one node: %s",
                build_info().without_libfabric);
}

}  // namespace sennit::transport
