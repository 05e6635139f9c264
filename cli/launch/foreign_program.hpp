// Finds out whether a program uses an MPI or another OpenSHMEM library. The program's file names
// the libraries to which the program is linked. While no rank has called sennit_init, the running
// processes are checked too, because the program may be a shell or an interpreter.
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

// The libraries that the process has loaded; none if an MPI's launcher has started it, because it
// is then not a job of one rank.
ForeignProgram foreign_libraries_in(pid_t process);

// The message about a job in which no rank has called Sennit. `is_linked`: the program itself is
// linked to these libraries; otherwise a running process has loaded them.
std::string lone_ranks_text(const std::string &program, int ranks, const ForeignProgram &found,
                            bool is_linked);

}  // namespace sennit::cli
