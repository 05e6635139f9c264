// flow with Sennit, pipelined as in the UNR paper's figure 3e. A piece is some planes of a pencil,
// or some pairs of wave numbers of the tridiagonal solver, and has its own plan. The thread that
// has computed a piece puts it directly to its place on the other ranks. When the same piece of the
// other ranks has arrived, the thread continues with it. Halos are exchanged while inner cells are
// computed. The rest is as in sennit_calls.hpp.
//
// A piece of one exchange and the same piece of the exchange that answers it form a pair
// (README.md), so the proof for whole exchanges holds for each piece by itself.
#include "run.hpp"
#include "sennit_calls.hpp"

#include <cstdlib>
#include <deque>

namespace flow {
namespace {

// An exception that leaves a thread of OpenMP ends the program without a message, and the other
// threads may wait for it.
template <typename Call>
void or_end(Call call) noexcept {
    try {
        call();
    } catch (const std::exception &failure) {
        apps::tell_before_abort("flow", failure);
        std::_Exit(1);
    }
}

class Pipelined final : public Calls {
  public:
    ~Pipelined() override;
    const char *backend() const override { return "sennit-pipelined"; }
    std::vector<std::string> ways() const override { return {"pieces"}; }
    bool overlaps() const override { return true; }
    void open_transposes(double *x_pencil, double *y_pencil, const std::string &way) override;
    void open_tridiagonal(const TridiagonalBuffers &buffers) override;

    Count pieces(Leg leg) const override { return static_cast<Count>(of(leg).size()); }
    void start(Leg leg, Count piece) noexcept override;
    void finish(Leg leg, Count piece) noexcept override;
    void send_down() override { run(Leg::down); }
    void send_up() override { run(Leg::up); }
    void spread_ends() noexcept override {
        or_end([this] { Calls::spread_ends(); });
    }
    void return_answers() noexcept override {
        or_end([this] { Calls::return_answers(); });
    }

  private:
    struct Piece {
        Way way;
        Block own_from, own_to;
    };
    using Pieces = std::deque<Piece>;  // a deque, because its elements do not move
    Pieces &of(Leg leg) { return pieces_[static_cast<std::size_t>(leg)]; }
    const Pieces &of(Leg leg) const { return pieces_[static_cast<std::size_t>(leg)]; }
    // The events that arrive at this rank for one piece of each of the two exchanges.
    using Events = std::array<std::uint32_t, 2>;
    void make(Leg one, Leg other, Count count, MPI_Comm comm, Events events);
    void record(Piece &piece, const std::vector<Block> &from, const std::vector<Block> &to);
    void commit(Leg one, Leg other);
    void run(Leg leg);

    std::array<Pieces, 4> pieces_;
};

Pipelined::~Pipelined() {
    if (std::uncaught_exceptions() > 0) return;
    for (Pieces &pieces : pieces_) {
        for (Piece &piece : pieces) {
            (void)sennit_message_plan_destroy(piece.way.plan);
            if (piece.way.come.handle != 0) (void)sennit_signal_destroy(piece.way.come);
        }
    }
}

// Makes the pieces of two exchanges. Data of one exchange confirms that data of the other was read.
void Pipelined::make(Leg one, Leg other, Count count, MPI_Comm comm, Events events) {
    static constexpr const char *kNames[] = {"planes to y", "planes to x", "pairs downwards",
                                             "pairs upwards"};
    for (Count piece = 0; piece < count; ++piece) {
        Way &first = of(one).emplace_back(Way{kNames[static_cast<int>(one)], nullptr}).way;
        Way &second = of(other).emplace_back(Way{kNames[static_cast<int>(other)], &first}).way;
        first.before = &second;
        first.open(comm, events[0]);
        second.open(comm, events[1]);
    }
}

// Called before threads start the plans.
void Pipelined::commit(Leg one, Leg other) {
    for (const Leg leg : {one, other}) {
        for (Piece &piece : of(leg)) {
            piece.way.must(sennit_message_plan_commit(piece.way.plan, SENNIT_FOREVER));
            piece.way.is_ready = true;
        }
    }
}

void Pipelined::open_transposes(double *x_pencil, double *y_pencil, const std::string &) {
    const Count planes = layout().z_share().count, rows = layout().y_share().count;
    // The same on all of these ranks, although their shares of x and y may differ.
    const Count numbers = planes * layout().cells()[0] * layout().cells()[1];
    const Count count = pieces_of(numbers / (ranks_y() * ranks_y()), planes);
    const auto others = static_cast<std::uint32_t>(ranks_y() - 1);
    make(Leg::to_y, Leg::to_x, count, along_y(), {others, others});
    for (Count number = 0; number < count; ++number) {
        const Share share = share_of(planes, count, number);
        std::vector<Block> x = blocks_of_x_pencil(layout(), x_pencil);
        std::vector<Block> y = blocks_of_y_pencil(layout(), y_pencil);
        for (Block &block : x) {
            block.begin += share.begin * rows * block.distance;
            block.rows = share.count * rows;
        }
        for (Block &block : y) {
            block.begin += share.begin * block.distance;
            block.rows = share.count;
        }
        const auto at = static_cast<std::size_t>(number);
        record(of(Leg::to_y)[at], x, y);
        record(of(Leg::to_x)[at], y, x);
    }
    commit(Leg::to_y, Leg::to_x);
}

void Pipelined::record(Piece &piece, const std::vector<Block> &from, const std::vector<Block> &to) {
    Way &way = piece.way;
    for (int place = 0; place < ranks_y(); ++place) {
        const auto at = static_cast<std::size_t>(place);
        if (place == place_y()) continue;
        way.must(sennit_plan_irecv(way.plan, to[at].begin, 1, type_of(to[at]), place, 0, along_y(),
                                   way.come, nullptr));
        way.must(sennit_plan_isend(way.plan, from[at].begin, 1, type_of(from[at]), place, 0,
                                   along_y(), way.none, nullptr));
    }
    piece.own_from = from[static_cast<std::size_t>(place_y())];
    piece.own_to = to[static_cast<std::size_t>(place_y())];
}

void Pipelined::open_tridiagonal(const TridiagonalBuffers &buffers) {
    const Count pairs = buffers.plane, count = pieces_of(pairs, pairs);
    make(Leg::down, Leg::up, count, along_z(),
         {above() == MPI_PROC_NULL ? 0u : 1u, below() == MPI_PROC_NULL ? 0u : 1u});
    for (Count number = 0; number < count; ++number) {
        const Share share = share_of(pairs, count, number);
        const int some = static_cast<int>(share.count);
        const auto record = [&](Leg leg, double *sent, int to, double *received, int from) {
            Way &way = of(leg)[static_cast<std::size_t>(number)].way;
            way.must(sennit_plan_sendrecv(way.plan, sent + share.begin, some, MPI_DOUBLE, to, 0,
                                          received + share.begin, some, MPI_DOUBLE, from, 0,
                                          along_z(), way.none, way.come));
        };
        record(Leg::down, buffers.first, below(), buffers.above, above());
        record(Leg::up, buffers.last, above(), buffers.below, below());
    }
    commit(Leg::down, Leg::up);
}

void Pipelined::start(Leg leg, Count number) noexcept {
    Piece &piece = of(leg)[static_cast<std::size_t>(number)];
    or_end([&] { piece.way.start(); });
    if (piece.own_from.begin != nullptr) copy_own(piece.own_from, piece.own_to);
}

void Pipelined::finish(Leg leg, Count number) noexcept {
    or_end([&] { of(leg)[static_cast<std::size_t>(number)].way.wait(); });
}

// Called before the loop of steps, by one thread.
void Pipelined::run(Leg leg) {
    for (Count piece = 0; piece < pieces(leg); ++piece)
        start(leg, piece);
    for (Count piece = 0; piece < pieces(leg); ++piece)
        finish(leg, piece);
}

}  // namespace
}  // namespace flow

int main(int argc, char **argv) {
    return apps::run_with_mpi("flow", &argc, &argv, [&] {
        // Threads of a rank put at the same time. The first caller that starts Sennit must say so.
        sennit_options options = SENNIT_OPTIONS_INIT;
        options.thread_level = SENNIT_THREAD_MULTIPLE;
        if (sennit_init_mpi(MPI_COMM_WORLD, &options) != SENNIT_OK)
            throw apps::Lost(sennit_last_error()->text);
        int code = 0;
        {
            flow::Pipelined exchange;
            code = flow::run(exchange, argc, argv);
        }
        (void)sennit_finalize();
        return code;
    });
}
