#include "rma_flat.hpp"

namespace heat3d {

RmaFlat::~RmaFlat() {
    if (window_ == MPI_WIN_NULL) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
}

void RmaFlat::open(const Decomposition &decomposition, const std::string &mode) {
    prepare_types(decomposition, mode);
    const auto bytes = static_cast<MPI_Aint>(layout_.bytes());
    if (mode.ends_with("-allocated")) {
        MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, world(), &own_, &window_);
    } else {
        memory_ = std::make_unique_for_overwrite<double[]>(layout_.bytes() / sizeof(double));
        own_ = memory_.get();
        MPI_Win_create(own_, bytes, sizeof(double), MPI_INFO_NULL, world(), &window_);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
}

// As with Sennit's get, one barrier a step is enough. MPI requires that the window's public and
// private copies are synchronised on both sides of it.
double RmaFlat::finish_step(double change, bool check) {
    MPI_Win_sync(window_);
    const double largest = wait_for_all(change, check);
    MPI_Win_sync(window_);
    return largest;
}

}  // namespace heat3d
