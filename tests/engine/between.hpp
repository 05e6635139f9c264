// A transport between a rank's engine and its real transport that passes everything on. Tests
// override submit().
#pragma once

#include "op/engine_state.hpp"

namespace sennit::test {

class Between : public transport::Transport {
  public:
    using Operation = transport::Operation;
    using Submit = transport::Submit;

    explicit Between(Rank &rank)
        : rank_(rank), path_(rank.engine->paths[0]), inner_(path_.transport) {
        take(inner_, this);
    }
    ~Between() override { take(this, inner_); }
    Between(const Between &) = delete;
    Between &operator=(const Between &) = delete;

    const transport::Traits &traits() const override { return inner_->traits(); }
    sennit_status open(Rank &, const char *, const transport::EventSink &) override {
        return SENNIT_ERR_INTERNAL;
    }
    void address(transport::Address *) override {}
    sennit_status connect(const transport::Address *, const Deadline &) override {
        return SENNIT_ERR_INTERNAL;
    }
    Reason reach(int peer) override { return inner_->reach(peer); }
    void forget(int peer) override { inner_->forget(peer); }
    sennit_status attach(int peer, const SegmentRecord &record,
                         transport::RemoteMemory *out) override {
        return inner_->attach(peer, record, out);
    }
    void detach(int peer, const transport::RemoteMemory &remote) override {
        inner_->detach(peer, remote);
    }
    Submit submit(Operation *operation) override { return inner_->submit(operation); }
    int finish_postponed() override { return inner_->finish_postponed(); }
    int progress() override { return inner_->progress(); }
    std::uint64_t rails_to(int peer) const override { return inner_->rails_to(peer); }
    void close(const Deadline &) override {}

    unsigned event_bits_to(int peer) override { return inner_->event_bits_to(peer); }
    void hurry(int peer) override { inner_->hurry(peer); }

  protected:
    transport::Transport &inner() { return *inner_; }

  private:
    void take(transport::Transport *before, transport::Transport *now) {
        path_.transport = now;
        for (int peer = 0; peer < world_size(rank_); ++peer)
            if (rank_.peers[peer].transport == before) rank_.peers[peer].transport = now;
    }

    Rank &rank_;
    op::MessagePath &path_;
    transport::Transport *inner_;
};

}  // namespace sennit::test
