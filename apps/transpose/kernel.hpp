// The arithmetic of the transpose kernel on one block; every program links this one object. C
// linkage, because the program in Fortran calls it too.
//
// Matrices are stored column by column. A block of `rows` rows and `columns` columns of A becomes a
// block of `columns` rows and `rows` columns elsewhere: element i + j a_pitch goes to j + i
// b_pitch.
#pragma once

#include <cstddef>

extern "C" {

typedef struct transpose_block {
    double *a;
    double *b;  // overlaps no element of a
    std::ptrdiff_t rows, columns;
    std::ptrdiff_t a_pitch, b_pitch;  // from one column to the next
    std::ptrdiff_t tile;              // the block is processed in squares with so many rows
} transpose_block;

// b += a transposed, then a += 1: a step of the kernel if both matrices are reachable.
void transpose_add(const transpose_block *block);
// b = a transposed, then a += 1: for the sender of a message.
void transpose_copy(const transpose_block *block);
// b += a, not transposed, with the same rows and columns for both: for the receiver. a is not
// changed.
void transpose_accept(const transpose_block *block);
}
