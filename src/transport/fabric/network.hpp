// SPDX-License-Identifier: BSD-3-Clause
// The class of the path `fabric`: one object per rank. Its members are in start.cpp (opening and
// closing), cards.cpp (data that ranks exchange at start), trial.cpp (trial of other nodes),
// reach.cpp (usable rails, first use of a peer), transfer.cpp (puts and gets), events.cpp
// (completion data of peers' puts), fence.cpp (failed transfers), outage.cpp (overdue operations,
// dead rails), task.cpp (messages), answers.cpp (delayed answers), thread.cpp (progress while the
// rank computes), key_exchange.cpp (keys), lent.cpp (registration for operations) and windows.cpp
// (TCP windows).
//
// `lock_` guards all libfabric objects and all lists. It may be locked with the engine's lock held.
// Never call the engine while holding it, except as EventSink permits. The polling thread puts
// completions on a list; the engine calls progress(), which processes the list.
#pragma once

#include <pthread.h>

#include <atomic>

#include "base/array.hpp"
#include "base/mutex.hpp"
#include "base/sparse_table.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/cards.hpp"
#include "transport/fabric/choice.hpp"
#include "transport/fabric/events.hpp"
#include "transport/fabric/links.hpp"
#include "transport/fabric/message.hpp"
#include "transport/fabric/rail.hpp"
#include "transport/fabric/task.hpp"
#include "transport/fabric/thread.hpp"

namespace sennit::transport::fabric {

// A peer names memory by a handle: the slot of the segment's record, and its live word. Both ranks
// compute the handle from the record. No segment has the handle of the control block.
inline constexpr std::uint64_t kControlHandle = std::uint64_t{1} << 62;
constexpr std::uint64_t handle_of(std::uint32_t slot, std::uint32_t live) {
    static_assert(kSegmentsPerTeam <= 1 << 14);
    return static_cast<std::uint64_t>(slot) << 32 | live;
}
// The libfabric key of memory, unless the provider chooses keys. The tag is that of the owner's
// passive endpoint. So a transfer to an earlier endpoint is refused, even if a later endpoint has
// the same address.
constexpr std::uint64_t key_of(std::uint64_t handle, std::uint16_t tag) {
    return handle | static_cast<std::uint64_t>(tag) << 46;
}

// The indices of exposed memory in exposed_. First come the segments, by their slot; then the
// control block, as a whole in its first place or in pieces; then the memory of trials.
inline constexpr std::size_t kControlPlace = kSegmentsPerTeam;
inline constexpr std::size_t kTrialPlace = kControlPlace + kControlPieces;
inline constexpr std::size_t kPlaces = kTrialPlace + 1;
constexpr std::uint64_t control_handle(unsigned piece) {
    return kControlHandle | std::uint64_t{piece} << 32;
}
inline constexpr std::uint64_t kTrialHandle = control_handle(kControlPieces);
static_assert(kControlPieces < 1 << 14);

// Memory exposed to peers, on every rail.
struct Exposed {
    void *memory = nullptr;  // null: the place is free
    std::size_t bytes = 0;
    std::uint64_t handle = 0;
};

// The interval of checks for operations to retry.
inline constexpr std::int64_t kRetryCheckNs = 1'000'000;
// The interval of checks for overdue operations.
inline constexpr std::int64_t kOutageCheckNs = 250'000'000;
// If the provider accepts no message for a peer for this long, messages go from a new endpoint. The
// time doubles with each new endpoint.
inline constexpr std::int64_t kFirstStuckNs = 200'000'000;
// RailLink::patience_ns is not doubled from this value on.
inline constexpr std::int64_t kMostPatienceNs = 5'000'000'000;

// Whether a peer may take one more of the `places`. The peer uses `own` of them, and all peers use
// `used`. A peer gets at most a third as many places as are free, so that operations to a stopped
// peer, which do not end for a long time, cannot fill all of them.
constexpr bool has_share(std::size_t own, std::size_t used, std::size_t places) {
    return 3 * own + used < places;
}

// A rail's bit in a set of rails.
constexpr std::uint8_t bit(unsigned rail) {
    return static_cast<std::uint8_t>(1u << rail);
}

struct RailState {
    Rail rail;
    LentMemory copies;
    fid_mr **registrations = nullptr;     // [kPlaces], of exposed_[i]; null: not registered
    std::size_t receives = 0;             // receives posted at the incoming endpoint
    std::size_t receives_back = 0;        // receives posted at the outgoing endpoint
    std::size_t receives_wanted = 0;      // wanted number at each of these endpoints
    std::size_t transfers = 0;            // transfers posted, or to be repeated
    std::uint64_t number = 1;             // number of the open passive endpoint
    std::uint16_t tag = 0;                // tag of its keys
    std::int64_t outgoing_opened_ns = 0;  // last opening of the endpoint for sends
    std::int64_t outgoing_pause_ns = kFirstStuckNs;  // pause before it may be opened again
    std::int64_t closed_ns = 0;                      // last close of the passive endpoint, or a try
    Refusals registration_refusals;                  // for lack of room
    bool was_out_of_reach = false;                   // the rail did not reach some peer at start
    bool must_close = false;                         // close_passive() was called; not closed yet
};

// The rails to a node, by the results of the trial.
struct NodeRails {
    std::atomic<std::uint8_t> usable{0};  // rails that reach it; used peers have PeerRails
    std::uint8_t lossy = 0;               // rails that lost data in the trial
    std::uint8_t error = 0;               // errno of the failed trial; 0: unknown
    bool is_settled = false;              // the nodes have agreed on the rails
    bool data_arrives = false;            // completion data arrives by each rail that is not lossy
};

// The set of rails that reach a used peer, with the bit kOfPeer. 0: the peer was not used yet, and
// the rails are those of its node.
using PeerRails = std::atomic<std::uint16_t>;
inline constexpr unsigned kOfPeer = 0x100;

class Network final : public Transport {
  public:
    ~Network() override;

    const Traits &traits() const override;
    sennit_status open(Rank &rank, const char *settings, const EventSink &sink) override;
    void address(Address *out) override;
    sennit_status connect(const Address *addresses, const Deadline &deadline) override;
    void write_more(std::byte *out) override;
    sennit_status read_more(const std::byte *all, std::size_t bytes) override;
    NodeTrial try_node(int first) override;
    void settle(int peer, const NodeTrial &found) override;
    Reason reach(int peer) override;
    void forget(int peer) override;
    sennit_status attach(int peer, const SegmentRecord &record, RemoteMemory *out) override;
    void detach(int peer, const RemoteMemory &remote) override;
    Submit submit(Operation *operation) override;
    std::byte *take_room(std::size_t bytes) override;
    void give_room_back(std::byte *room) override;
    int finish_postponed() override;
    void hurry(int peer) override;
    int progress() override;
    void describe_trouble(int peer, char *text, std::size_t bytes) override;
    std::uint64_t rails_to(int peer) const override;
    unsigned event_bits_to(int peer) override;
    void expect_events() override;
    void read_events() override;
    bool describe_rail(int peer, unsigned number, sennit_rail *out) override;
    void stop_thread() override;
    void close(const Deadline &deadline) override;

    // thread.cpp; called by the thread.
    Network *next_served() const { return thread_state_.next; }
    void set_next_served(Network *next) { thread_state_.next = next; }
    bool serve_rank(ThreadSleep *sleep);
    void note_wakeup(const ThreadSleep &sleep);

  private:
    // Returns the peer's link, which is made at the first use. Call it with the lock held.
    PeerLink &use(int peer) {
        PeerLink *const known = links_.find(peer);
        return known != nullptr ? *known : make_link(peer);
    }
    // The link of a used peer.
    RailLink &link_of(int peer, unsigned rail) const {
        return rail_links_[peer * static_cast<int>(rail_count_) + static_cast<int>(rail)];
    }
    NodeRails &rails_to_node_of(int peer) const { return node_rails_[rank_->peers[peer].node]; }
    std::uint8_t usable(int peer) const;
    void set_usable(int peer, unsigned rails);

    // trial.cpp
    struct Trial;
    struct RailTrial;
    sennit_status expose_trials();
    TrialRoom &trial_room(unsigned rail, int node) const {
        return trials_[rail * node_count_ + static_cast<unsigned>(node)];
    }
    std::size_t trial_bytes() const {
        return std::size_t{rail_count_} * node_count_ * sizeof(TrialRoom);
    }
    bool is_of_trial(unsigned rail, std::uint64_t data) const;
    int speaker_of(int first) const;
    bool is_speaker() const;
    Trial *make_trial(int peer, unsigned rail);
    void try_rails(int peer);
    bool check_trial(int peer, unsigned rail, RailTrial *trial, std::int64_t first_taken_ns);
    bool advance_trial(int peer, unsigned rail, RailTrial *state);
    void end_trials(int peer, RailTrial trials[]);
    bool is_silent(const RailLink &link, std::int64_t now) const;

    // reach.cpp
    [[gnu::cold]] PeerLink &make_link(int peer);
    bool is_lossy(int peer, unsigned rail) const;
    void leave_out_others(int peer);
    Submit contact(int peer, unsigned rail);
    static void end_probe(PeerLink &link);
    void note_reached(int peer);
    void check_reachability(int peer, std::int64_t now);

    // start.cpp
    sennit_status make_pools();
    sennit_status open_rails();
    void make_room_for_connections() const;
    sennit_status start();
    void post_receives(unsigned rail, bool may_wait);
    bool post_receive(unsigned rail, bool is_back);
    sennit_status expose_at(std::size_t place, const Exposed &memory);
    sennit_status expose_control();
    sennit_status expose_piece(unsigned piece);
    void expose_again();
    void withdraw_from(std::size_t place);
    void withdraw_from_rail(std::size_t place, unsigned rail);
    static sennit_status expose(void *network, const SegmentRecord &record, std::uint32_t live);
    static void withdraw(void *network, const SegmentRecord &record);
    bool send_goodbye_to(int peer);
    void exchange_goodbyes(const Deadline &deadline);

    // cards.cpp
    std::size_t names_bytes() const { return rail_count_ * interfaces_.name_bytes(); }
    const std::byte *name_of(int peer, unsigned rail) const;
    sockaddr_in messages_name(int peer, unsigned rail) const;
    Reason why_unusable(int peer) const;
    bool lacks_descriptors(std::uint64_t *limit) const;
    sennit_status link(int peer, unsigned rail);
    static watch::Host watch_host_of(const void *network, int peer);

    // events.cpp
    void note_data(unsigned rail, std::uint64_t data);
    bool has_events() const { return has_settled_ && !events_.empty(); }
    // Whether progress() has something to deliver or to end.
    bool has_arrivals() const { return !done_.empty() || some_are_lost_ || has_events(); }
    void deliver_events();
    void end_data_of_trials(int peer, const NodeTrial &found);

    // transfer.cpp
    Submit refuse_event(int peer) const;
    static bool is_lost_event(const Posted &posted);
    std::size_t poll_rails(bool all = false);
    bool awaits_completions() const;
    bool awaits_data() const;
    bool is_read_now(unsigned rail, bool is_any_busy) const;
    std::size_t handle_completions(unsigned rail, bool all);
    void handle_completion(unsigned rail, const RailCompletion &completion);
    static Posted *mark_completed(const RailCompletion &completion);
    void finish(Message *message);
    void read_data_before_tasks();
    Submit start_transfer(Posted *posted);
    Submit end_unstarted(Posted *posted, sennit_status verdict);
    int process_completed(Posted *posted);
    int finish_transfer(Posted *posted);
    Submit retry_later(RailLink *link);
    void put_on_rail(Posted *posted, unsigned rail);
    void take_off_rail(const Posted &posted);
    Posted *take_posted(Operation *operation);
    void give_back(Posted *posted);

    // fence.cpp
    void request_service(RailLink &link);
    void ask(RailLink &link);
    void set_in_doubt(RailLink &link);
    void note_failing(int peer, unsigned rail, int error);
    void service_links(std::int64_t now);
    void service_link(int peer, unsigned rail, std::int64_t now);
    void repeat(int peer, unsigned rail);
    bool reopen_passive(unsigned rail);
    void close_passive(unsigned rails);
    void draw_tag(unsigned rail);
    unsigned rail_for_question(int peer, unsigned rail) const;
    void send_question(int peer, unsigned rail, std::int64_t now);
    void answer_question(const Message &question);
    void send_endpoint(int peer, unsigned rail, unsigned by, const Message *question,
                       bool is_new = false);
    void handle_endpoint(const Message &answer);
    void forget_address(unsigned rail, fi_addr_t *address);
    bool is_older_in_flight(int peer, unsigned rail, std::uint64_t number) const;
    void cut_older(int peer, unsigned rail, std::uint64_t number);
    void end_older(int peer, unsigned rail, std::uint64_t number, std::int64_t now);
    void end_all();
    void reset_active(unsigned rail);
    void announce_endpoint(int except, unsigned rail);
    void read_watch_news();
    bool read_watch_news_of(int peer);
    void close_marked_passive();
    void lose_departed_peers(std::int64_t now);
    void mark_lost(int peer);
    void abandon(RailLink &link);

    // key_exchange.cpp
    static std::uint64_t handle_for(const RailLink &link, const Operation &operation);
    KeyTable::State find_key(const Posted &posted, RemoteKey *key);
    std::size_t fill_question(const RailLink &link, std::byte *handles) const;
    std::size_t place_for(std::uint64_t handle);
    std::size_t row_bytes(unsigned rail) const;
    bool fill_row(unsigned rail, std::uint64_t handle, std::byte *row);
    bool is_dead(const Message &answer, std::uint64_t handle) const;
    KeyTable::Row *add_key(RailLink &link, unsigned rail, std::uint64_t handle);
    void forget_keys(RailLink &link, unsigned rail);
    void store_keys(RailLink &link, const Message &answer);

    // lent.cpp
    sennit_status make_copies();
    std::byte *copy_of(const Posted *posted) const;
    int lend_to(Posted *posted, Rail::Transfer *transfer);
    static void end_lent(Posted *posted);
    void copy_out(const Posted &posted);
    static bool may_retry_registration(int code, RailState &state);
    bool end_transfers(unsigned rail);
    bool make_messages();
    void free_messages();

    // outage.cpp
    static unsigned rail_after(std::uint8_t usable, unsigned rail);
    unsigned rail_to_use(int peer, unsigned rail) const;
    void check_outages();
    bool is_passed_over(Posted *posted) const;
    void note_waiting(int peer, unsigned rail, bool is_transfer);
    bool has_died(int peer);
    void note_silent(int peer, unsigned rail);
    bool has_moved(const RailLink &link, unsigned rail, std::uint64_t *count) const;
    void note_idle(int peer, unsigned rail, bool has_answered);
    void note_asked(int peer, unsigned rail);
    void note_mute(int peer, unsigned rail);
    static bool polls_without_messages(const PeerLink &link);
    void reopen_all_outgoing(int peer);
    void end_overdue(int peer, unsigned rail);
    static bool carries_nothing(const RailLink &link);
    void leave_out(int peer, unsigned rail);
    void restore_rail(int peer, unsigned rail);
    void reconnect_left_out(int peer, unsigned rail, std::int64_t now);
    bool is_left_out_for_all(unsigned rail) const;
    bool move_to_another(Posted *posted);

    // thread.cpp
    bool leaves_to_caller(ThreadSleep *sleep);
    bool holds_answers();
    void poll_until_empty(bool has_engine, std::int64_t now);
    bool poll_once(bool has_engine);
    std::int64_t gather_until_ns(std::int64_t now);
    std::size_t arm_rails(pollfd *out);
    void disarm_rails();
    bool add_descriptors(ThreadSleep *sleep, std::int64_t now);
    bool others_compute(std::int64_t now);

    // task.cpp; note_length() and limit_windows() are in windows.cpp
    Message *take_message();
    Message *take_message_for(const Operation &operation);
    Message *message_of(std::byte *room) const;
    void give_back(Message *message);
    Submit start_task(Operation *operation);
    bool uses_peers_connection(const Message &message, const RailLink &link) const;
    void open_back(RailLink &link, const Message &message);
    ssize_t post_back(Message *message, std::size_t length, RailLink *link);
    ssize_t post_message(Message *message, std::size_t length, RailLink *link);
    bool send(Message *message);
    static bool was_outgoing(const Message &message);
    void read_leftover_completions(unsigned rail);
    void count_message(const Message &message, std::size_t bytes);
    void send_or_queue(Message *message);
    void check_stuck_messages(std::int64_t now);
    bool check_stuck_messages(unsigned rail, std::int64_t now);
    void reopen_outgoing(unsigned rail);
    void finish_send(Message *message);
    void finish_receive(Message *message);
    void note_length(RailLink &link, const Message &message);
    void note_arrival(const MessageHeader &header);
    void limit_windows(std::int64_t now);
    void fill_header(Message *message, int peer, unsigned rail, MessageKind kind);
    void fill_task(Message *message, const OpenTask &open);
    bool is_well_formed(const Message &message) const;
    void handle_task_or_answer(Message *message, Answered *answered);
    void handle_leading_tasks_and_answers(PostedList *done, Answered *answered);
    void handle_hurry_or_goodbye(const Message &message);
    void execute_and_answer(const Message &task);
    sennit_status execute(const Message &task, std::byte *reply) const;
    void end_answered(const Message &message, Answered *answered);
    void end_task(int from, std::uint64_t id, const Answer &answer, Answered *answered);
    static int complete(const Answered &answered);
    const SegmentRecord *live_record(std::uint64_t key) const;
    std::byte *memory_of(const MessageHeader &header, const SegmentRecord **segment) const;
    void resend_tasks(std::int64_t now);
    int end_tasks_of_the_lost();

    // answers.cpp
    bool hold(const Message &task, std::uint32_t subject, const std::byte *reply);
    HeldAnswers *held_for(int peer);
    void add_held(Message *message);
    void note_carried(const Message &message);
    std::uint32_t subject_of(const Message &task) const;
    void release_held(HeldAnswers *held);
    void send_held(HeldAnswers *held, bool is_in_vain);
    void send_due(std::int64_t now);
    void send_hurried(int peer);
    void send_held_after_transfer(int peer);

    // The size of a message's body; equal on all ranks.
    std::size_t body_bytes() const { return longest_payload_ + kAnswersBytes; }

    static constexpr std::size_t kHeldPeers = 16;
    static constexpr std::size_t kOpenTasks = 256;
    static constexpr std::size_t kMostQueuedMessages = 256;

    Rank *rank_ = nullptr;
    EventSink sink_;
    Traits traits_{.name = "fabric",
                   .path = SENNIT_PATH_FABRIC,
                   .load_store = false,
                   .ordered = false,  // failed operations are repeated after later ones
                   .rails = 1,
                   .event_bits = 0,
                   .max_piece_bytes = std::size_t{4} << 20,
                   .private_memory = true,
                   .task_bytes = kMostTaskBytes,
                   .payload_bytes = kShortPayloadBytes,
                   .bulk_bytes = std::size_t{4} << 20};
    Settings settings_;
    Interfaces interfaces_;
    Interfaces watched_;  // interfaces for the watch, if interfaces_ have no IPv4 addresses
    InterfaceChoice choice_;
    RailState rails_[kMostRails];
    unsigned rail_count_ = 0;
    std::size_t longest_payload_ = 0;  // of any rank's task, independent of this rank's knobs
    std::uint16_t watch_port_ = 0;
    std::uint32_t news_seen_ = 0;  // count of the watch's news already read
    Reason missing_{};             // the reason for having no rail
    NodeRoom node_room_;
    bool has_settled_ = false;  // settle() was called for a peer
    Cards cards_;
    // Used if the provider chooses names: the names of each rank's message endpoints, by rail; and
    // the cards with the addresses of the watches.
    NodeTable names_;
    Cards named_cards_;
    InterfaceChoice named_choice_;
    Deadline start_limit_ = Deadline::never();
    std::int64_t unreached_limit_ns_ = 0;  // time limit of failing trials
    Array<NodeRails> node_rails_;          // by number of the node
    PeerRails *peer_rails_ = nullptr;      // [size], zero_pages()
    SparseTable<PeerLink> links_;          // [size]
    SparseTable<RailLink> rail_links_;     // [size][rail_count_], used with their peer
    Exposed *exposed_ = nullptr;           // [kPlaces]
    TrialRoom *trials_ = nullptr;  // [rail_count_][node_count_], zero_pages(); null: no speaker
    unsigned node_count_ = 0;
    std::uint8_t ended_trials_ = 0;            // rails closed by end_data_of_trials()
    std::atomic<bool> expects_events_{false};  // a peer may send events
    bool reads_data_first_ = false;            // progress() reads all events before tasks
    EventList events_;                         // received events
    EventList delivered_;                      // events that progress() is handing to the sink
    bool delivers_events_ = false;             // while set, no passive endpoint is closed

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    Posted *posts_ = nullptr;  // [post_count_], of transfers
    std::size_t post_count_ = 0;
    Posted *free_posts_ = nullptr;
    Message *free_messages_ = nullptr;
    MessagePool *pools_ = nullptr;
    std::byte *copies_ = nullptr;   // one place per entry of posts_; null: the provider needs none
    std::size_t copied_bytes_ = 0;  // size of a place
    bool no_more_messages_ = false;
    std::size_t messages_made_ = 0;
    std::size_t rooms_in_use_ = 0;  // messages whose bodies are lent to the engine
    PostedList done_;               // completed, not processed yet
    // Messages with answers, whose tasks have been executed. Changed with the engine's mutex and
    // `lock_` held, so one of them is enough to read it.
    PostedList answers_;
    PostedList late_;                  // messages whose completions were read at a close
    PostedList outbox_;                // messages that the provider refused
    std::size_t queued_messages_ = 0;  // entries of outbox_, except goodbyes
    OpenTask tasks_[kOpenTasks];
    std::uint64_t last_task_ = 0;
    std::size_t open_tasks_ = 0;
    HeldAnswers held_[kHeldPeers];
    std::size_t held_peers_ = 0;
    unsigned poll_number_ = 0;
    std::size_t links_to_service_ = 0;
    std::int64_t poll_ns_ = 0;          // start of the last poll, by boot_ns() like all times here
    std::int64_t called_ns_ = 0;        // start of the last poll by a caller
    std::int64_t unawaited_ns_ = 0;     // last arrival for which no peer waits
    std::int64_t retry_check_ns_ = 0;   // last check of operations to retry
    std::int64_t outage_check_ns_ = 0;  // last check for outages
    std::uint32_t outage_check_ = 1;    // number of the last check
    std::uint16_t overdue_after_checks_ = 0;
    std::uint8_t mute_after_checks_ = 0;  // checks without a message that make a peer mute
    std::int64_t windows_ns_ = 0;         // no window is limited before this time
    bool some_want_windows_ = false;
    bool some_are_unsent_ = false;  // some messages were refused by the provider
    bool some_wait_ = false;        // the thread must make the engine retry
    bool some_are_lost_ = false;
    bool some_leave_ = false;
    bool some_are_hidden_ = false;  // some memory in exposed_ is not registered
    bool some_must_close_ = false;
    bool logged_full_ = false;  // the lack of descriptors was logged

    std::atomic<bool> has_engine_{false};
    std::atomic<bool> is_awaited_{false};  // a peer waits for this rank
    std::atomic<std::uint64_t> polls_{0};  // number of calls of progress()
    ProgressSettings progress_;
    // The thread's data about this rank, after its last poll.
    struct ThreadState {
        Network *next = nullptr;  // in the thread's list
        std::uint64_t polls = 0;
        std::int64_t counted_ns = 0;  // time of the last count
        std::uint64_t waits = 0;
        std::int64_t busy_until_ns = 0;
        std::int64_t polled_pause_ns = 0;  // doubles while callers poll
        std::int64_t timed_pause_ns = 0;   // doubles while nothing arrives
        std::int64_t gather_ns = 0;   // limit for gathered arrivals; doubles while callers poll
        std::int64_t awaited_ns = 0;  // when the thread last found is_awaited_ set
        std::size_t first_descriptor = 0;  // in the last ThreadSleep
        std::size_t descriptors = 0;
        unsigned false_wakeups = 0;  // number of consecutive false wake-ups by descriptors
        std::int64_t asked_ns = 0;   // time of the last check for others_compute
        std::int64_t others_ns = 0;  // processor time of the process's other threads then
        bool others_compute = true;
        bool caller_starts = false;  // ProgressBell::is_starting
        bool is_armed = false;       // the rails may have descriptors that only sleeps need
        bool is_bound = false;
    };
    ThreadState thread_state_;
};

}  // namespace sennit::transport::fabric
