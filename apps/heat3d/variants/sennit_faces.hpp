// The common part of the variants with Sennit's get: start and end, the collective operations, the
// fields in global memory, and the places of a neighbour's cells.
#pragma once

#include "../run.hpp"
#include "faces.hpp"

#include <sennit/sennit.h>

#include <cstdio>
#include <exception>

namespace heat3d {

// Throws Lost with Sennit's error message.
void must(sennit_status status, const char *doing);

class SennitFaces : public FaceExchange<Exchange> {
  public:
    SennitFaces() { must(sennit_init(nullptr), "sennit_init"); }
    ~SennitFaces() override { (void)sennit_finalize(); }

    int rank() const override { return sennit_rank(); }
    int size() const override { return sennit_size(); }
    std::string name() const override { return std::string("sennit ") + sennit_version(); }
    void barrier() override;
    double max(double mine) override;
    std::vector<double> gather(const std::vector<double> &mine) override;

    void open(const Decomposition &decomposition, const std::string &mode) override;
    // One barrier a step is enough, because no rank reads the field that a step writes during that
    // step. The barrier orders this rank's stores before the others' gets of the next step, and its
    // gets before their next stores.
    double finish_step(double change, bool check) override;

  protected:
    // The addresses of a cell of the neighbour's block, and of the layer's first cell.
    sennit_gptr cell_of(const Face &face, int field, std::size_t cell) const {
        const std::size_t bytes = layout_.cell_of(field, cell) * sizeof(double);
        return sennit_gptr_add(sennit_gptr_at(fields_, face.peer),
                               static_cast<std::int64_t>(bytes));
    }
    sennit_gptr first_of(const Face &face, int field) const {
        return cell_of(face, field, face.place.offset);
    }
    // The layer with its strides.
    static sennit_box box_of(const Face &face);

  private:
    sennit_gptr fields_ = SENNIT_GPTR_NULL;
};

// The body of main().
template <typename Variant>
int run_with_sennit(int argc, char **argv) {
    try {
        Variant ranks;
        return run(ranks, argc, argv);
    } catch (const std::exception &failure) {
        (void)std::fprintf(stderr, "heat3d: %s\n", failure.what());
        return 1;
    }
}

}  // namespace heat3d
