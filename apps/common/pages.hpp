// Memory from the heap for an application's fields. It fills whole pages, so no other data lies on
// the pages that are shared.
#pragma once

#include <cstddef>
#include <memory>

namespace apps {

class Pages {
  public:
    // Untouched memory for `count` numbers, valid until the next call or the end of this object.
    // Throws std::bad_alloc.
    double *take(std::size_t count);

  private:
    struct Free {
        void operator()(double *memory) const;
    };
    std::unique_ptr<double[], Free> memory_;
};

}  // namespace apps
