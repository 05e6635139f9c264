#include "mpi_faces.hpp"

namespace heat3d {
namespace {

// Across x all cells of a layer have one stride, since a block has no gaps; else all rows have one.
MPI_Datatype type_of(const Face &face) {
    const auto rows = static_cast<int>(face.shape.rows);
    const auto cells = static_cast<int>(face.shape.row_cells);
    const auto cell_stride = static_cast<int>(face.place.cell_stride);
    const auto row_stride = static_cast<int>(face.place.row_stride);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (axis_of(face.side) == 0) {
        MPI_Type_vector(cells * rows, 1, cell_stride, MPI_DOUBLE, &type);
    } else {
        MPI_Type_vector(rows, cells, row_stride, MPI_DOUBLE, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

}  // namespace

MpiFaces::~MpiFaces() {
    for (MPI_Datatype &type : types_)
        MPI_Type_free(&type);
}

void MpiFaces::prepare_types(const Decomposition &decomposition, const std::string &mode) {
    prepare(decomposition, mode);
    for (const Face &face : faces_) {
        check_count(face.shape);
        types_.push_back(type_of(face));
    }
}

double MpiFaces::wait_for_all(double change, bool check) {
    if (check) return max(change);
    barrier();
    return 0;
}

}  // namespace heat3d
