// The three exceptions of the applications.
#pragma once

#include <stdexcept>
#include <string>

namespace apps {

// Something the user should read. Thrown where it is found; together() prints it once.
class Failure : public std::runtime_error {
  public:
    explicit Failure(const std::string &text) : std::runtime_error(text) {}
};

// Another rank, or the connection to it, is lost. Some ranks may not notice it, so no collective
// call can follow: it ends the program.
class Lost : public Failure {
  public:
    using Failure::Failure;
};

// Some rank could not do its part, and all ranks know that; the error has been reported.
struct Refused {};

}  // namespace apps
