// flow with MPI, as is usual in such codes: halos by Isend and Irecv of derived datatypes,
// transposes by packing and Alltoallv (or by Isend and Irecv of derived datatypes), the tridiagonal
// solver by Sendrecv. sennit_calls.hpp is this file with the calls recorded in plans. Keep the two
// alike: a test counts the lines in which they differ.
#include "mpi_shapes.hpp"
#include "run.hpp"

#include <array>

namespace flow {

class Calls : public MpiShapes {
  public:
    const char *backend() const override { return "mpi"; }
    void open_halo(Halo halo, const HaloArray &array) override;
    void open_transposes(double *x_pencil, double *y_pencil, const std::string &way) override;
    void open_tridiagonal(const TridiagonalBuffers &buffers) override { buffers_ = buffers; }
    void open_coupled(const TridiagonalBuffers &buffers) override { buffers_ = buffers; }

    void start_halo(Halo halo) override;
    void finish_halo(Halo halo) override;
    void to_y() override { transpose(to_y_); }
    void to_x() override { transpose(to_x_); }
    void send_down() override;
    void send_up() override;
    void spread_ends() override;
    void return_answers() override;
    void reduce(std::vector<double> &values, bool is_sum) override;

  private:
    void transpose(Transpose &t);
    void exchange_packed(Transpose &t);
    void exchange_described(Transpose &t);
    void wait();

    std::array<std::vector<HaloMessage>, kHalos> halos_;
    Transpose to_y_, to_x_;
    bool packs_ = true;
    TridiagonalBuffers buffers_;
    std::vector<MPI_Request> requests_;
};

void Calls::open_halo(Halo halo, const HaloArray &array) {
    halos_[static_cast<std::size_t>(halo)] = halo_messages(array);
}

void Calls::start_halo(Halo halo) {
    for (const HaloMessage &m : halos_[static_cast<std::size_t>(halo)]) {
        MPI_Irecv(m.memory, 1, m.received, m.peer, m.received_tag, world(),
                  &requests_.emplace_back());
        MPI_Isend(m.memory, 1, m.sent, m.peer, m.sent_tag, world(), &requests_.emplace_back());
    }
}

void Calls::finish_halo(Halo) {
    wait();
}

void Calls::wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
}

void Calls::open_transposes(double *x_pencil, double *y_pencil, const std::string &way) {
    packs_ = way == "packed";
    shape(to_y_, blocks_of_x_pencil(layout(), x_pencil), blocks_of_y_pencil(layout(), y_pencil));
    shape(to_x_, blocks_of_y_pencil(layout(), y_pencil), blocks_of_x_pencil(layout(), x_pencil));
}

void Calls::transpose(Transpose &t) {
    if (packs_) {
        t.pack_others();
        exchange_packed(t);
        t.copy_own_block();
        t.unpack_others();
    } else {
        exchange_described(t);
        t.copy_own_block();
        wait();
    }
}

void Calls::exchange_packed(Transpose &t) {
    MPI_Alltoallv(t.out, t.sent_counts.data(), t.sent_places.data(), MPI_DOUBLE, t.in,
                  t.received_counts.data(), t.received_places.data(), MPI_DOUBLE, along_y());
}

void Calls::exchange_described(Transpose &t) {
    for (int place = 0; place < ranks_y(); ++place) {
        const auto at = static_cast<std::size_t>(place);
        if (place == t.own) continue;
        MPI_Irecv(t.to[at].begin, 1, t.received[at], place, 0, along_y(),
                  &requests_.emplace_back());
        MPI_Isend(t.from[at].begin, 1, t.sent[at], place, 0, along_y(), &requests_.emplace_back());
    }
}

void Calls::send_down() {
    const TridiagonalBuffers &b = buffers_;
    MPI_Sendrecv(b.first, b.plane, MPI_DOUBLE, below(), 0, b.above, b.plane, MPI_DOUBLE, above(), 0,
                 along_z(), MPI_STATUS_IGNORE);
}

void Calls::send_up() {
    const TridiagonalBuffers &b = buffers_;
    MPI_Sendrecv(b.last, b.plane, MPI_DOUBLE, above(), 0, b.below, b.plane, MPI_DOUBLE, below(), 0,
                 along_z(), MPI_STATUS_IGNORE);
}

void Calls::spread_ends() {
    const TridiagonalBuffers &b = buffers_;
    MPI_Alltoallv(b.ends, b.counts.data(), b.places.data(), MPI_DOUBLE, b.owned_ends,
                  b.owned_counts.data(), b.owned_places.data(), MPI_DOUBLE, along_z());
}

void Calls::return_answers() {
    const TridiagonalBuffers &b = buffers_;
    MPI_Alltoallv(b.owned_answers, b.owned_counts.data(), b.owned_places.data(), MPI_DOUBLE,
                  b.answers, b.counts.data(), b.places.data(), MPI_DOUBLE, along_z());
}

void Calls::reduce(std::vector<double> &values, bool is_sum) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                  is_sum ? MPI_SUM : MPI_MAX, world());
}

}  // namespace flow

int main(int argc, char **argv) {
    return apps::run_with_mpi("flow", &argc, &argv, [&] {
        flow::Calls exchange;
        return flow::run(exchange, argc, argv);
    });
}
