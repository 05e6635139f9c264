/* Extensions of OpenSHMEM: this library has none. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

#endif
