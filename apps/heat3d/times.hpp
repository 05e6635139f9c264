// A rank's time in the steps, divided into parts. run.cpp fills it, in the same way for every
// program.
#pragma once

#include "common/times.hpp"

namespace heat3d {

using apps::Clock;
using apps::elapsed_ns;
using apps::Histogram;

class Times {
  public:
    void add_step(std::int64_t compute_ns, std::int64_t exchange_ns, std::int64_t synchronise_ns) {
        compute.add(compute_ns);
        exchange.add(exchange_ns);
        synchronise.add(synchronise_ns);
        communicate.add(exchange_ns + synchronise_ns);
    }

    using Part = apps::Phase;
    Part compute, exchange, synchronise;
    // Exchange and synchronisation of a step together.
    Part communicate;
};

}  // namespace heat3d
