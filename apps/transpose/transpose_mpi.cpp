// The transpose with MPI send and receive, one peer after another as in the suite: a rank packs its
// block, transposed, sends it, and adds the received block. A block is sent in chunks of some
// columns: a chunk is still in a near cache when it is sent and when it is added, and a chunk is
// packed while the one before it is in flight.
#include "common/mpi_ranks.hpp"
#include "common/mpi_window.hpp"
#include "common/pages.hpp"
#include "run.hpp"

#include <algorithm>

namespace {

using transpose::Matrices;
using transpose::Span;

class TwoSided final : public transpose::Method {
  public:
    explicit TwoSided(const transpose::Choice &choice) : choice_(choice) {}
    ~TwoSided() override = default;

    const char *backend() const override { return "mpi"; }
    Matrices::Memory allocate(std::size_t elements) override {
        return {a_.take(elements), b_.take(elements)};
    }
    void connect(Matrices &matrices) override;
    void iterate(Matrices &matrices, std::int64_t steps) override;

  private:
    // The data for another rank, as chunks of the receiver's columns.
    struct Stream {
        int peer = 0;
        int sender = 0;
        std::ptrdiff_t columns = 0;  // the receiver's
        std::ptrdiff_t chunk = 0;    // columns of a chunk
        std::ptrdiff_t chunks() const { return (columns + chunk - 1) / chunk; }
        Span part(std::ptrdiff_t index) const {
            return {index * chunk, std::min(columns, (index + 1) * chunk)};
        }
    };
    static constexpr int kSlots = 2;

    Stream stream(const Matrices &matrices, int sender, int receiver) const;
    void exchange(Matrices &matrices, int phase);
    void send(Matrices &matrices, const Stream &out, std::ptrdiff_t index);
    void receive(const Matrices &matrices, const Stream &in, std::ptrdiff_t index);

    const transpose::Choice &choice_;
    apps::MpiDuplicate world_;
    apps::Pages a_, b_;
    std::vector<double> sent_[kSlots], received_[kSlots];
    MPI_Request sends_[kSlots] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Request receives_[kSlots] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

// Both ends compute the same.
TwoSided::Stream TwoSided::stream(const Matrices &matrices, int sender, int receiver) const {
    const std::ptrdiff_t column_bytes =
        matrices.shares().of(sender).count() * static_cast<std::ptrdiff_t>(sizeof(double));
    const std::ptrdiff_t columns = matrices.shares().of(receiver).count();
    const std::ptrdiff_t fits = std::max<std::ptrdiff_t>(choice_.chunk_bytes / column_bytes, 1);
    return {sender == matrices.rank() ? receiver : sender, sender, columns,
            std::min(fits, columns)};
}

// Rank 0 has the longest columns and the most of them.
void TwoSided::connect(Matrices &matrices) {
    const Stream longest = stream(matrices, 0, 0);
    const auto elements = static_cast<std::size_t>(matrices.message_elements(0, longest.part(0)));
    // A chunk of shorter columns may have more columns, but not more bytes than were chosen.
    const std::size_t chosen = static_cast<std::size_t>(choice_.chunk_bytes) / sizeof(double);
    const std::size_t room = std::max(elements, std::min(chosen, matrices.shares().elements(0)));
    for (int slot = 0; slot < kSlots; ++slot) {
        sent_[slot].resize(room);
        received_[slot].resize(room);
    }
}

void TwoSided::iterate(Matrices &matrices, std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
        matrices.add_to(matrices.rank(), matrices.b());
        for (int phase = 1; phase < matrices.shares().ranks(); ++phase)
            exchange(matrices, phase);
        MPI_Waitall(kSlots, sends_, MPI_STATUSES_IGNORE);
    }
}

void TwoSided::exchange(Matrices &matrices, int phase) {
    const Stream out = stream(matrices, matrices.rank(), send_to(matrices, phase));
    const Stream in = stream(matrices, receive_from(matrices, phase), matrices.rank());
    for (std::ptrdiff_t index = 0; index < std::min<std::ptrdiff_t>(kSlots, in.chunks()); ++index)
        receive(matrices, in, index);
    for (std::ptrdiff_t index = 0; index < std::max(out.chunks(), in.chunks()); ++index) {
        if (index < out.chunks()) send(matrices, out, index);
        if (index >= in.chunks()) continue;
        MPI_Wait(&receives_[index % kSlots], MPI_STATUS_IGNORE);
        matrices.accept(in.sender, received_[index % kSlots].data(), in.part(index));
        if (index + kSlots < in.chunks()) receive(matrices, in, index + kSlots);
    }
}

// Messages from one rank to another arrive in order, so one tag is enough.
void TwoSided::send(Matrices &matrices, const Stream &out, std::ptrdiff_t index) {
    const std::ptrdiff_t slot = index % kSlots;
    double *message = sent_[slot].data();
    MPI_Wait(&sends_[slot], MPI_STATUS_IGNORE);
    matrices.pack(out.peer, message, out.part(index));
    const std::ptrdiff_t count = matrices.message_elements(out.sender, out.part(index));
    MPI_Isend(message, static_cast<int>(count), MPI_DOUBLE, out.peer, 0, world_.ranks(),
              &sends_[slot]);
}

void TwoSided::receive(const Matrices &matrices, const Stream &in, std::ptrdiff_t index) {
    const std::ptrdiff_t slot = index % kSlots;
    const std::ptrdiff_t count = matrices.message_elements(in.sender, in.part(index));
    MPI_Irecv(received_[slot].data(), static_cast<int>(count), MPI_DOUBLE, in.peer, 0,
              world_.ranks(), &receives_[slot]);
}

}  // namespace

int main(int argc, char **argv) {
    return apps::run_with_mpi("transpose", &argc, &argv, [&] {
        apps::MpiRanks ranks;
        transpose::Choice choice{1 << 17};
        TwoSided two_sided(choice);
        return transpose::run(ranks, two_sided, &choice, argc, argv);
    });
}
