// What goes wrong, by the names that all applications have for it.
#pragma once

#include "common/failure.hpp"

namespace heat3d {

using apps::Failure;
using apps::Lost;
using apps::Refused;

}  // namespace heat3d
