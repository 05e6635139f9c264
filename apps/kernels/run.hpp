// The program without its versions: main of each program calls run() with the versions that it has.
#pragma once

#include "daxpy.hpp"
#include "product.hpp"
#include "sort.hpp"

#include <vector>

namespace kernels {

// By kernel; the first version of each is the default.
struct Versions {
    std::vector<Entry<Daxpy>> daxpy;
    std::vector<Entry<Product>> cannon, summa;
    std::vector<Entry<Sort>> sort;
};

// Collective. Returns the exit status, the same on all ranks; one rank has then reported the error
// on stderr. Throws Lost, which some ranks may not see.
int run(apps::Ranks &ranks, const Versions &versions, int argc, const char *const *argv);

}  // namespace kernels
