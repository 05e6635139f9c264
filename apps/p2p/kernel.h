/* The computation of the pipeline: one function, compiled once, that every program calls, whatever
 * its communication, from C, C++ and Fortran.
 *
 * A cell becomes its left neighbour plus the one below minus the one below on the left:
 *     cell(i, j) = cell(i-1, j) + cell(i, j-1) - cell(i-1, j-1)
 * Each cell depends on the cell before it in its line, so a line takes the latency of an
 * addition per cell, and a line cannot be vectorized. The difference of the two cells below is
 * computed first, as compilers do with the suite's source if they may reorder additions
 * (-ffast-math); all values are whole numbers, so every order gives the same result. */
#ifndef P2P_KERNEL_H
#define P2P_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of the grid that a rank computes. Line 0 of them, and column 0 of the grid, are
 * given. channels.f90 has this type in Fortran. */
typedef struct p2p_strip {
    int64_t columns;
    int64_t lines;
    int64_t group; /* lines that are handed over at once, at least 1 */
    double *cells; /* [lines][columns] */
    double *left;  /* [lines]: the column left of the strip, written by another rank */
} p2p_strip;

/* Computes lines first .. first + count - 1 from line first - 1 and the left column, and stores the
 * last column of each line in right[line]. */
void p2p_block(const p2p_strip *strip, int64_t first, int64_t count, double *right);

#ifdef __cplusplus
}
#endif

#endif
