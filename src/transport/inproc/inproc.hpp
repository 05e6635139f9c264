// Path inproc. Made by registry.cpp only.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

Transport *make_inproc();

}  // namespace sennit::transport
