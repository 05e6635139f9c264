// SPDX-License-Identifier: BSD-3-Clause
// The smallest message transport, to be copied and filled with a network: ranks of one process, and
// a queue of copies that are carried out when their rank makes progress. It shows what every
// message transport has to get right; what it leaves out is said where it would stand. The contract
// is transport.hpp.
//
// Owned by this file: one object per rank, used by the op engine under the engine's lock, so the
// queue needs no lock of its own. What ranks share is `presences`, one entry per rank with a lock
// each.
#include "transport/template/template.hpp"

#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/mutex.hpp"
#include "rank/process.hpp"
#include "runtime/detector.hpp"
#include "transport/word_copy.hpp"

namespace sennit::transport {
namespace {

constexpr unsigned kQueue = 16;        // operations that may be open: a full queue says "again"
constexpr int kCopiesPerProgress = 4;  // bounded work per call
constexpr std::uint64_t kControlHandle = UINT64_MAX;

// What ranks share. A peer may leave at any time, and then its memory goes. So nobody touches a
// peer's memory without having asked, under this lock, whether it is still there. (A network card
// asks its own tables; there the question is what your provider does with a packet for a target
// that has gone, and the answer must become PEER_LOST.)
struct Presence {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    std::uint64_t number = 0;  // of the rank that uses the entry; 0: free. Never the same twice.
    ControlBlock *control = nullptr;
    // Tasks for the rank, at the place of who sent them; it carries them out in its progress().
    struct Posted {
        Operation *operation = nullptr;
        int from = -1;
    };
    Posted tasks[kRanksPerProcess];
    unsigned task_count = 0;
};

// What scratch[0] of a task says. Guarded by the lock of the target.
enum : std::uint64_t { kFresh = 0, kPosted = 1, kAnswered = 2 };

// Of the address space, like the memory it guards; entries are used again and never freed, so that
// whoever holds an old index finds another number instead of freed memory.
Presence presences[kRanksPerProcess];
std::atomic<std::uint64_t> last_number{0};

// What travels to the peers in start-up, in the 64 bytes of an Address. Never follow a pointer
// from it before you know that it comes from your own process: hence the cookie. All zero is what a
// rank sends that does not have this transport.
struct TemplateAddress {
    std::uint64_t cookie;
    std::uint64_t number;
    std::uint64_t place;  // in presences
};
static_assert(sizeof(TemplateAddress) <= kAddressBytes);

class TemplateTransport final : public Transport {
  public:
    // What it is. Promise only what holds for every operation: `ordered` is true here because the
    // queue is carried out from its head. event_bits is 0: there is no completion data, so
    // put_event is refused in submit(). A transport with events calls sink.arrived() from the
    // target's progress(), after the data is visible. Tasks are carried: 512 bytes of payload.
    const Traits &traits() const override {
        static constexpr Traits kTraits{"sim", SENNIT_PATH_SIM, false, true,          1, 0,
                                        4096,  false,           false, kMostTaskBytes};
        return kTraits;
    }

    // Start-up, in this order. open: is what I need there? An error, with its sentence, ends
    // sennit_init: it is for what the user asked for and can not have. A path that is merely of no
    // use on this machine opens, and reach() says why.
    sennit_status open(Rank &rank, const char *settings, const EventSink &sink) override {
        sink_ = sink;
        if (settings[0] != '\0')
            return fail(SENNIT_ERR_ARG, "the template transport has no setting \"%s\"", settings);
        rank_ = &rank;
        // relaxed: only that numbers differ counts.
        number_ = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
        for (place_ = 0; place_ < kRanksPerProcess; ++place_) {
            Presence &mine = presences[place_];
            const MutexLock guard(mine.lock);
            if (mine.number != 0) continue;
            mine.number = number_;
            mine.control = rank.control;
            return SENNIT_OK;
        }
        return fail(SENNIT_ERR_NOMEM, "more ranks in this process than the transport takes");
    }

    void address(Address *out) override {
        const TemplateAddress card{process_cookie(), number_, static_cast<std::uint64_t>(place_)};
        *out = Address{};
        std::memcpy(out->bytes, &card, sizeof card);
    }

    // `addresses` stays valid, so there is nothing to copy. A network would open its endpoints
    // here, and end by the deadline also when a peer does not answer.
    sennit_status connect(const Address *addresses, const Deadline &) override {
        addresses_ = addresses;
        return SENNIT_OK;
    }

    // Is the peer in reach? Really try: what counts is not that it should work but that it does.
    // On success the peer's control block can be read and written through control_handle; barrier
    // and allocation are built on that.
    Reason reach(int peer) override {
        const TemplateAddress card = card_of(peer);
        if (card.cookie == 0) return Reason{Reason::Code::not_allowed};
        if (card.cookie != process_cookie()) return Reason{Reason::Code::other_process};
        Presence &there = presences[card.place];
        const MutexLock guard(there.lock);
        if (there.number != card.number || there.control->header.magic != kControlMagic)
            return Reason{Reason::Code::wrong_content};
        rank_->peers[peer].control_handle = kControlHandle;
        return Reason{Reason::Code::taken};
    }

    void forget(int peer) override { rank_->peers[peer].control_handle = 0; }

    // Segments. attach turns the owner's record into a handle that submit understands. This one
    // needs no memory: the place of the record in the owner's table, and its word that is there
    // while the segment lives. So a handle that outlives its segment is recognised, not followed.
    // (With RDMA the handle would find the remote key, and attach would fetch it.)
    sennit_status attach(int, const SegmentRecord &record, RemoteMemory *out) override {
        // relaxed: the caller's own copy of the record.
        const std::uint32_t live = record.live.load(std::memory_order_relaxed);
        *out = RemoteMemory{nullptr, static_cast<std::uint64_t>(record.owner_slot) << 32 | live};
        return SENNIT_OK;
    }
    void detach(int, const RemoteMemory &) override {}

    // Data. submit never waits: it takes the operation, says "again" if there is no room, or
    // refuses with the reason in the thread's last error. An operation that was taken belongs to
    // the transport until completed() is called with it, exactly once; `scratch` in it is yours.
    Submit submit(Operation *operation) override {
        if (operation->kind == Operation::Kind::put_event) {
            (void)fail_peer(SENNIT_ERR_UNSUPPORTED, operation->peer, traits().name,
                            "the template transport has no completion data");
            return Submit::failed;
        }
        if (count_ == kQueue) return Submit::again;
        queue_[(first_ + count_) % kQueue] = operation;
        ++count_;
        operation->scratch[0] = kFresh;
        return Submit::accepted;
    }

    // Called by every wait, so it must be cheap when there is nothing to do. Here the data moves
    // only now; a network card would have moved it meanwhile, and this would read its completion
    // queue.
    int progress() override {
        serve();
        int completed = 0;
        while (completed < kCopiesPerProgress && count_ > 0) {
            sennit_status status = SENNIT_OK;
            if (queue_[first_]->kind == Operation::Kind::execute) {
                // Whatever is behind a task waits until it is answered, which keeps the order.
                if (!is_answered(queue_[first_], &status)) break;
            } else {
                status = carry_out(*queue_[first_]);
            }
            // Off the queue first: completed() may submit the next operation at once.
            Operation *operation = take();
            operation->completed(operation, status);
            ++completed;
        }
        return completed;
    }

    // With several rails: rails_to() leaves out one that failed, and the operations on it are
    // completed with FABRIC. The engine then repeats them elsewhere.

    // The end. Also after a failed open or connect, so look at what there is. Nothing may be left
    // open: whoever submitted still has its buffers lent.
    void close(const Deadline &) override {
        // The target must not write into a task that is given back.
        if (count_ > 0 && queue_[first_]->kind == Operation::Kind::execute)
            withdraw(queue_[first_]);
        if (place_ >= 0 && place_ < kRanksPerProcess) {
            Presence &mine = presences[place_];
            const MutexLock guard(mine.lock);
            mine.number = 0;
            mine.control = nullptr;
            // Who sent these finds another number here.
            for (Presence::Posted &task : mine.tasks)
                task = Presence::Posted{};
            mine.task_count = 0;
            place_ = -1;
        }
        while (count_ > 0) {
            Operation *operation = take();
            operation->completed(operation, SENNIT_ERR_PEER_LOST);
        }
    }

  private:
    TemplateAddress card_of(int peer) const {
        TemplateAddress card;
        std::memcpy(&card, addresses_[peer].bytes, sizeof card);
        return card;
    }

    Operation *take() {
        Operation *operation = queue_[first_];
        first_ = (first_ + 1) % kQueue;
        --count_;
        return operation;
    }

    // Null: the segment is gone.
    static std::byte *memory_of(const Operation &operation, Presence &there) {
        if (operation.remote.handle == kControlHandle)
            return reinterpret_cast<std::byte *>(there.control) + operation.offset;
        const SegmentRecord &record = there.control->records[operation.remote.handle >> 32];
        // SYNC segment-live: pairs with the release of the owner that makes or ends the segment.
        if (record.live.load(std::memory_order_acquire) !=
            static_cast<std::uint32_t>(operation.remote.handle))
            return nullptr;
        return reinterpret_cast<std::byte *>(record.owner_address) + operation.offset;
    }

    // The initiator's side of a task: post it once, then look. True when it is over.
    bool is_answered(Operation *operation, sennit_status *status) {
        const TemplateAddress card = card_of(operation->peer);
        Presence &there = presences[card.place];
        const MutexLock guard(there.lock);
        if (operation->scratch[0] == kAnswered) {
            *status = static_cast<sennit_status>(operation->scratch[1]);
            return true;
        }
        if (there.number != card.number) {
            note_gone(*rank_, operation->peer, Gone::left);
            *status = SENNIT_ERR_PEER_LOST;
            return true;
        }
        if (operation->scratch[0] == kFresh) {
            operation->scratch[0] = kPosted;
            there.tasks[place_] = Presence::Posted{operation, rank_->world_rank};
            ++there.task_count;
        }
        return false;
    }

    void withdraw(Operation *operation) {
        const TemplateAddress card = card_of(operation->peer);
        Presence &there = presences[card.place];
        const MutexLock guard(there.lock);
        if (there.number != card.number || there.tasks[place_].operation != operation) return;
        there.tasks[place_] = Presence::Posted{};
        --there.task_count;
    }

    // The target's side: the tasks that others have posted are carried out by this rank's thread.
    void serve() {
        if (place_ < 0 || place_ >= kRanksPerProcess) return;
        Presence &mine = presences[place_];
        const MutexLock guard(mine.lock);
        for (int place = 0; mine.task_count > 0 && place < kRanksPerProcess; ++place) {
            const Presence::Posted posted = mine.tasks[place];
            Operation *operation = posted.operation;
            if (operation == nullptr) continue;
            mine.tasks[place] = Presence::Posted{};
            --mine.task_count;
            std::byte *memory = memory_of(*operation, mine);
            const auto *payload = static_cast<const std::byte *>(operation->local);
            auto *reply = static_cast<std::byte *>(operation->reply);
            const std::uint64_t handle = operation->remote.handle;
            const SegmentRecord *segment =
                handle == kControlHandle ? nullptr : &mine.control->records[handle >> 32];
            const Arrived arrived{posted.from,      &operation->task, segment, memory,
                                  operation->bytes, payload,          reply};
            operation->scratch[1] = sink_.execute(sink_.context, arrived);
            operation->scratch[0] = kAnswered;
        }
    }

    // The status goes to the initiator, so it must say what is true of the data: OK only when a put
    // is in the target's memory, and nothing may move after an error was reported.
    sennit_status carry_out(const Operation &operation) {
        const TemplateAddress card = card_of(operation.peer);
        Presence &there = presences[card.place];
        const MutexLock guard(there.lock);
        if (there.number != card.number) {
            // Tell the rest of the rank, so that waits for this peer end as well.
            note_gone(*rank_, operation.peer, Gone::left);
            return SENNIT_ERR_PEER_LOST;
        }
        std::byte *remote = memory_of(operation, there);
        if (remote == nullptr) return SENNIT_ERR_NOT_REGISTERED;
        // Not memcpy: somebody may be waiting for one of the words, which must arrive whole.
        auto *local = static_cast<std::byte *>(operation.local);
        if (operation.kind == Operation::Kind::put) {
            copy_to_shared(remote, local, operation.bytes);
        } else {
            copy_from_shared(local, remote, operation.bytes);
        }
        return SENNIT_OK;
    }

    Rank *rank_ = nullptr;
    const Address *addresses_ = nullptr;
    EventSink sink_;
    std::uint64_t number_ = 0;
    int place_ = -1;
    Operation *queue_[kQueue] = {};
    unsigned first_ = 0;
    unsigned count_ = 0;
};

}  // namespace

Transport *make_template() {
    return new (std::nothrow) TemplateTransport;
}

}  // namespace sennit::transport
