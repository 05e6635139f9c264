// heat3d with flat MPI RMA, non-blocking: MPI_Get starts all layers, then the window is flushed for
// each neighbour.
#include "rma_flat.hpp"

namespace heat3d {
namespace {

class RmaNonblocking final : public RmaFlat {
    void exchange_layers(int field) override {
        for (std::size_t i = 0; i < faces_.size(); ++i) {
            Face &face = faces_[i];
            if (whole_) {
                MPI_Get(face.cells.data(), static_cast<int>(face.shape.cells()), MPI_DOUBLE,
                        face.peer, place_of(field, face.place.offset), 1, types_[i], window());
                continue;
            }
            for_each_run(face, [&](std::size_t cell, double *to, std::size_t cells) {
                const int count = static_cast<int>(cells);
                MPI_Get(to, count, MPI_DOUBLE, face.peer, place_of(field, cell), count, MPI_DOUBLE,
                        window());
            });
        }
        for (const Face &face : faces_)
            MPI_Win_flush(face.peer, window());
    }
};

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    return heat3d::run_with_mpi<heat3d::RmaNonblocking>(argc, argv);
}
