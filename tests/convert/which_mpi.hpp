// What is known to be wrong in one MPI is not compared with it.
#pragma once

#include <mpi.h>

#include <cstring>

inline bool is_mpi(const char *name) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    return std::strncmp(text, name, std::strlen(name)) == 0;
}
