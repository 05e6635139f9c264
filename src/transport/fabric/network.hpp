// The inside of the path `fabric`, shared by its sources: start.cpp (opening, reaching, the end),
// transfer.cpp (puts and gets), fence.cpp (what is done about those that fail), task.cpp (messages)
// and thread.cpp (progress while the rank computes). One object per rank.
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
#include "transport/fabric/thread.hpp"

namespace sennit::transport::fabric {

// What a peer names memory by; a handle is never used again, so nothing has to be exchanged: the
// place of the segment's record, and its word of life. No segment has that of the control block.
inline constexpr std::uint64_t kControlHandle = std::uint64_t{1} << 62;
constexpr std::uint64_t handle_of(std::uint32_t slot, std::uint32_t live) {
    static_assert(kSegmentsPerTeam <= 1 << 14);
    return static_cast<std::uint64_t>(slot) << 32 | live;
}
// libfabric's key has the tag of the owner's passive endpoint besides. So what was sent to an
// earlier endpoint is refused, even if its address is used again.
constexpr std::uint64_t key_of(std::uint64_t handle, std::uint16_t tag) {
    return handle | static_cast<std::uint64_t>(tag) << 46;
}

// Memory that peers may reach.
struct Exposed {
    fid_mr *registration = nullptr;  // null: not yet again, see expose_again()
    void *memory = nullptr;          // null: the place is free
    std::size_t bytes = 0;
    std::uint64_t handle = 0;
};

struct PeerLink {
    fi_addr_t messages = FI_ADDR_UNSPEC;  // entered when first used
    fi_addr_t passive = FI_ADDR_UNSPEC;
    std::uint64_t number = 0;  // of the peer's passive endpoint; 0: not known yet
    std::uint16_t tag = 0;     // in the keys of its memory
    bool probed = false;       // its memory was really read
    bool said_goodbye = false;
    bool is_refused = false;  // its host was silent for too long: nothing is taken from it
    bool is_lost = false;     // what was under way to it has ended
    bool uneasy = false;      // some of the following is so
    bool asks = false;        // a question waits for its answer
    bool in_doubt = false;    // nothing is sent to the endpoint before there is another
    PostedList doubtful;      // transfers that have failed, to be repeated when the doubt is over
    std::int64_t fenced_ns = 0;  // when the number was learnt
    std::int64_t next_question_ns = 0;
    std::int64_t question_pause_ns = 0;
    std::int64_t failing_since_ns = 0;  // messages to it; 0: they go
    int failed_by = 0;                  // FI_*, the last of them
    std::uint32_t posted = 0;           // transfers, doubtful ones too
    // The provider has taken nothing for the peer since: transfers, and messages. 0: it does.
    std::int64_t again_since_ns = 0;
    std::int64_t unsent_since_ns = 0;
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
    bool describe_rail(int peer, unsigned number, sennit_rail *out) override;
    void stop_thread() override;
    void close(const Deadline &deadline) override;

    // thread.cpp; called by the thread.
    Network *next_tended() const { return tended_.next; }
    void set_next_tended(Network *next) { tended_.next = next; }
    bool tend(ThreadSleep *sleep);
    void note_wakeup(const ThreadSleep &sleep);

  private:
    // What reach() reads from a peer. It outlives a call that gave it up.
    struct Trial {
        Operation operation;
        bool over = false;
        bool abandoned = false;
        sennit_status status = SENNIT_OK;
        alignas(8) std::byte header[sizeof(ControlHeader)];
    };

    // start.cpp
    static Trial *make_trial(int peer);
    bool is_silent(const PeerLink &link, std::int64_t now) const;
    sennit_status read_settings(const char *text);
    sennit_status make_pools();
    sennit_status meet_watches();
    void post_receives();
    sennit_status link(int peer);
    sennit_status expose_at(std::size_t place, const Exposed &memory);
    void expose_again();
    void withdraw_from(std::size_t place);
    static sennit_status expose(void *network, const SegmentRecord &record, std::uint32_t live);
    static void withdraw(void *network, const SegmentRecord &record);
    void say_goodbye(const Deadline &deadline);

    // transfer.cpp
    std::size_t poll_rail(bool all = false);
    std::size_t take_events(bool all);
    Submit start_transfer(Posted *posted);
    int work_off(Posted *posted);
    int finish_transfer(Posted *posted);
    static std::int64_t note_again(PeerLink &link, std::int64_t &since);
    Posted *take_posted();
    void give_back(Posted *posted);

    // fence.cpp
    void unsettle(PeerLink &link);
    void ask(PeerLink &link);
    void doubt(PeerLink &link);
    void note_failing(int peer, int error);
    void look_after_links(std::int64_t now);
    void look_after(int peer, std::int64_t now);
    void repeat(PeerLink &link);
    bool reopen_passive();
    void draw_tag();
    void send_question(int peer, std::int64_t now);
    void answer_question(const Message &question);
    void send_endpoint(int peer, const Message *question, bool is_new = false);
    void take_endpoint(const Message &answer);
    bool is_older_out(int peer, std::uint64_t number) const;
    void end_older(int peer, std::uint64_t number);
    void reset_active();
    void announce_endpoint(int except);
    void take_news();
    void lose(int peer);
    void abandon(PeerLink &link);

    // thread.cpp
    bool leaves_alone(ThreadSleep *sleep);
    bool look_once(bool has_engine);
    bool sleeps_on_descriptors(ThreadSleep *sleep);
    bool others_compute(std::int64_t now);

    // task.cpp
    Message *take_message();
    void give_back(Message *message);
    Submit start_task(Operation *operation);
    bool send(Message *message);
    void send_or_keep(Message *message);
    void look_for_stuck_messages(std::int64_t now);
    void reopen_outgoing();
    void finish_send(Message *message);
    void finish_receive(Message *message);
    void fill_header(Message *message, int peer, MessageKind kind) const;
    void fill_task(Message *message, const OpenTask &open);
    bool is_well_formed(const Message &message) const;
    int take_in(const Message &message);
    void serve(const Message &message);
    int take_answer(const Message &message);
    const SegmentRecord *live_record(std::uint64_t key) const;
    std::byte *memory_of(const MessageHeader &header, const SegmentRecord **segment) const;
    void resend_tasks(std::int64_t now);
    int end_tasks_of_the_lost();

    static constexpr std::size_t kOpenTasks = 256;

    Rank *rank_ = nullptr;
    EventSink sink_;
    Settings settings_;
    Rail rail_;
    InterfaceChoice choice_;
    std::uint16_t watch_port_ = 0;
    std::uint32_t news_seen_ = 0;  // of the watch
    Reason missing_{};             // why there is no rail
    const Address *addresses_ = nullptr;
    Deadline start_limit_ = Deadline::never();
    std::int64_t unreached_limit_ns_ = 0;  // of first probes that fail
    PeerLink *links_ = nullptr;            // [size]
    Exposed *exposed_ = nullptr;  // [kSegmentsPerTeam + 1], by slot; the control block last

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    Posted *posts_ = nullptr;  // [post_count_], of transfers
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
    std::uint64_t number_ = 1;    // of the passive endpoint
    std::uint16_t tag_ = 0;       // and in the keys
    std::int64_t closed_ns_ = 0;  // when an endpoint was closed for a peer, last
    std::size_t uneasy_links_ = 0;
    std::int64_t looked_ns_ = 0;           // at what is overdue
    std::int64_t outgoing_opened_ns_ = 0;  // the endpoint for sends, last
    bool some_are_unsent_ = false;         // messages
    static constexpr std::int64_t kFirstStuckNs = 200'000'000;
    std::int64_t outgoing_pause_ns_ = kFirstStuckNs;  // before it may be opened again
    bool some_wait_ = false;  // the engine tries again what was not taken, when it is called
    bool some_are_lost_ = false;
    bool some_are_hidden_ = false;  // of exposed_

    std::atomic<bool> has_engine_{false};
    std::atomic<std::uint64_t> polls_{0};  // by callers, which the thread leaves alone
    ProgressSettings progress_;
    // What the thread knows of the last look.
    struct Tended {
        Network *next = nullptr;  // in the thread's list
        std::uint64_t polls = 0;
        std::uint64_t waits = 0;
        std::int64_t busy_until_ns = 0;
        std::size_t first_descriptor = 0;  // in the last ThreadSleep
        std::size_t descriptors = 0;
        unsigned lies = 0;           // of descriptors, in a row
        std::int64_t asked_ns = 0;   // when others_compute was found out
        std::int64_t others_ns = 0;  // processor time of the process's other threads, until then
        bool others_compute = true;
        bool is_placed = false;
    };
    Tended tended_;
};

}  // namespace sennit::transport::fabric
