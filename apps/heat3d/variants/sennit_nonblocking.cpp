// heat3d with Sennit's non-blocking get: all gets are started, then one flush completes them.
#include "../run.hpp"
#include "sennit_faces.hpp"

namespace heat3d {
namespace {

class SennitNonblocking final : public SennitFaces {
    void exchange_layers(int field) override {
        for (Face &face : faces_) {
            if (whole_) {
                const sennit_box box = box_of(face);
                must(sennit_get_strided_nbi(face.cells.data(), first_of(face, field), &box),
                     "sennit_get_strided_nbi");
                continue;
            }
            for_each_run(face, [&](std::size_t cell, double *to, std::size_t cells) {
                must(sennit_get_nbi(to, cell_of(face, field, cell), cells * sizeof(double)),
                     "sennit_get_nbi");
            });
        }
        must(sennit_flush_all(SENNIT_FOREVER), "sennit_flush_all");
    }
};

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    return heat3d::run_with_sennit<heat3d::SennitNonblocking>(argc, argv);
}
