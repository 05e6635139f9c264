// SPDX-License-Identifier: BSD-3-Clause
// The transports of this build, best first.
#include "transport/fabric/fabric.hpp"
#include "transport/node_paths.hpp"
#include "transport/sim/sim.hpp"
#include "transport/transport.hpp"

namespace sennit::transport {

const Maker kMakers[] = {
    {SENNIT_PATH_INPROC, true, make_inproc},
    {SENNIT_PATH_MAPPED, true, make_mapped},
    {SENNIT_PATH_CMA, true, make_cma},
    {SENNIT_PATH_SIM, false, make_sim},
    {SENNIT_PATH_FABRIC, true, make_fabric, true},
    {SENNIT_PATH_NONE, false, nullptr},
};

}  // namespace sennit::transport
