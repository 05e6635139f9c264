// The program, apart from its versions: main of each program calls run() with those that it has.
#pragma once

#include "daxpy.hpp"
#include "product.hpp"
#include "sort.hpp"

#include <vector>

namespace kernels {

// By kernel; the first of each is the one that runs where none is named.
struct Versions {
    std::vector<Entry<Daxpy>> daxpy;
    std::vector<Entry<Product>> cannon, summa;
    std::vector<Entry<Sort>> sort;
};

// Collective. Returns the exit status, the same on all ranks; errors were then reported on stderr
// by one of them. Throws Lost, which only some ranks may see.
int run(apps::Ranks &ranks, const Versions &versions, int argc, const char *const *argv);

}  // namespace kernels
