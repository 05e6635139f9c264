// Makes the exceptions of common/failure.hpp available in heat3d.
#pragma once

#include "common/failure.hpp"

namespace heat3d {

using apps::Failure;
using apps::Lost;
using apps::Refused;

}  // namespace heat3d
