/* For profilers: shmem.h declares every function with a `p` before its name as well. */
#ifndef PSHMEM_H
#define PSHMEM_H

#include <shmem.h>

#endif
