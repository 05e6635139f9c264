// Is a program one of an MPI or of another OpenSHMEM library? Its file is asked before it starts. A
// job in which no rank has called sennit_init is asked again: its processes while they run, which
// finds the children of a shell and the programs of an interpreter.
#pragma once

#include <sys/types.h>

#include <string>

namespace sennit::cli {

// Names of libraries, such as "libmpi.so.40"; "" where there is none.
struct ForeignProgram {
    std::string mpi;
    std::string openshmem;
    bool has_sennit = false;  // as a shared library

    bool any() const { return !mpi.empty() || !openshmem.empty(); }
};

// The libraries that the file asks the loader for; none if it is no ELF file.
ForeignProgram foreign_libraries_of(const std::string &program);

// The libraries that the process has loaded; none if a launcher of an MPI has started it: then it
// is no job of one rank.
ForeignProgram foreign_libraries_in(pid_t process);

}  // namespace sennit::cli
