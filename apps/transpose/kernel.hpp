// The arithmetic of the transpose kernel on one block; every program links this one object. C
// linkage, because the program in Fortran calls it too.
//
// Matrices lie column by column. A block of `rows` rows and `columns` columns of A becomes one of
// `columns` rows and `rows` columns elsewhere: element i + j a_pitch goes to j + i b_pitch.
#pragma once

#include <cstddef>

extern "C" {

typedef struct transpose_block {
    double *a;
    double *b;  // overlaps no element of a
    std::ptrdiff_t rows, columns;
    std::ptrdiff_t a_pitch, b_pitch;  // from one column to the next
    std::ptrdiff_t tile;              // the block is gone through in squares of so many rows
} transpose_block;

// b += a transposed, then a += 1: a step of the kernel where both matrices can be reached.
void transpose_add(const transpose_block *block);
// b = a transposed, then a += 1: for the sender of a message.
void transpose_copy(const transpose_block *block);
// b += a, not transposed, same rows and columns for both: what its receiver does. a is left alone.
void transpose_accept(const transpose_block *block);
}
