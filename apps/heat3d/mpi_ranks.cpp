// Collective calls of MPI; see mpi_ranks.hpp.
#include "mpi_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

namespace heat3d {

MpiRanks::MpiRanks() {
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
}

std::string MpiRanks::name() const {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    // Open MPI says everything on one line, MPICH one thing per line.
    std::string name(text, static_cast<std::size_t>(length));
    name = name.substr(0, name.find_first_of(",\n"));
    std::replace(name.begin(), name.end(), '\t', ' ');
    return name;
}

double MpiRanks::max(double mine) {
    double largest = 0;
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, world_);
    return largest;
}

std::vector<double> MpiRanks::gather(const std::vector<double> &mine) {
    std::vector<double> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
    const int count = static_cast<int>(mine.size());
    MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, world_);
    return all;
}

void MpiRanks::check_count(const LayerShape &shape) {
    if (shape.cells() > INT_MAX) {
        throw Failure(
            fmt::format("a layer of {} cells is more than one MPI message carries", shape.cells()));
    }
}

}  // namespace heat3d
