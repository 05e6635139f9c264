// heat3d with flat MPI RMA, blocking: every get is complete before the next one starts. Runs of
// cells are fetched by MPI_Rget and MPI_Wait. A whole layer is fetched by MPI_Get and a flush,
// because with a derived datatype MPICH over UCX reports an MPI_Rget as complete too early (its
// issue 7896).
#include "rma_flat.hpp"

namespace heat3d {
namespace {

class RmaBlocking final : public RmaFlat {
    void exchange_layers(int field) override {
        for (std::size_t i = 0; i < faces_.size(); ++i) {
            Face &face = faces_[i];
            if (whole_) {
                MPI_Get(face.cells.data(), static_cast<int>(face.shape.cells()), MPI_DOUBLE,
                        face.peer, place_of(field, face.place.offset), 1, types_[i], window());
                MPI_Win_flush(face.peer, window());
                continue;
            }
            for_each_run(face, [&](std::size_t cell, double *to, std::size_t cells) {
                const int count = static_cast<int>(cells);
                MPI_Request request = MPI_REQUEST_NULL;
                MPI_Rget(to, count, MPI_DOUBLE, face.peer, place_of(field, cell), count, MPI_DOUBLE,
                         window(), &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            });
        }
    }
};

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    return heat3d::run_with_mpi<heat3d::RmaBlocking>(argc, argv);
}
