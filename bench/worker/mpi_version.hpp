// The name and the version of the MPI that this program is linked with.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>

namespace sennit::bench {

// "Open MPI v4.1.4", "MPICH 4.0.2".
inline std::string mpi_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string line(text, static_cast<std::size_t>(length));
    line.resize(std::min(line.size(), line.find_first_of(",\n")));
    // The text of MPICH is "MPICH Version:", a tab, "4.0.2".
    const std::size_t number = line.find_first_of("0123456789");
    const bool is_mpich = line.rfind("MPICH", 0) == 0 && number != std::string::npos;
    return is_mpich ? "MPICH " + line.substr(number) : line;
}

}  // namespace sennit::bench
