// heat3d with MPI send and receive: persistent requests, receives posted first. A contiguous layer
// is sent from its place, and a layer across x is packed while it is computed. A layer across y is
// packed (--layers packed) or described by a derived datatype (--layers datatype). With --layers
// cells the single cells across x are also described by a datatype, as many such codes do. The
// receiver computes from its receive buffer, so nothing is ever unpacked.
#include "layer.hpp"
#include "mpi_ranks.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace heat3d {
namespace {

class MpiExchange final : public MpiRanks {
  public:
    ~MpiExchange() override {
        for (auto &field : requests_) {
            for (MPI_Request &request : field) {
                if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
            }
        }
    }

    std::vector<std::string> modes() const override { return {"datatype", "packed", "cells"}; }

    void open(const Decomposition &decomposition, const std::string &mode) override;
    double *field(int field) override { return fields_[field].get(); }
    double *ends(int field, Side side) override;
    Layer outer_layer(int field, Side side) override;

    void exchange_layers(int field) override;
    double finish_step(double change, bool check) override { return check ? max(change) : 0; }

  private:
    // A side with a neighbour.
    struct Link {
        Side side;
        int peer;
        LayerShape shape;
        Layer mine[2];  // per field
        std::vector<double> received;
        std::vector<double> packed;  // empty if MPI takes the cells from the field itself
    };

    void make_requests(Link &link, const Shape &shape, int field);

    std::unique_ptr<double[]> fields_[2];
    std::vector<Link> links_;
    // Per field, the receives of all links and then their sends.
    std::vector<MPI_Request> requests_[2];
};

void MpiExchange::open(const Decomposition &decomposition, const std::string &mode) {
    const Shape shape = decomposition.box(rank()).shape();
    for (auto &field : fields_)
        field = std::make_unique_for_overwrite<double[]>(shape.cells());
    for (const Side side : kAllSides) {
        const int peer = decomposition.neighbour(rank(), side);
        if (peer < 0) continue;
        const LayerShape layer = layer_shape(shape, side);
        check_count(layer);
        Link link{side, peer, layer, {}, std::vector<double>(layer.cells()), {}};
        for (int field = 0; field < 2; ++field) {
            link.mine[field] = inner_layer(fields_[field].get(), shape, side);
        }
        // Across x the step packs; across z nothing needs packing.
        const int axis = axis_of(side);
        if ((axis == 0 && mode != "cells") || (axis == 1 && mode == "packed")) {
            link.packed.resize(layer.cells());
        }
        links_.push_back(std::move(link));
    }
    for (int field = 0; field < 2; ++field) {
        requests_[field].assign(2 * links_.size(), MPI_REQUEST_NULL);
        for (Link &link : links_)
            make_requests(link, shape, field);
    }
}

// The tag of a message is the side of the sender at which it leaves.
void MpiExchange::make_requests(Link &link, const Shape &shape, int field) {
    const auto index = static_cast<std::size_t>(&link - links_.data());
    const int count = static_cast<int>(link.shape.cells());
    MPI_Recv_init(link.received.data(), count, MPI_DOUBLE, link.peer, opposite(link.side), world(),
                  &requests_[field][index]);
    MPI_Request &send = requests_[field][links_.size() + index];
    const Layer &mine = link.mine[field];
    if (!link.packed.empty() || is_packed(mine, link.shape)) {
        const double *from = link.packed.empty() ? mine.cells : link.packed.data();
        MPI_Send_init(from, count, MPI_DOUBLE, link.peer, link.side, world(), &send);
        return;
    }
    // Rows of nx cells, one per plane; or single cells, one per row.
    const bool single = axis_of(link.side) == 0;
    const int rows = single ? count : static_cast<int>(link.shape.rows);
    const int cells = single ? 1 : static_cast<int>(link.shape.row_cells);
    const std::size_t stride_cells = single ? shape.nx : shape.plane();
    const auto stride = static_cast<MPI_Aint>(stride_cells * sizeof(double));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(rows, cells, stride, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Send_init(mine.cells, 1, type, link.peer, link.side, world(), &send);
    MPI_Type_free(&type);
}

// One buffer serves both fields: a step fills it for the next exchange after the last one has
// ended.
double *MpiExchange::ends(int, Side side) {
    const auto here = [side](const Link &link) { return link.side == side; };
    const auto link = std::find_if(links_.begin(), links_.end(), here);
    return link == links_.end() || link->packed.empty() ? nullptr : link->packed.data();
}

Layer MpiExchange::outer_layer(int, Side side) {
    const auto here = [side](const Link &link) { return link.side == side; };
    const Link &link = *std::find_if(links_.begin(), links_.end(), here);
    return packed_layer(link.received.data(), link.shape);
}

void MpiExchange::exchange_layers(int field) {
    std::vector<MPI_Request> &requests = requests_[field];
    const int links = static_cast<int>(links_.size());
    if (links == 0) return;
    MPI_Startall(links, requests.data());
    for (std::size_t i = 0; i < links_.size(); ++i) {
        Link &link = links_[i];
        const bool pack = axis_of(link.side) == 1 && !link.packed.empty();
        if (pack) copy_layer(link.mine[field], link.shape, link.packed.data());
        MPI_Start(&requests[links_.size() + i]);
    }
    MPI_Waitall(2 * links, requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    return heat3d::run_with_mpi<heat3d::MpiExchange>(argc, argv);
}
