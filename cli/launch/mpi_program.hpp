// Is a program one of an MPI? Asked when a job has ended in which no rank called sennit_init.
#pragma once

#include <string>

namespace sennit::cli {

// The MPI library that the file asks the loader for, such as "libmpi.so.40"; "" if it asks for none
// or is no ELF file.
std::string mpi_library_of(const std::string &program);

}  // namespace sennit::cli
