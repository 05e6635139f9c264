// flow with Sennit, pipelined as in the UNR paper's figure 3e, by one thread: some planes of a
// pencil have plans of their own, are put straight to their places on the other ranks when they are
// computed, and are computed further when they have come. The rest is as in sennit_calls.hpp.
#include "run.hpp"
#include "sennit_calls.hpp"

namespace flow {
namespace {

class Pipelined final : public Calls {
  public:
    ~Pipelined() override;
    const char *backend() const override { return "sennit-pipelined"; }
    std::vector<std::string> ways() const override { return {"pieces"}; }
    void open_transposes(double *x_pencil, double *y_pencil, const std::string &way) override;

    Count pieces() const override { return static_cast<Count>(y_.size()); }
    void send_to_y(Count piece) override { send(y_, piece); }
    void await_in_y(Count piece) override { y_[static_cast<std::size_t>(piece)].way.wait(); }
    void send_to_x(Count piece) override { send(x_, piece); }
    void await_in_x(Count piece) override { x_[static_cast<std::size_t>(piece)].way.wait(); }

  private:
    // A plan has communicators of its own, and MPIs have some thousands of these.
    static constexpr Count kMostPieces = 8;

    struct Piece {
        Way way;
        Block own_from, own_to;
    };
    void open(Piece &piece, const std::vector<Block> &from, const std::vector<Block> &to);
    static void send(std::vector<Piece> &pieces, Count number) {
        Piece &piece = pieces[static_cast<std::size_t>(number)];
        piece.way.start();
        copy_own(piece.own_from, piece.own_to);
    }

    std::vector<Piece> y_, x_;
};

Pipelined::~Pipelined() {
    if (std::uncaught_exceptions() > 0) return;
    for (std::vector<Piece> *pieces : {&y_, &x_}) {
        for (Piece &piece : *pieces) {
            (void)sennit_message_plan_destroy(piece.way.plan);
            (void)sennit_signal_destroy(piece.way.come);
        }
    }
}

void Pipelined::open_transposes(double *x_pencil, double *y_pencil, const std::string &) {
    const Count planes = layout().z_share().count, pieces = std::min(planes, kMostPieces);
    const Count rows = layout().y_share().count;
    y_.assign(static_cast<std::size_t>(pieces), {{"planes to y", nullptr}, {}, {}});
    x_.assign(static_cast<std::size_t>(pieces), {{"planes to x", nullptr}, {}, {}});
    for (Count number = 0; number < pieces; ++number) {
        const Share share = share_of(planes, pieces, number);
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
        Piece &to_y = y_[static_cast<std::size_t>(number)];
        Piece &to_x = x_[static_cast<std::size_t>(number)];
        to_y.way.before = &to_x.way;
        to_x.way.before = &to_y.way;
        open(to_y, x, y);
        open(to_x, y, x);
    }
}

void Pipelined::open(Piece &piece, const std::vector<Block> &from, const std::vector<Block> &to) {
    Way &way = piece.way;
    way.open(along_y(), static_cast<std::uint32_t>(to.size() - 1));
    for (int place = 0; place < ranks_y(); ++place) {
        const auto at = static_cast<std::size_t>(place);
        if (place == place_y()) continue;
        way.must(sennit_plan_irecv(way.plan, to[at].begin, 1, type_of(to[at]), place, 0, along_y(),
                                   way.come, nullptr));
        way.must(sennit_plan_isend(way.plan, from[at].begin, 1, type_of(from[at]), place, 0,
                                   along_y(), way.none, nullptr));
    }
    way.must(sennit_message_plan_commit(way.plan, SENNIT_FOREVER));
    way.is_ready = true;
    piece.own_from = from[static_cast<std::size_t>(place_y())];
    piece.own_to = to[static_cast<std::size_t>(place_y())];
}

}  // namespace
}  // namespace flow

int main(int argc, char **argv) {
    return apps::run_with_mpi("flow", &argc, &argv, [&] {
        flow::Pipelined exchange;
        return flow::run(exchange, argc, argv);
    });
}
