// The arithmetic. Squares of 2 by 2 are transposed in registers: packs are the
// compiler's own vectors of 16 bytes, which every x86-64 and AArch64 has.
#include "kernel.hpp"

#include <algorithm>
#include <cstring>

namespace {

using Pack = double __attribute__((vector_size(16)));

Pack load(const double *from) {
    Pack pack;
    std::memcpy(&pack, from, sizeof pack);
    return pack;
}

void store(double *to, Pack pack) {
    std::memcpy(to, &pack, sizeof pack);
}

struct Size {
    std::ptrdiff_t rows, columns;
};

template <bool adds>
void one(double *a, double *b) {
    *b = adds ? *b + *a : *a;
    *a += 1.0;
}

// Works along the columns of A, two at a time. Each tile is a separate call: if it is inlined, the
// compiler forgets that the pointers do not alias.
template <bool adds>
[[gnu::noinline]] void transpose_square(double *__restrict a, double *__restrict b, Size size,
                                        std::ptrdiff_t a_pitch, std::ptrdiff_t b_pitch) {
    const std::ptrdiff_t even_rows = size.rows & ~std::ptrdiff_t{1};
    std::ptrdiff_t j = 0;
    for (; j + 2 <= size.columns; j += 2) {
        for (std::ptrdiff_t i = 0; i < even_rows; i += 2) {
            double *from = a + i + j * a_pitch;
            double *to = b + j + i * b_pitch;
            const Pack left = load(from), right = load(from + a_pitch);
            const Pack upper{left[0], right[0]}, lower{left[1], right[1]};
            store(to, adds ? load(to) + upper : upper);
            store(to + b_pitch, adds ? load(to + b_pitch) + lower : lower);
            store(from, left + 1.0);
            store(from + a_pitch, right + 1.0);
        }
        for (std::ptrdiff_t i = even_rows; i < size.rows; ++i) {
            one<adds>(a + i + j * a_pitch, b + j + i * b_pitch);
            one<adds>(a + i + (j + 1) * a_pitch, b + j + 1 + i * b_pitch);
        }
    }
    for (std::ptrdiff_t i = 0; i < size.rows && j < size.columns; ++i)
        one<adds>(a + i + j * a_pitch, b + j + i * b_pitch);
}

template <bool adds>
void transpose(const transpose_block &block) {
    const std::ptrdiff_t tile = block.tile;
    for (std::ptrdiff_t i = 0; i < block.rows; i += tile) {
        for (std::ptrdiff_t j = 0; j < block.columns; j += tile) {
            const Size size{std::min(tile, block.rows - i), std::min(tile, block.columns - j)};
            transpose_square<adds>(block.a + i + j * block.a_pitch, block.b + j + i * block.b_pitch,
                                   size, block.a_pitch, block.b_pitch);
        }
    }
}

}  // namespace

void transpose_add(const transpose_block *block) {
    transpose<true>(*block);
}

void transpose_copy(const transpose_block *block) {
    transpose<false>(*block);
}

void transpose_accept(const transpose_block *block) {
    for (std::ptrdiff_t j = 0; j < block->columns; ++j) {
        const double *__restrict from = block->a + j * block->a_pitch;
        double *__restrict to = block->b + j * block->b_pitch;
        for (std::ptrdiff_t i = 0; i < block->rows; ++i)
            to[i] += from[i];
    }
}
