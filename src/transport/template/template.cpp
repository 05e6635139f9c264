// SPDX-License-Identifier: BSD-3-Clause
// The smallest message transport, a model for a new one: ranks of one process, and a queue of
// copies that are executed when their rank makes progress. Comments say what every message
// transport must do, and what this one omits. transport.hpp has the contract.
//
// There is one object per rank. submit() and progress() are called with the engine's lock held, so
// the queue needs no lock. Ranks share `presences`, one entry per rank, each with a lock.
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

constexpr unsigned kQueue = 16;        // operations; if it is full, submit() returns `again`
constexpr int kCopiesPerProgress = 4;  // bounded work per call
constexpr std::uint64_t kControlHandle = UINT64_MAX;

// The shared state of a rank. A peer may leave at any time, and then its memory is freed. So before
// a rank uses a peer's memory it checks under this lock that the peer still exists. (A network card
// checks its own tables. Find out what your provider does with a packet for a target that is gone:
// the operation must end with PEER_LOST.)
struct Presence {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    std::uint64_t number = 0;  // number of the rank in this entry, never reused; 0: free
    ControlBlock *control = nullptr;
    // Tasks for the rank, by the sender's index in presences. The rank executes them in its
    // progress().
    struct Posted {
        Operation *operation = nullptr;
        int from = -1;
    };
    Posted tasks[kRanksPerProcess];
    unsigned task_count = 0;
};

// The values of scratch[0] of a task. Guarded by the lock of the target.
enum : std::uint64_t { kFresh = 0, kPosted = 1, kAnswered = 2 };

// Process-wide. Entries are reused and never freed, so an old index finds another number, not freed
// memory.
Presence presences[kRanksPerProcess];
std::atomic<std::uint64_t> last_number{0};

// The contents of an Address, sent to the peers at start. Use `place` only if the cookie is that of
// this process. A rank without this transport sends zeros.
struct TemplateAddress {
    std::uint64_t cookie;
    std::uint64_t number;
    std::uint64_t place;  // in presences
};
static_assert(sizeof(TemplateAddress) <= kAddressBytes);

class TemplateTransport final : public Transport {
  public:
    // The properties. Promise only what holds for every operation: `ordered` is true because the
    // queue is executed from its head. event_bits is 0: there is no completion data, so submit()
    // refuses put_event. A transport with completion data calls sink.arrived() from the target's
    // progress(), after the data is visible.
    const Traits &traits() const override {
        static constexpr Traits kTraits{.name = "sim",
                                        .path = SENNIT_PATH_SIM,
                                        .load_store = false,
                                        .ordered = true,
                                        .rails = 1,
                                        .event_bits = 0,
                                        .max_piece_bytes = 4096,
                                        .private_memory = true,
                                        .task_bytes = kMostTaskBytes};
        return kTraits;
    }

    // Start: the functions up to reach() are called in this order. open() looks for the devices and
    // libraries that the path needs. Its error, with the text, ends sennit_init: return one if the
    // user asked for something that is missing, or if memory or a table is full. If the path cannot
    // work on this machine, return OK and let reach() return the reason.
    sennit_status open(Rank &rank, const char *settings, const EventSink &sink) override {
        sink_ = sink;
        if (settings[0] != '\0')
            return fail(SENNIT_ERR_ARG, "the template transport has no setting \"%s\"", settings);
        rank_ = &rank;
        // relaxed: numbers only have to differ.
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

    // `addresses` stays valid, so it is not copied. A network would open its endpoints here and
    // return by the deadline even if a peer does not answer.
    sennit_status connect(const Address *addresses, const Deadline &) override {
        addresses_ = addresses;
        return SENNIT_OK;
    }

    // Whether the peer is reachable. Try it, do not infer it. On success control_handle reaches the
    // peer's control block for reads and writes; barriers and allocation need that.
    Reason reach(int peer) override {
        // The address of a peer of another node is zeros, too.
        if (!rank_->peers[peer].same_node) return Reason{Reason::Code::other_node};
        const TemplateAddress card = card_of(peer);
        if (card.cookie == 0) return Reason{Reason::Code::not_allowed_there};
        if (card.cookie != process_cookie()) return Reason{Reason::Code::other_process};
        Presence &there = presences[card.place];
        const MutexLock guard(there.lock);
        if (there.number != card.number || there.control->header.magic != kControlMagic)
            return Reason{Reason::Code::wrong_content};
        rank_->peers[peer].control_handle = kControlHandle;
        return Reason{Reason::Code::taken};
    }

    void forget(int peer) override { rank_->peers[peer].control_handle = 0; }

    // Segments. attach() makes a handle for submit() from the owner's record: here the index of the
    // record in the owner's table, and its live word, so a stale handle is detected. (With RDMA
    // attach() would fetch the remote key and store it under the handle.)
    sennit_status attach(int, const SegmentRecord &record, RemoteMemory *out) override {
        // relaxed: the record is the caller's copy.
        const std::uint32_t live = record.live.load(std::memory_order_relaxed);
        *out = RemoteMemory{nullptr, static_cast<std::uint64_t>(record.owner_slot) << 32 | live};
        return SENNIT_OK;
    }
    void detach(int, const RemoteMemory &) override {}

    // Data. submit() never waits: it accepts the operation, returns `again` if there is no room, or
    // refuses with the reason in the thread's last error. An accepted operation belongs to the
    // transport until completed() is called with it, exactly once; the transport may use its
    // `scratch`.
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

    // Called by every wait, so it must be cheap if there is nothing to do. Here the data moves now;
    // a network card would have moved it already, and this function would read its completion
    // queue.
    int progress() override {
        serve();
        int completed = 0;
        while (completed < kCopiesPerProgress && count_ > 0) {
            sennit_status status = SENNIT_OK;
            if (queue_[first_]->kind == Operation::Kind::execute) {
                // To keep the order, later operations wait until the task is answered.
                if (!is_answered(queue_[first_], &status)) break;
            } else {
                status = carry_out(*queue_[first_]);
            }
            // Remove it from the queue first: completed() may submit the next operation.
            Operation *operation = take();
            operation->completed(operation, status);
            ++completed;
        }
        return completed;
    }

    // With several rails: rails_to() omits a failed one, and its operations complete with FABRIC.
    // The engine then repeats them on other rails.

    // close() is called after a failed connect() too, so check which parts exist. After a failed
    // open() only the destructor is called. Complete every operation: the engine reuses its
    // buffers.
    void close(const Deadline &) override {
        // The target must not write to a task after its completion.
        if (count_ > 0 && queue_[first_]->kind == Operation::Kind::execute)
            withdraw(queue_[first_]);
        if (place_ >= 0 && place_ < kRanksPerProcess) {
            Presence &mine = presences[place_];
            const MutexLock guard(mine.lock);
            mine.number = 0;
            mine.control = nullptr;
            // The senders of these tasks find that the number of this entry has changed.
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

    // Null if the segment is gone. Omitted: registered memory that its owner has unmapped or
    // protected, which only a copy by the kernel finds.
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

    // The sender's side of a task: posts it once, then checks. True: it has ended.
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

    // The target's side: executes the tasks that others have posted.
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

    // Executes a put or get. The status is OK only when a put's data is in the target's memory.
    // Nothing may move after an error.
    sennit_status carry_out(const Operation &operation) {
        const TemplateAddress card = card_of(operation.peer);
        Presence &there = presences[card.place];
        const MutexLock guard(there.lock);
        if (there.number != card.number) {
            // Mark the peer as gone, so that this rank's waits for it end too.
            note_gone(*rank_, operation.peer, Gone::left);
            return SENNIT_ERR_PEER_LOST;
        }
        std::byte *remote = memory_of(operation, there);
        if (remote == nullptr) return SENNIT_ERR_NOT_REGISTERED;
        // Not memcpy(), which may tear a word that another rank polls.
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
