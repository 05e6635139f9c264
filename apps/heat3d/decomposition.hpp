// Makes the names of common/decomposition.hpp available in heat3d.
#pragma once

#include "common/decomposition.hpp"
#include "layer.hpp"

namespace heat3d {

using apps::Box;
using apps::choose_ranks_grid;
using apps::Decomposition;
using apps::text_of;
using apps::Triple;

}  // namespace heat3d
