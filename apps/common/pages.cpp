#include "pages.hpp"

#include <cstdlib>
#include <new>

namespace apps {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

void Pages::Free::operator()(double *memory) const {
    std::free(memory);
}

double *Pages::take(std::size_t count) {
    const std::size_t bytes = (count * sizeof(double) + kPageBytes - 1) / kPageBytes * kPageBytes;
    memory_.reset();
    memory_.reset(static_cast<double *>(std::aligned_alloc(kPageBytes, bytes)));
    if (memory_ == nullptr) throw std::bad_alloc();
    return memory_.get();
}

}  // namespace apps
