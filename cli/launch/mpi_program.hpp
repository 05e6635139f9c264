// Is a program one of an MPI? Asked about a job in which no rank has called sennit_init: of its
// processes while they run, which finds the children of a shell and the programs of an
// interpreter, and of its program at the end, which finds one that was too quick to be seen.
#pragma once

#include <sys/types.h>

#include <string>

namespace sennit::cli {

// The MPI library that the file asks the loader for, such as "libmpi.so.40"; "" if it asks for none
// or is no ELF file.
std::string mpi_library_of(const std::string &program);

// The MPI library that the process has loaded; "" if it has none, or if a launcher of an MPI has
// started it: then it is no job of one rank.
std::string mpi_library_in(pid_t process);

}  // namespace sennit::cli
