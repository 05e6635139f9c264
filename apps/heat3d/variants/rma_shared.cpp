// heat3d with MPI RMA that distinguishes by hand which ranks share the node, as in figure 5 of Zhou
// and Gracia 2017. The fields lie in a shared window of the node; neighbours on the node are read
// by load. The fields are also attached to a dynamic window of all ranks; the other neighbours are
// read through it.
//
// With `pieces-far` and `whole-far` no rank counts as being on this node, so the other half of the
// program runs too.
#include "mpi_faces.hpp"

#include <cstring>

namespace heat3d {
namespace {

class RmaShared final : public MpiFaces {
  public:
    ~RmaShared() override;
    std::vector<std::string> modes() const override {
        return {"pieces", "whole", "pieces-far", "whole-far"};
    }
    void open(const Decomposition &decomposition, const std::string &mode) override;
    void exchange_layers(int field) override;
    double finish_step(double change, bool check) override;

  private:
    void open_windows();
    void find_neighbours(bool all_far);
    void read_near(Face &face, const double *base) const;
    void read_far(Face &face, MPI_Datatype type, int field) const;
    MPI_Aint address_of(const Face &face, int field, std::size_t cell) const;

    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Win shared_window_ = MPI_WIN_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<MPI_Aint> addresses_;   // of the fields, by rank, for the dynamic window
    std::vector<const double *> near_;  // per face; null for a neighbour on another node
};

RmaShared::~RmaShared() {
    if (window_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(shared_window_);
    MPI_Win_unlock_all(window_);
    MPI_Win_detach(window_, own_);
    MPI_Win_free(&window_);
    MPI_Win_free(&shared_window_);
    MPI_Comm_free(&node_);
}

void RmaShared::open(const Decomposition &decomposition, const std::string &mode) {
    prepare_types(decomposition, mode);
    open_windows();
    find_neighbours(mode.ends_with("-far"));
}

void RmaShared::open_windows() {
    const auto bytes = static_cast<MPI_Aint>(layout_.bytes());
    MPI_Comm_split_type(world(), MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &node_);
    // Without this, the parts of the ranks are adjacent in memory and share pages.
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(bytes, sizeof(double), info, node_, &own_, &shared_window_);
    MPI_Info_free(&info);
    MPI_Win_create_dynamic(MPI_INFO_NULL, world(), &window_);
    MPI_Win_attach(window_, own_, bytes);
    MPI_Aint address = 0;
    MPI_Get_address(own_, &address);
    addresses_.resize(static_cast<std::size_t>(size()));
    MPI_Allgather(&address, 1, MPI_AINT, addresses_.data(), 1, MPI_AINT, world());
    MPI_Win_lock_all(MPI_MODE_NOCHECK, shared_window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
}

void RmaShared::find_neighbours(bool all_far) {
    std::vector<int> peers, node_ranks(faces_.size());
    for (const Face &face : faces_)
        peers.push_back(face.peer);
    MPI_Group all = MPI_GROUP_NULL, here = MPI_GROUP_NULL;
    MPI_Comm_group(world(), &all);
    MPI_Comm_group(node_, &here);
    MPI_Group_translate_ranks(all, static_cast<int>(peers.size()), peers.data(), here,
                              node_ranks.data());
    MPI_Group_free(&all);
    MPI_Group_free(&here);
    for (const int node_rank : node_ranks) {
        double *base = nullptr;
        if (node_rank != MPI_UNDEFINED && !all_far) {
            MPI_Aint bytes = 0;
            int unit = 0;
            MPI_Win_shared_query(shared_window_, node_rank, &bytes, &unit, &base);
        }
        near_.push_back(base);
    }
}

void RmaShared::exchange_layers(int field) {
    for (std::size_t i = 0; i < faces_.size(); ++i) {
        if (near_[i] != nullptr) {
            read_near(faces_[i], near_[i] + layout_.cell_of(field, 0));
        } else {
            read_far(faces_[i], types_[i], field);
        }
    }
}

void RmaShared::read_near(Face &face, const double *base) const {
    if (whole_) {
        const Place &place = face.place;
        copy_layer({base + place.offset, place.cell_stride, place.row_stride}, face.shape,
                   face.cells.data());
        return;
    }
    for_each_run(face, [&](std::size_t cell, double *to, std::size_t cells) {
        std::memcpy(to, base + cell, cells * sizeof(double));
    });
}

// A whole layer is fetched by MPI_Get and a flush, because with a derived datatype MPICH over UCX
// reports an MPI_Rget as complete too early (its issue 7896).
void RmaShared::read_far(Face &face, MPI_Datatype type, int field) const {
    if (whole_) {
        MPI_Get(face.cells.data(), static_cast<int>(face.shape.cells()), MPI_DOUBLE, face.peer,
                address_of(face, field, face.place.offset), 1, type, window_);
        MPI_Win_flush(face.peer, window_);
        return;
    }
    for_each_run(face, [&](std::size_t cell, double *to, std::size_t cells) {
        const int count = static_cast<int>(cells);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Rget(to, count, MPI_DOUBLE, face.peer, address_of(face, field, cell), count, MPI_DOUBLE,
                 window_, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
}

MPI_Aint RmaShared::address_of(const Face &face, int field, std::size_t cell) const {
    const std::size_t bytes = layout_.cell_of(field, cell) * sizeof(double);
    return MPI_Aint_add(addresses_[static_cast<std::size_t>(face.peer)],
                        static_cast<MPI_Aint>(bytes));
}

double RmaShared::finish_step(double change, bool check) {
    MPI_Win_sync(shared_window_);
    MPI_Win_sync(window_);
    const double largest = wait_for_all(change, check);
    MPI_Win_sync(window_);
    MPI_Win_sync(shared_window_);
    return largest;
}

}  // namespace
}  // namespace heat3d

int main(int argc, char **argv) {
    return heat3d::run_with_mpi<heat3d::RmaShared>(argc, argv);
}
