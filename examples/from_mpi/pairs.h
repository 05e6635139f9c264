/* The same small tasks with MPI (mpi_side.c) and with Sennit (sennit_side.c), side by side in
 * docs/from-mpi.md. main.c calls each task and checks its result, so both sides do the same.
 * Every function is collective. */
#ifndef SENNIT_EXAMPLES_PAIRS_H
#define SENNIT_EXAMPLES_PAIRS_H

enum {
    PAIR_COUNT = 100,  /* numbers of a row */
    PAIR_ROWS = 8,     /* of a matrix */
    PAIR_COLUMNS = 10, /* of it, row by row */
    PAIR_ITEMS = 500   /* of a work queue */
};

/* Starts and ends; the first one returns rank and size. */
void side_start(int *rank, int *size);
void side_end(void);

/* Puts `number` at rank `to`; returns the number that has arrived. */
int side_put(int number, int to);

/* Rank `from` gives `number` to rank `to`, which waits for it and returns it; all others return
 * -1. */
int side_message(int number, int from, int to);

/* Rank `from` gives `count` rows to rank `to`, one after another. Rank `to` returns the sum of
 * all numbers, all others 0. */
double side_stream(int count, int from, int to);

/* Starts puts of `row` to ranks `left` and `right`, and completes them. `came` gets the row of
 * the left rank, followed by that of the right one. */
void side_requests(const double row[PAIR_COUNT], int left, int right, double came[2 * PAIR_COUNT]);

/* The number in the memory of rank `peer`, read in place. */
int side_pointer(int number, int peer);

/* The number of the PAIR_ITEMS items that this rank took from a shared counter. */
int side_counter(void);

/* Adds `row` to a row at rank 0, element by element; `sum` gets the result. */
void side_accumulate(const double row[PAIR_COUNT], double sum[PAIR_COUNT]);

/* Adds 1 to each of two words at rank 0 that belong together, `times` times; returns the words. */
void side_lock(int times, long words[2]);

/* Puts the last column of the program's own `matrix` into the first column of rank `to`. */
void side_column(double matrix[PAIR_ROWS * PAIR_COLUMNS], int to);

/* The sum of `number` over the ranks of the caller's row in a grid of two dimensions. */
int side_teams(int number, int coords[2]);

#endif
