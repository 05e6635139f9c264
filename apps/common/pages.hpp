// Memory from the heap for an application's fields: whole pages of its own, so that it can be
// shared without strangers on the first and last one.
#pragma once

#include <cstddef>
#include <memory>

namespace apps {

class Pages {
  public:
    // Room for `count` numbers, valid until the next call or the end of this object; not touched.
    // Throws std::bad_alloc.
    double *take(std::size_t count);

  private:
    struct Free {
        void operator()(double *memory) const;
    };
    std::unique_ptr<double[], Free> memory_;
};

}  // namespace apps
