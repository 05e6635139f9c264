// The inside of the path `fabric`, shared by its sources: start.cpp (opening, reaching, the thread,
// the end), transfer.cpp (puts, gets and their failures) and task.cpp (messages). One object per
// rank.
//
// Locks: `lock_` guards everything of libfabric's and all lists. It is taken with the engine's lock
// held or without, and never the other way round: nobody calls the engine while holding it.
// What completes is put on a list by whoever polls, and worked off by progress(), which the engine
// calls.
#pragma once

#include <pthread.h>

#include <atomic>

#include "base/mutex.hpp"
#include "transport/fabric/choice.hpp"
#include "transport/fabric/message.hpp"
#include "transport/fabric/rail.hpp"

namespace sennit::transport::fabric {

// The control block of a rank; no segment has this key.
inline constexpr std::uint64_t kControlKey = std::uint64_t{1} << 62;
// Every segment has a key of its own, never used again: the place of its record, and its word of
// life. Nothing has to be exchanged.
constexpr std::uint64_t key_of(std::uint32_t slot, std::uint32_t live) {
    return static_cast<std::uint64_t>(slot) << 32 | live;
}

struct PeerLink {
    fi_addr_t address = FI_ADDR_UNSPEC;  // entered when first used
    bool probed = false;                 // its memory was really read
    int probe_error = 0;                 // FI_*, of the last probe
    bool said_goodbye = false;
    PostedList failed;                  // transfers that wait for what a probe says
    std::int64_t failing_since_ns = 0;  // 0: as far as is known the peer can be reached
    std::int64_t next_probe_ns = 0;
    std::int64_t again_since_ns = 0;  // the provider has taken nothing for the peer since
};

// A task that was sent and has no answer yet.
struct OpenTask {
    Operation *operation = nullptr;
    std::uint64_t id = 0;
    std::int64_t resend_ns = 0;  // when it is sent again
    std::int64_t pause_ns = 0;
};

class Network final : public Transport {
  public:
    ~Network() override;

    const Traits &traits() const override;
    sennit_status open(Rank &rank, const char *settings, const EventSink &sink) override;
    void address(Address *out) override;
    sennit_status connect(const Address *addresses, const Deadline &deadline) override;
    Reason reach(int peer) override;
    void forget(int peer) override;
    sennit_status attach(int peer, const SegmentRecord &record, RemoteMemory *out) override;
    void detach(int peer, const RemoteMemory &remote) override;
    Submit submit(Operation *operation) override;
    int progress() override;
    bool rail_usable(unsigned rail) const override;
    void stop_thread() override;
    void close(const Deadline &deadline) override;

  private:
    // start.cpp
    sennit_status read_settings(const char *text);
    sennit_status make_pools();
    void post_receives();
    sennit_status link(int peer);
    static sennit_status expose(void *network, const SegmentRecord &record, std::uint32_t live);
    static void withdraw(void *network, const SegmentRecord &record);
    sennit_status start_thread();
    static void *thread_main(void *network);
    void run_thread();
    void say_goodbye(const Deadline &deadline);

    // transfer.cpp
    void poll_rail();
    Submit start_transfer(Posted *posted);
    int work_off(Posted *posted);
    int finish_transfer(Posted *posted);
    void finish_probe(Posted *posted);
    void look_at_what_is_overdue();
    void probe(int peer, std::int64_t now);
    void suspect(int peer, std::int64_t since_ns);
    void give_up(int peer);
    Posted *take_posted();
    void give_back(Posted *posted);

    // task.cpp
    Message *take_message();
    void give_back(Message *message);
    Submit start_task(Operation *operation);
    bool send(Message *message);
    void fill_task(Message *message, const OpenTask &open);
    bool is_well_formed(const Message &message) const;
    int take_in(const Message &message);
    void serve(const Message &message);
    int take_answer(const Message &message);
    std::byte *memory_of(const MessageHeader &header) const;
    void resend_tasks(std::int64_t now);
    int end_tasks_of_the_lost();

    static constexpr std::size_t kOpenTasks = 256;

    Rank *rank_ = nullptr;
    EventSink sink_;
    Settings settings_;
    Rail rail_;
    InterfaceChoice choice_;
    Reason missing_{};  // why there is no rail
    const Address *addresses_ = nullptr;
    Deadline start_limit_ = Deadline::never();
    std::int64_t unreached_limit_ns_ = 0;  // of first probes that fail
    PeerLink *links_ = nullptr;            // [size]
    fid_mr **exposed_ = nullptr;           // [kSegmentsPerTeam], by slot
    fid_mr *control_ = nullptr;

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    Posted *posts_ = nullptr;  // [post_count_], of transfers and probes
    std::size_t post_count_ = 0;
    Posted *free_posts_ = nullptr;
    Message *free_messages_ = nullptr;
    Message *last_message_ = nullptr;  // that was made
    std::size_t receives_posted_ = 0;
    PostedList done_;    // completed, not yet worked off
    PostedList outbox_;  // messages that found the queue full
    OpenTask tasks_[kOpenTasks];
    std::uint64_t last_task_ = 0;
    std::size_t open_tasks_ = 0;
    std::size_t failing_peers_ = 0;
    std::int64_t looked_ns_ = 0;  // at what is overdue
    // What a probe has read: the header of the peer's control block, or a record in it.
    alignas(8) std::byte probed_[sizeof(SegmentRecord)] = {};
    static_assert(sizeof(ControlHeader) == sizeof(SegmentRecord));
    int probed_peer_ = -1;  // one probe at a time; -1: none
    bool some_are_lost_ = false;

    pthread_t thread_{};
    bool has_thread_ = false;
    std::atomic<bool> stop_{false};
    std::atomic<bool> has_engine_{false};
    std::atomic<std::uint64_t> polls_{0};  // by callers, which the thread leaves alone
};

}  // namespace sennit::transport::fabric
