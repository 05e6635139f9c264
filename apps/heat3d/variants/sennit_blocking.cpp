// heat3d with Sennit's blocking get: a layer has arrived when the call returns, whichever path
// Sennit used.
#include "../run.hpp"
#include "sennit_faces.hpp"

namespace heat3d {
namespace {

class SennitBlocking final : public SennitFaces {
    void exchange_layers(int field) override {
        for (Face &face : faces_) {
            if (whole_) {
                const sennit_box box = box_of(face);
                must(sennit_get_strided(face.cells.data(), first_of(face, field), &box),
                     "sennit_get_strided");
                continue;
            }
            for_each_run(face, [&](std::size_t cell, double *to, std::size_t cells) {
                must(sennit_get(to, cell_of(face, field, cell), cells * sizeof(double)),
                     "sennit_get");
            });
        }
    }
};

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    return heat3d::run_with_sennit<heat3d::SennitBlocking>(argc, argv);
}
