/* Shared by the stages in this folder: a plate with a warm edge, cut into parts for a grid of
 * ranks, one step of the computation, and a comparison with the whole plate computed by one rank.
 * It is the same in every stage.
 */
#ifndef SENNIT_EXAMPLES_FIELD_H
#define SENNIT_EXAMPLES_FIELD_H

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 24, COLUMNS = 20, STEPS = 60 };

/* A rank's part: `rows` times `columns` cells, with one more cell on each side. The two arrays
 * take turns: one has the values before a step, the other those after it. */
typedef struct field {
    MPI_Comm comm;               /* the grid of ranks */
    int up, down, left, right;   /* neighbours, or MPI_PROC_NULL */
    int rows, columns;           /* of this part */
    int first_row, first_column; /* in the plate */
    double *u[2];                /* one after another */
    size_t bytes;                /* of each */
    MPI_Datatype column;         /* a column of the part, without the corners */
} field;

static inline int at(const field *f, int row, int column) {
    return row * (f->columns + 2) + column;
}

/* The edge above the plate is warm. */
static inline double start_value(int row) {
    return row == 0 ? 100.0 : 0.0;
}

static inline void make_field(field *f) {
    int size, rank, dims[2] = {0, 0}, place[2];
    const int rings[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, rings, 0, &f->comm);
    MPI_Comm_rank(f->comm, &rank);
    MPI_Cart_coords(f->comm, rank, 2, place);
    MPI_Cart_shift(f->comm, 0, 1, &f->up, &f->down);
    MPI_Cart_shift(f->comm, 1, 1, &f->left, &f->right);
    f->first_row = ROWS * place[0] / dims[0];
    f->rows = ROWS * (place[0] + 1) / dims[0] - f->first_row;
    f->first_column = COLUMNS * place[1] / dims[1];
    f->columns = COLUMNS * (place[1] + 1) / dims[1] - f->first_column;
    f->bytes = sizeof(double) * (size_t)(f->rows + 2) * (size_t)(f->columns + 2);
    f->u[0] = malloc(2 * f->bytes);
    if (f->u[0] == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    f->u[1] = f->u[0] + f->bytes / sizeof(double);
    for (int row = 0; row < f->rows + 2; ++row)
        for (int column = 0; column < f->columns + 2; ++column)
            f->u[0][at(f, row, column)] = f->u[1][at(f, row, column)] =
                start_value(f->first_row + row);
    MPI_Type_vector(f->rows, 1, f->columns + 2, MPI_DOUBLE, &f->column);
    MPI_Type_commit(&f->column);
}

static inline void compute(const field *f, const double *now, double *next) {
    for (int row = 1; row <= f->rows; ++row)
        for (int column = 1; column <= f->columns; ++column)
            next[at(f, row, column)] =
                0.25 * (now[at(f, row - 1, column)] + now[at(f, row + 1, column)] +
                        now[at(f, row, column - 1)] + now[at(f, row, column + 1)]);
}

/* Compares with the whole plate, and ends the program if a cell differs. */
static inline void check_and_free(field *f) {
    field whole = {MPI_COMM_NULL,    0, 0, 0, 0, ROWS, COLUMNS, 0, 0, {NULL, NULL}, 0,
                   MPI_DATATYPE_NULL};
    const int cells = (ROWS + 2) * (COLUMNS + 2);
    double *plate = malloc(2 * sizeof(double) * (size_t)cells), sum = 0.0, total = 0.0;
    int rank;
    if (plate == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int row = 0; row < ROWS + 2; ++row)
        for (int column = 0; column < COLUMNS + 2; ++column)
            plate[at(&whole, row, column)] = plate[cells + at(&whole, row, column)] =
                start_value(row);
    for (int step = 0; step < STEPS; ++step)
        compute(&whole, plate + cells * (step % 2), plate + cells * ((step + 1) % 2));
    MPI_Comm_rank(f->comm, &rank);
    for (int row = 1; row <= f->rows; ++row)
        for (int column = 1; column <= f->columns; ++column) {
            const double mine = f->u[STEPS % 2][at(f, row, column)];
            const double other = plate[cells * (STEPS % 2) +
                                       at(&whole, f->first_row + row, f->first_column + column)];
            sum += mine;
            if (fabs(mine - other) <= 1e-12) continue;
            fprintf(stderr, "rank %d: cell %d, %d is %g and not %g\n", rank, row, column, mine,
                    other);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, f->comm);
    if (rank == 0) printf("%d steps: all cells together have %.6f\n", STEPS, total);
    free(plate);
    free(f->u[0]);
    MPI_Type_free(&f->column);
    MPI_Comm_free(&f->comm);
}

#endif
