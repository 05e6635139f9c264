#include "sennit_faces.hpp"

#include <fmt/format.h>

namespace heat3d {

void must(sennit_status status, const char *doing) {
    if (status == SENNIT_OK) return;
    throw Lost(
        fmt::format("{}: {}: {}", doing, sennit_status_string(status), sennit_last_error()->text));
}

void SennitFaces::barrier() {
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
}

double SennitFaces::max(double mine) {
    double largest = 0;
    must(sennit_allreduce(SENNIT_TEAM_WORLD, &mine, &largest,
                          sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_MAX), SENNIT_FOREVER),
         "sennit_allreduce");
    return largest;
}

std::vector<double> SennitFaces::gather(const std::vector<double> &mine) {
    std::vector<double> all(rank() == 0 ? mine.size() * static_cast<std::size_t>(size()) : 0);
    must(sennit_gather(SENNIT_TEAM_WORLD, 0, mine.data(), all.data(), mine.size() * sizeof(double),
                       SENNIT_FOREVER),
         "sennit_gather");
    return all;
}

void SennitFaces::open(const Decomposition &decomposition, const std::string &mode) {
    prepare(decomposition, mode);
    const sennit_status status =
        sennit_alloc(SENNIT_TEAM_WORLD, layout_.bytes(), 0, SENNIT_ALLOC_RESERVE, &fields_);
    if (status != SENNIT_OK) {
        throw Failure(fmt::format("{} bytes for the fields of a rank: {}", layout_.bytes(),
                                  sennit_last_error()->text));
    }
    own_ = static_cast<double *>(sennit_ptr(fields_));
}

double SennitFaces::finish_step(double change, bool check) {
    const double largest = check ? max(change) : 0;
    barrier();
    return largest;
}

sennit_box SennitFaces::box_of(const Face &face) {
    constexpr std::int64_t cell = sizeof(double);
    const auto row = static_cast<std::int64_t>(face.shape.row_cells);
    return {sizeof(double),
            {face.shape.row_cells, face.shape.rows, 1},
            {cell * face.place.cell_stride, cell * face.place.row_stride, 0},
            {cell, cell * row, 0}};
}

}  // namespace heat3d
