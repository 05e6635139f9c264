// A transport that the test controls: accepts, answers "again", refuses, fails rails, and completes
// in any order. It keeps its operations for checks by the test.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <set>
#include <vector>

#include "base/fail.hpp"
#include "transport/transport.hpp"

namespace sennit::test {

class FakeTransport : public transport::Transport {
  public:
    using Operation = transport::Operation;
    using Submit = transport::Submit;

    explicit FakeTransport(std::size_t memory_bytes) : memory(memory_bytes) {}

    transport::Traits fake{"fake", SENNIT_PATH_SIM, false, false, 1, 64, 1024};
    std::vector<std::byte> memory;  // the memory of handle 1, on every peer
    std::vector<Operation> seen;    // copies of accepted operations, in order
    std::deque<Operation *> held;   // accepted, not completed
    std::size_t room = SIZE_MAX;    // accept while fewer are held
    std::set<unsigned> broken_rails;
    bool complete_at_once = false;
    bool complete_in_progress = false;  // everything held, in order
    sennit_status refuse_with = SENNIT_OK;
    std::size_t rooms = 0;            // for payloads
    std::set<std::byte *> rooms_out;  // taken and not given back
    bool postpones = false;           // progress() leaves complete_later() to finish_postponed()
    int progress_calls = 0;
    int hurried = 0;
    std::function<void()> in_progress;

    // Moves the data if the status is OK and completes the operation.
    void complete(Operation *operation, sennit_status status) {
        held.erase(std::find(held.begin(), held.end(), operation));
        finish(operation, status);
    }
    // Like complete(), but in the next progress().
    void complete_later(Operation *operation, sennit_status status) {
        later_.push_back({operation, status});
    }

    const transport::Traits &traits() const override { return fake; }
    sennit_status open(Rank &, const char *, const transport::EventSink &) override {
        return SENNIT_OK;
    }
    void address(transport::Address *) override {}
    sennit_status connect(const transport::Address *, const Deadline &) override {
        return SENNIT_OK;
    }
    Reason reach(int) override { return Reason{Reason::Code::taken}; }
    void forget(int) override {}
    sennit_status attach(int, const SegmentRecord &, transport::RemoteMemory *) override {
        return SENNIT_OK;
    }
    void detach(int, const transport::RemoteMemory &) override {}

    std::byte *take_room(std::size_t bytes) override {
        if (rooms_out.size() >= rooms) return nullptr;
        return *rooms_out.insert(new std::byte[bytes]).first;
    }
    void give_room_back(std::byte *taken) override {
        if (rooms_out.erase(taken) == 1) delete[] taken;
    }
    Submit submit(Operation *operation) override {
        if (broken_rails.count(operation->rail) != 0) {
            (void)fail(SENNIT_ERR_FABRIC, "the rail is broken");
            return Submit::failed;
        }
        if (refuse_with != SENNIT_OK) {
            (void)fail(refuse_with, "refused by the test");
            return Submit::failed;
        }
        if (held.size() >= room) return Submit::again;
        seen.push_back(*operation);
        if (complete_at_once) {
            finish(operation, SENNIT_OK);
        } else {
            held.push_back(operation);
        }
        return Submit::accepted;
    }

    int progress() override {
        ++progress_calls;
        if (in_progress) in_progress();
        postponed_.insert(postponed_.end(), later_.begin(), later_.end());
        later_.clear();
        int completed = postpones ? 0 : finish_postponed();
        if (complete_in_progress) {
            while (!held.empty()) {
                complete(held.front(), SENNIT_OK);
                ++completed;
            }
        }
        return completed;
    }

    int finish_postponed() override {
        int completed = 0;
        for (; !postponed_.empty(); ++completed) {
            const auto [operation, status] = postponed_.front();
            postponed_.pop_front();
            complete(operation, status);
        }
        return completed;
    }
    void hurry(int) override { ++hurried; }

    std::uint64_t rails_to(int) const override {
        std::uint64_t usable = 0;
        for (unsigned rail = 0; rail < fake.rails; ++rail)
            if (broken_rails.count(rail) == 0) usable |= std::uint64_t{1} << rail;
        return usable;
    }

    void close(const Deadline &) override {
        while (!held.empty())
            complete(held.front(), SENNIT_ERR_PEER_LOST);
    }

  private:
    struct Later {
        Operation *operation;
        sennit_status status;
    };

    void finish(Operation *operation, sennit_status status) {
        if (status == SENNIT_OK) {
            std::byte *there = memory.data() + operation->offset;
            if (operation->kind == Operation::Kind::get) {
                std::memcpy(operation->local, there, operation->bytes);
            } else {
                std::memcpy(there, operation->local, operation->bytes);
            }
        }
        operation->completed(operation, status);
    }

    std::deque<Later> later_;
    std::deque<Later> postponed_;
};

}  // namespace sennit::test
