// A whole run: options, fields, steps, files, report. Called by the main() of each program.
#pragma once

#include "exchange.hpp"

namespace flow {

// Returns the exit status.
int run(Exchange &exchange, int argc, const char *const *argv);

}  // namespace flow
