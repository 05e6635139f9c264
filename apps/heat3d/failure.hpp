// The one exception of this program: something the user should read. Thrown where it is found,
// printed by run().
#pragma once

#include <stdexcept>
#include <string>

namespace heat3d {

class Failure : public std::runtime_error {
  public:
    explicit Failure(const std::string &text) : std::runtime_error(text) {}
};

}  // namespace heat3d
