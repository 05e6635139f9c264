// Communication of flow with Sennit: flow_mpi.cpp with its calls recorded in plans. Each call
// records its arguments when it runs for the first time, before the time loop; in the loop it
// starts its plan. README.md proves that no rank needs to ask whether it may put. Header-only,
// because each MPI's programs compile it with that MPI.
#pragma once

#include "mpi_shapes.hpp"

#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_mpi_plan.h>

#include <array>
#include <exception>

namespace flow {

// An exchange: its plan, and the signal that counts its arriving messages. When an exchange starts,
// the data of the exchange `before` it has been used, so start() resets the signal of `before`.
struct Way {
    std::string name;
    Way *before;
    sennit_message_plan *plan = nullptr;
    sennit_signal come = SENNIT_SIGNAL_NULL, none = SENNIT_SIGNAL_NULL;
    bool is_ready = false, has_come = false;

    void must(sennit_status status) const {
        if (status != SENNIT_OK) throw apps::Lost(name + ": " + sennit_last_error()->text);
    }
    // True the first time: the caller then records the messages. `events` messages arrive at this
    // rank.
    bool open(MPI_Comm comm, std::uint32_t events) {
        if (plan != nullptr) return false;
        must(sennit_message_plan_create(comm, &plan));
        if (events > 0) must(sennit_signal_create(events, 2 * events, SENNIT_SIGNAL_STRICT, &come));
        return true;
    }
    void start() {
        if (!std::exchange(is_ready, true)) must(sennit_message_plan_commit(plan, SENNIT_FOREVER));
        if (std::exchange(before->has_come, false)) before->must(sennit_signal_reset(before->come));
        must(sennit_message_plan_start(plan));
    }
    void wait() {
        must(sennit_message_plan_wait(plan, SENNIT_FOREVER));
        has_come = come.handle != 0;
        if (has_come) must(sennit_signal_wait(come, SENNIT_FOREVER));
    }
    void run() {
        start();
        wait();
    }
};

class Calls : public MpiShapes {
  public:
    Calls() { ends_.must(sennit_init_mpi(MPI_COMM_WORLD, nullptr)); }
    ~Calls() override;
    const char *backend() const override { return "sennit"; }
    std::vector<std::string> ways() const override { return {"described", "packed"}; }
    void open_halo(Halo halo, const HaloArray &array) override;
    void open_transposes(double *x_pencil, double *y_pencil, const std::string &way) override;
    void open_tridiagonal(const TridiagonalBuffers &buffers) override { buffers_ = buffers; }
    void open_coupled(const TridiagonalBuffers &buffers) override { buffers_ = buffers; }

    void start_halo(Halo halo) override;
    void finish_halo(Halo halo) override;
    void to_y() override { transpose(to_y_, y_); }
    void to_x() override { transpose(to_x_, x_); }
    void send_down() override;
    void send_up() override;
    void spread_ends() override;
    void return_answers() override;
    void reduce(std::vector<double> &values, bool is_sum) override;

  private:
    void transpose(Transpose &t, Way &way);
    void exchange_packed(Transpose &t, Way &way);
    void exchange_described(Transpose &t, Way &way);

    std::array<std::vector<HaloMessage>, kHalos> halos_;
    Transpose to_y_, to_x_;
    bool packs_ = true;
    TridiagonalBuffers buffers_;
    std::array<Way, kHalos> ways_{{{"halo of stage 1", &ways_[2]},
                                   {"halo of stage 2", &ways_[0]},
                                   {"halo of the pressure", &ways_[1]}}};
    Way y_{"transpose to y", &x_}, x_{"transpose to x", &y_};
    Way down_{"unknowns downwards", &up_}, up_{"unknowns upwards", &down_};
    Way ends_{"ends of coupled pairs", &answers_}, answers_{"answers of coupled pairs", &ends_};
};

// Not on a rank that throws: these calls wait for ranks that may wait for this one.
inline Calls::~Calls() {
    if (std::uncaught_exceptions() > 0) return;
    for (Way *way : {&ways_[0], &ways_[1], &ways_[2], &y_, &x_, &down_, &up_, &ends_, &answers_}) {
        if (way->plan != nullptr) (void)sennit_message_plan_destroy(way->plan);
        if (way->come.handle != 0) (void)sennit_signal_destroy(way->come);
    }
    (void)sennit_finalize();
}

inline void Calls::open_halo(Halo halo, const HaloArray &array) {
    halos_[static_cast<std::size_t>(halo)] = halo_messages(array);
}

inline void Calls::start_halo(Halo halo) {
    Way &way = ways_[static_cast<std::size_t>(halo)];
    way.open(world(), halos_[static_cast<std::size_t>(halo)].size());
    for (const HaloMessage &m : halos_[static_cast<std::size_t>(halo)]) {
        if (way.is_ready) break;
        way.must(sennit_plan_irecv(way.plan, m.memory, 1, m.received, m.peer, m.received_tag,
                                   world(), way.come, nullptr));
        way.must(sennit_plan_isend(way.plan, m.memory, 1, m.sent, m.peer, m.sent_tag, world(),
                                   way.none, nullptr));
    }
    way.start();
}

inline void Calls::finish_halo(Halo halo) {
    ways_[static_cast<std::size_t>(halo)].wait();
}

inline void Calls::open_transposes(double *x_pencil, double *y_pencil, const std::string &way) {
    packs_ = way == "packed";
    shape(to_y_, blocks_of_x_pencil(layout(), x_pencil), blocks_of_y_pencil(layout(), y_pencil));
    shape(to_x_, blocks_of_y_pencil(layout(), y_pencil), blocks_of_x_pencil(layout(), x_pencil));
}

inline void Calls::transpose(Transpose &t, Way &way) {
    if (packs_) {
        t.pack_others();
        exchange_packed(t, way);
        t.copy_own_block();
        way.wait();
        t.unpack_others();
    } else {
        exchange_described(t, way);
        t.copy_own_block();
        way.wait();
    }
}

inline void Calls::exchange_packed(Transpose &t, Way &way) {
    if (way.open(along_y(), t.to.size()))
        way.must(sennit_plan_alltoallv(way.plan, t.out, t.sent_counts.data(), t.sent_places.data(),
                                       MPI_DOUBLE, t.in, t.received_counts.data(),
                                       t.received_places.data(), MPI_DOUBLE, along_y(), way.none,
                                       way.come));
    way.start();
}

inline void Calls::exchange_described(Transpose &t, Way &way) {
    way.open(along_y(), t.to.size() - 1);
    for (int place = 0; place < ranks_y() && !way.is_ready; ++place) {
        const auto at = static_cast<std::size_t>(place);
        if (place == t.own) continue;
        way.must(sennit_plan_irecv(way.plan, t.to[at].begin, 1, t.received[at], place, 0, along_y(),
                                   way.come, nullptr));
        way.must(sennit_plan_isend(way.plan, t.from[at].begin, 1, t.sent[at], place, 0, along_y(),
                                   way.none, nullptr));
    }
    way.start();
}

inline void Calls::send_down() {
    const TridiagonalBuffers &b = buffers_;
    if (down_.open(along_z(), above() == MPI_PROC_NULL ? 0 : 1))
        down_.must(sennit_plan_sendrecv(down_.plan, b.first, b.plane, MPI_DOUBLE, below(), 0,
                                        b.above, b.plane, MPI_DOUBLE, above(), 0, along_z(),
                                        down_.none, down_.come));
    down_.run();
}

inline void Calls::send_up() {
    const TridiagonalBuffers &b = buffers_;
    if (up_.open(along_z(), below() == MPI_PROC_NULL ? 0 : 1))
        up_.must(sennit_plan_sendrecv(up_.plan, b.last, b.plane, MPI_DOUBLE, above(), 0, b.below,
                                      b.plane, MPI_DOUBLE, below(), 0, along_z(), up_.none,
                                      up_.come));
    up_.run();
}

inline void Calls::spread_ends() {
    const TridiagonalBuffers &b = buffers_;
    if (ends_.open(along_z(), b.counts.size()))
        ends_.must(sennit_plan_alltoallv(ends_.plan, b.ends, b.counts.data(), b.places.data(),
                                         MPI_DOUBLE, b.owned_ends, b.owned_counts.data(),
                                         b.owned_places.data(), MPI_DOUBLE, along_z(), ends_.none,
                                         ends_.come));
    ends_.run();
}

inline void Calls::return_answers() {
    const TridiagonalBuffers &b = buffers_;
    if (answers_.open(along_z(), b.counts.size()))
        answers_.must(sennit_plan_alltoallv(answers_.plan, b.owned_answers, b.owned_counts.data(),
                                            b.owned_places.data(), MPI_DOUBLE, b.answers,
                                            b.counts.data(), b.places.data(), MPI_DOUBLE, along_z(),
                                            answers_.none, answers_.come));
    answers_.run();
}

inline void Calls::reduce(std::vector<double> &values, bool is_sum) {
    const sennit_reduction what =
        sennit_reduction_of(values.size(), SENNIT_DOUBLE, is_sum ? SENNIT_SUM : SENNIT_MAX);
    y_.must(
        sennit_allreduce(SENNIT_TEAM_WORLD, SENNIT_IN_PLACE, values.data(), what, SENNIT_FOREVER));
}

}  // namespace flow
