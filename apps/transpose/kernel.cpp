// The arithmetic; see kernel.hpp. Squares of 2 by 2 are transposed in registers: packs are the
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

template <bool adds>
void put(double *to, Pack value) {
    store(to, adds ? load(to) + value : value);
}

template <bool adds>
void one(const transpose_block &block, std::ptrdiff_t i, std::ptrdiff_t j) {
    double *a = block.a + i + j * block.a_pitch;
    double *b = block.b + j + i * block.b_pitch;
    *b = adds ? *b + *a : *a;
    *a += 1.0;
}

// Rows i and i + 1, columns [begin, end).
template <bool adds>
void two_rows(const transpose_block &block, std::ptrdiff_t i, std::ptrdiff_t begin,
              std::ptrdiff_t end) {
    std::ptrdiff_t j = begin;
    for (; j + 2 <= end; j += 2) {
        double *a = block.a + i + j * block.a_pitch;
        double *b = block.b + j + i * block.b_pitch;
        const Pack left = load(a), right = load(a + block.a_pitch);
        put<adds>(b, Pack{left[0], right[0]});
        put<adds>(b + block.b_pitch, Pack{left[1], right[1]});
        store(a, left + 1.0);
        store(a + block.a_pitch, right + 1.0);
    }
    for (; j < end; ++j) {
        one<adds>(block, i, j);
        one<adds>(block, i + 1, j);
    }
}

template <bool adds>
void transpose(const transpose_block &block) {
    for (std::ptrdiff_t i0 = 0; i0 < block.rows; i0 += block.tile) {
        const std::ptrdiff_t i1 = std::min(i0 + block.tile, block.rows);
        for (std::ptrdiff_t j0 = 0; j0 < block.columns; j0 += block.tile) {
            const std::ptrdiff_t j1 = std::min(j0 + block.tile, block.columns);
            std::ptrdiff_t i = i0;
            for (; i + 2 <= i1; i += 2)
                two_rows<adds>(block, i, j0, j1);
            for (std::ptrdiff_t j = j0; j < j1 && i < i1; ++j)
                one<adds>(block, i, j);
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
