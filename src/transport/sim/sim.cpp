// SPDX-License-Identifier: BSD-3-Clause
// The transport object of the path sim: one per rank, a thin interface to their common world.
#include "transport/sim/sim.hpp"

#include <sched.h>

#include <cstring>
#include <new>
#include <utility>

#include "base/fail.hpp"
#include "rank/process.hpp"
#include "runtime/detector.hpp"
#include "transport/sim/world.hpp"

namespace sennit::transport {
namespace sim {
namespace {

constexpr std::uint64_t kMagic = 0x314D4953544E4E53;  // "SNNTSIM1"

// The contents of an Address. Its pointers are used only if the cookie is this process's own.
struct SimAddress {
    std::uint64_t magic;
    std::uint64_t cookie;
    std::uint64_t settings;  // hash
    std::uint64_t world;     // number, from rank 0
    std::uint64_t rank;      // the Rank object
};
static_assert(sizeof(SimAddress) <= kAddressBytes);

SimAddress read_address(const Address &address) {
    SimAddress card;
    std::memcpy(&card, address.bytes, sizeof card);
    return card;
}

class SimTransport final : public Transport {
  public:
    const Traits &traits() const override { return traits_; }

    sennit_status open(Rank &rank, const char *settings, const EventSink &sink) override {
        rank_ = &rank;
        sink_ = sink;
        const sennit_status status = settings_parse(settings, &settings_);
        if (status != SENNIT_OK) return status;
        if (rank.bootstrap.size > kMostMembers)
            return fail(SENNIT_ERR_UNSUPPORTED, "the path sim takes at most %d ranks",
                        kMostMembers);
        traits_.ordered = settings_.order != 0;
        traits_.rails = static_cast<unsigned>(settings_.rails);
        traits_.event_bits = static_cast<unsigned>(settings_.events);
        traits_.max_piece_bytes = settings_.max_piece;
        traits_.task_bytes = kMostTaskBytes;
        traits_.payload_bytes = kEventBytes + settings_.eager;
        traits_.yields = settings_.lockstep != 0;
        traits_.in_software = true;
        for (const Strike &death : settings_.kills)
            if (death.victim >= rank.bootstrap.size)
                return fail(SENNIT_ERR_ARG, "path sim: kill=%d, but there is no such rank",
                            death.victim);
        if (rank.world_rank != 0) return SENNIT_OK;
        world_ = World::make(settings_, rank.bootstrap.size);
        return world_ != nullptr ? SENNIT_OK : fail(SENNIT_ERR_NOMEM, "no memory for the path sim");
    }

    void address(Address *out) override {
        const SimAddress card{kMagic, process_cookie(), settings_hash(settings_),
                              world_ != nullptr ? world_->id() : 0,
                              reinterpret_cast<std::uintptr_t>(rank_)};
        *out = Address{};
        std::memcpy(out->bytes, &card, sizeof card);
    }

    sennit_status connect(const Address *addresses, const Deadline &) override {
        addresses_ = addresses;
        const SimAddress first = read_address(addresses[0]);
        for (int peer = 0; peer < rank_->bootstrap.size; ++peer) {
            const SimAddress card = read_address(addresses[peer]);
            if (card.magic == kMagic && card.settings != settings_hash(settings_))
                return fail_peer(SENNIT_ERR_ARG, peer, traits_.name,
                                 "rank %d gave the path sim other settings", peer);
        }
        if (first.magic != kMagic || first.cookie != process_cookie()) return SENNIT_OK;
        if (world_ == nullptr) world_ = World::find(first.world);
        if (world_ == nullptr)
            return fail_peer(SENNIT_ERR_BOOTSTRAP, 0, traits_.name,
                             "rank 0 has left the path sim already");
        for (int peer = 0; peer < rank_->bootstrap.size; ++peer) {
            const SimAddress card = read_address(addresses[peer]);
            if (card.magic != kMagic || card.cookie != process_cookie()) continue;
            world_->introduce(peer, reinterpret_cast<Rank *>(card.rank)->control);
        }
        world_->enter(rank_->world_rank, rank_);
        return SENNIT_OK;
    }

    Reason reach(int peer) override {
        if (peer == rank_->world_rank) return Reason{Reason::Code::is_self};
        const SimAddress card = read_address(addresses_[peer]);
        if (card.magic != kMagic) return Reason{Reason::Code::not_allowed_there};
        if (world_ == nullptr || card.cookie != process_cookie())
            return Reason{Reason::Code::other_process};
        const ControlBlock *control = reinterpret_cast<Rank *>(card.rank)->control;
        if (control->header.magic != kControlMagic || control->header.rank != peer)
            return Reason{Reason::Code::wrong_content};
        rank_->peers[peer].control_handle = kControlHandle | static_cast<std::uint64_t>(peer);
        return Reason{Reason::Code::taken};
    }

    void forget(int peer) override { rank_->peers[peer].control_handle = 0; }

    sennit_status attach(int peer, const SegmentRecord &record, RemoteMemory *out) override {
        std::uint64_t handle = 0;
        const sennit_status status = world_->attach(rank_->world_rank, peer, record, &handle);
        if (status == SENNIT_OK) *out = RemoteMemory{nullptr, handle};
        return status;
    }

    void detach(int, const RemoteMemory &remote) override {
        if (world_ != nullptr) world_->detach(rank_->world_rank, remote.handle);
    }

    Submit submit(Operation *operation) override {
        return world_->submit(rank_->world_rank, operation);
    }

    int progress() override {
        if (world_ == nullptr) return 0;
        Handover handover;
        world_->step(rank_->world_rank, &handover);
        if (handover.lockstep_broken) (void)sched_yield();
        if (world_->changed(&changes_seen_)) note_losses();
        int done = hand_over(handover);
        if (!std::exchange(reads_events_, false)) return done;
        while (handover.event_count == kHandoversPerProgress) {
            world_->collect(rank_->world_rank, &handover);
            done += hand_over(handover);
        }
        return done;
    }

    void read_events() override { reads_events_ = true; }

    std::uint64_t rails_to(int) const override {
        std::uint64_t usable = 0;
        for (unsigned rail = 0; world_ != nullptr && rail < traits().rails; ++rail)
            if (!world_->rail_failed(rail)) usable |= std::uint64_t{1} << rail;
        return usable;
    }

    void close(const Deadline &) override {
        if (world_ == nullptr) return;
        world_->leave(rank_->world_rank);
        Handover handover;
        do {
            world_->collect(rank_->world_rank, &handover);
        } while (hand_over(handover) > 0);
        world_->release();
        world_ = nullptr;
    }

  private:
    // Executes a task for this rank on this rank's thread, as a network's progress would.
    void execute(Flight *flight) {
        // SYNC segment-live: pairs with the release of the owner, which is this rank.
        const bool is_there =
            flight->segment == nullptr ||
            flight->segment->live.load(std::memory_order_acquire) == flight->live_value;
        const Arrived arrived{
            flight->from,  &flight->task,   flight->segment, is_there ? flight->remote : nullptr,
            flight->bytes, flight->payload, flight->reply};
        world_->answer(flight, sink_.execute(sink_.context, arrived));
    }

    int hand_over(const Handover &handover) {
        for (int i = 0; i < handover.event_count; ++i)
            if (sink_.arrived != nullptr) sink_.arrived(sink_.context, handover.events[i]);
        for (int i = 0; i < handover.task_count; ++i)
            execute(handover.tasks[i]);
        for (int i = 0; i < handover.done_count; ++i) {
            Operation *operation = handover.done[i].operation;
            operation->completed(operation, handover.done[i].status);
        }
        return handover.done_count;
    }

    void note_losses() {
        // A killed rank loses all others, so that its own waits end.
        const bool cut_off = world_->state_of(rank_->world_rank) == MemberState::dead;
        for (int peer = 0; peer < rank_->bootstrap.size; ++peer) {
            if (peer == rank_->world_rank) continue;
            const MemberState state = world_->state_of(peer);
            if (cut_off || state == MemberState::dead) {
                note_gone(*rank_, peer, Gone::died);
            } else if (state == MemberState::left) {
                note_gone(*rank_, peer, Gone::left);
            }
        }
    }

    Rank *rank_ = nullptr;
    World *world_ = nullptr;
    const Address *addresses_ = nullptr;
    EventSink sink_;
    SimSettings settings_;
    std::uint64_t changes_seen_ = 0;
    bool reads_events_ = false;  // the next progress() reads all of them
    Traits traits_{"sim", SENNIT_PATH_SIM, false, true, 1, 64, 65536, true};
};

}  // namespace

World *hold_world(const Rank &rank) {
    return World::find_of(rank);
}

void release_world(World *world) {
    world->release();
}

Counters counters(World &world) {
    return world.counters();
}

void fail_rail(World &world, unsigned rail) {
    world.fail_rail(rail);
}

void kill(World &world, int rank) {
    world.kill(rank);
}

bool is_dead(World &world, int rank) {
    return world.state_of(rank) == MemberState::dead;
}

}  // namespace sim

Transport *make_sim() {
    return new (std::nothrow) sim::SimTransport;
}

}  // namespace sennit::transport
