/* Declarations shared by the steps of `orders`. A step ends the process when it finds an error. */
#ifndef SENNIT_TESTS_BOOTSTRAP_ORDERS_H
#define SENNIT_TESTS_BOOTSTRAP_ORDERS_H

#include <sennit/error.h>

struct step {
    const char *name;
    void (*run)(const char *name);
};

extern const struct step mpi_steps[]; /* ends with a null name; empty without MPI */
extern int expected_size;

void require(int is_true, const char *step, const char *what);
void require_ok(sennit_status status, const char *step);
void check_rank(const char *step, int size);
void forget_rank(void);

#endif
