// SPDX-License-Identifier: BSD-3-Clause
// The implementation of the watch, shared by its sources: watch.cpp (start, end, queries),
// watcher.cpp (the thread) and lease.cpp (questions and answers). One object per rank.
//
// Only the thread uses connections. Data for other threads and other ranks of the node is in the
// table, whose words are atomic.
#pragma once

#include <poll.h>
#include <pthread.h>

#include <atomic>

#include "base/array.hpp"
#include "runtime/watch/connection.hpp"
#include "runtime/watch/watch.hpp"

namespace sennit::watch {

// Parts of the knob SENNIT_PEER_TIMEOUT.
struct Times {
    std::int64_t timeout_ns = 0;
    std::int64_t pause_ns = 0;   // 1/16: from an answer to the next question
    std::int64_t lease_ns = 0;   // 13/16: how long data of a node is accepted
    std::int64_t margin_ns = 0;  // 1/8: between the end of the lease and the report
    std::int64_t answer_ns = 0;  // 1/8: first time limit of an answer: answer_limit()
    std::int64_t quiet_ns = 0;   // 3/16: time without an answer before the report to other nodes
    std::int64_t first_ns = 0;   // 11/16: time limit of the first answers
    std::int64_t fresh_ns = 0;   // at least 3/16: how long looked_ns and unheard_ns are valid
    std::int64_t stop_ns = 0;    // 1/2: a node that has not watched for this long was stopped
};

// A connection to a rank of another node by one of its rails. After close() it still has the last
// rank and rail.
struct RankConnection : WatchConnection {
    int rank = -1;
    unsigned way = 0;

    void take_over(RankConnection &other) {
        WatchConnection::take_over(other);
        rank = other.rank;
        way = other.way;
    }
};

// Another node, from the view of the watcher here.
struct Node {
    int first = -1;           // its lowest rank, which represents it
    bool is_reached = false;  // a path leads to one of its ranks
    bool is_quiet = false;    // its silence was reported to other nodes
    unsigned rounds =
        0;  // unsuccessful rounds over all its ranks and their rails since the last quick answer
    bool is_unanswered = false;  // the question has no answer and is repeated unchanged
    bool waits = false;          // the question was sent on this connection
    std::int64_t question_ns = 0;
    std::int64_t since_ns = 0;               // start of the connection, or time of the question
    std::int64_t next_ns = 0;                // time to connect or ask again
    std::int64_t again_ns = 0;               // time to repeat the question on the same connection
    std::int64_t next_poll_question_ns = 0;  // time to ask again which ranks poll their network
    RankConnection connection;
    // The connection on which the question was first sent; the answer may still arrive there. If a
    // rail has a long queue, a new connection waits in that queue too.
    RankConnection slow;

    void close() {
        connection.close();
        slow.close();
    }
};

class NodeWatch {
  public:
    explicit NodeWatch(Rank &rank) : rank_(&rank) {}
    ~NodeWatch();

    sennit_status open(std::uint16_t *port);
    void set_hosts(HostOf host_of, const void *context);
    sennit_status start(bool crowded);
    void stop();
    void forked();

    bool has_lease(int peer) const;
    Gone gone(int peer) const;
    std::uint32_t ended() const;
    bool has_news(std::int64_t now, std::uint32_t *seen) const;
    bool refuses(int peer) const;
    bool is_silent(int peer) const;
    void note_look() const;
    void note_hearing(int peer, Hearing hearing) const;
    bool looks(int peer) const;
    bool is_unheard(int peer) const;

  private:
    struct Guest {  // a connection from another node
        WatchConnection connection;
        int from = -1;  // world rank; -1: no valid message yet
        std::int64_t since_ns = 0;
        bool has_withheld = false;  // `withheld` is a question without an answer
        Note withheld{};
    };
    // watch.cpp
    sennit_status make_nodes();
    void watch_neighbours();
    bool watch_node(int first) const;
    void wake_watcher() const;
    void set_times(bool crowded);

    // watcher.cpp
    static void *thread_main(void *watch);
    void run();
    void sleep();
    bool all_mates_have_pidfds() const;
    void take_role(std::int64_t now);
    void note_awake(std::int64_t now);
    void check_mates();
    void announce_end();
    void take_guests(std::int64_t now);
    bool serve(Guest &guest, std::int64_t now);
    void identify(Guest &guest, int from);
    bool take(const Note &message, WatchConnection &from, std::int64_t now);
    bool is_well_formed(const Note &message) const;
    void note_gone_elsewhere(int rank, Gone how);
    void note_leaving(int rank);
    void note_quiet(int rank);
    void send_to_all(NoteKind kind, int rank);
    void send_known(WatchConnection &connection);
    Note make(NoteKind kind, int rank) const;
    // The lowest rank of its node.
    int first_of(int rank) const { return rank_->peers[rank].first_of_node; }
    bool is_mate(int rank) const { return first_of(rank) == first_of(rank_->world_rank); }
    Host host(int rank) const { return host_of_(network_, rank); }
    TablePlace &place_of_node(int rank) const { return table_.places[first_of(rank)]; }

    // lease.cpp
    void settle(std::int64_t now) const;
    void note_first_end() const;
    void resume(std::int64_t now);
    bool has_left(const Node &node) const;
    bool is_over(const Node &node) const;
    bool is_watched(const Node &node) const;
    void check_nodes(std::int64_t now);
    void end_if_silent(const Node &node, std::int64_t now);
    bool accepts_nothing(const Node &node, std::int64_t answered, std::int64_t now) const;
    std::int64_t answer_limit(const Node &node) const;
    bool withholds(int first, std::int64_t now) const;
    bool ask_who_polls(Node &node, std::int64_t now);
    bool take_poll_time(const Note &message, WatchConnection &from, std::int64_t now);
    void drive(Node &node, std::int64_t now);
    int next_rank(const Node &node) const;
    void connect_to(Node &node, std::int64_t now);
    bool all_mates_leave() const;
    void end_connection(Node &node, int error, std::int64_t now);
    bool receive(Node &node, WatchConnection &from, std::int64_t now);
    void drive_slow(Node &node, std::int64_t now);
    void ask(Node &node, std::int64_t now);
    void repeat(Node &node, std::int64_t now);
    bool answer(const Note &question, WatchConnection &to, std::int64_t now);
    void take_answer(Node &node, const Note &answer, std::int64_t now);

    Rank *rank_;
    int size_ = 0;
    int listener_ = -1;
    int wake_ = -1;
    HostOf host_of_ = nullptr;
    const void *network_ = nullptr;  // for host_of_
    Node *nodes_ = nullptr;          // [node_count_], the other nodes
    std::size_t node_count_ = 0;
    Guest *guests_ = nullptr;  // [guest_count_]
    std::size_t guest_count_ = 0;
    Array<pollfd> polls_;  // for sleep(); make_nodes() computes the size
    WatchTable table_;
    Times times_;
    bool is_watcher_ = false;
    std::int64_t resumed_ns_ = 0;  // last time that this rank found its node stopped

    pthread_t thread_{};
    std::atomic<bool> is_running_{false};  // other threads may read the table
    std::atomic<bool> stop_{false};
    bool has_thread_ = false;
};

}  // namespace sennit::watch
