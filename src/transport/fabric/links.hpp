// SPDX-License-Identifier: BSD-3-Clause
// A rank's state of the peers that it uses, and of each peer on each rail.
#pragma once

#include "transport/fabric/keys.hpp"
#include "transport/fabric/message.hpp"
#include "transport/fabric/task.hpp"

namespace sennit::transport::fabric {

// Time limit of the first connection to a peer. It is long because many ranks may connect at the
// same time.
inline constexpr std::int64_t kFirstConnectionNs = 1'000'000'000;
// How long a provider has refused all operations.
struct Refusals {
    static constexpr std::int64_t kStaleNs =
        3'000'000'000;  // after this time without a refusal the state is reset

    std::int64_t since_ns = 0;  // time of the first refusal; 0: nothing was refused
    std::int64_t last_ns = 0;
    std::int64_t asked_ns = 0;  // length() when the peer was last asked

    std::int64_t length(std::int64_t now) const {
        return since_ns != 0 && now - last_ns <= kStaleNs ? now - since_ns : 0;
    }
    void add(std::int64_t now) {
        if (since_ns == 0 || now - last_ns > kStaleNs) *this = Refusals{now, now, 0};
        last_ns = now;
    }
};

// State of the messages that this rank sends on the connection that the peer has made.
struct WayBack {
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::int64_t not_before_ns = 0;  // not used again before this time; 0: at any time
    std::uint32_t in_flight = 0;     // messages posted and not completed
    std::uint16_t port = 0;
    bool is_open = false;  // messages may be sent: one was received from there
};

// The state of a used peer on one rail.
struct RailLink {
    fi_addr_t messages = FI_ADDR_UNSPEC;  // the peer's incoming endpoint; inserted at first use
    fi_addr_t passive = FI_ADDR_UNSPEC;
    fi_addr_t former = FI_ADDR_UNSPEC;  // earlier passive endpoint, while transfers to it are open
    std::uint64_t number = 0;           // of the peer's passive endpoint; 0: not known yet
    std::uint16_t tag = 0;              // part of the keys of its memory
    bool gives_keys = false;            // the owner sends its keys; then they are in `keys`
    KeyTable keys;
    bool needs_service = false;      // service_link() must check it
    bool awaits_answer = false;      // a question waits for its answer
    bool in_doubt = false;           // no transfer is posted until there is a new endpoint
    bool is_left_out = false;        // the rail carries nothing to the peer, others do
    bool is_left_out_known = false;  // the peer knows that the rail is left out
    bool is_cut = false;             // transfers to earlier endpoints were cut, and some are open
    bool is_used = true;             // for SparseTable
    enum class Data : std::uint8_t { unknown, arrives, lost };
    Data data = Data::unknown;        // whether completion data arrives, by this rank's trial
    std::uint8_t questions_sent = 0;  // for the awaited answer
    WayBack back;
    std::uint32_t longest = 0;      // longest message on the present connections
    bool wants_windows = false;     // the windows of its connections must be limited again
    const Posted *alone = nullptr;  // the transfer in progress that was posted with no other
    PostedList to_repeat;           // failed transfers, repeated when the doubt is over
    // When `number` was received; if is_cut, when transfers to earlier endpoints were cut.
    std::int64_t fenced_ns = 0;
    std::int64_t next_question_ns = 0;
    std::int64_t question_pause_ns = 0;
    std::int64_t failing_since_ns = 0;  // since when messages to it fail; 0: they do not
    int failed_by = 0;                  // FI_*, the last error
    std::uint32_t posted = 0;           // number of transfers, including those to repeat
    Refusals transfer_refusals;
    Refusals message_refusals;
    // If transfers are refused for this long, the connection counts as stuck; doubles each time.
    std::int64_t patience_ns = kFirstConnectionNs;
    // For check_outages(): counts, and their values at the last check of this link.
    std::uint32_t completed = 0;  // transfers completed without error
    std::uint32_t completed_before = 0;
    std::uint32_t received = 0;  // messages received by this rail
    std::uint32_t received_before = 0;
    std::uint32_t heard_before = 0;     // messages received by any rail
    std::uint32_t last_check = 0;       // number of the last check with an operation in progress
    bool has_waiting_transfer = false;  // a transfer was refused, and none accepted since
    // Consecutive checks with an operation in progress. silent_checks: no message was received by
    // the rail, and no transfer has completed. idle_checks: no transfer has completed, though the
    // peer answers. overdue_times: how many times in a row transfers were overdue.
    std::uint8_t silent_checks = 0;
    std::uint16_t idle_checks = 0;
    std::uint8_t overdue_times = 0;
    // Bytes moved on its connection, as counted by note_idle() and by note_silent().
    std::uint64_t moved_bytes = 0;
    std::uint64_t silent_bytes = 0;
    std::int64_t tried_ns = 0;     // last try of a transfer while carries_nothing()
    bool heard_elsewhere = false;  // the peer answered by another rail during the silent checks
    // A rail that was left out is not used before this time. The pause doubles if the rail fails
    // again soon.
    std::int64_t left_out_until_ns = 0;
    std::int64_t left_out_pause_ns = 0;
};

// A used peer: this rank has started an operation to it, or received a message from it.
struct PeerLink {
    bool is_used = true;        // see SparseTable
    bool is_reached = false;    // it has answered a question
    bool is_contacted = false;  // a message was sent to it, or received from it
    bool sent_goodbye = false;  // this rank has said goodbye to it
    bool received_goodbye = false;
    bool is_refused = false;     // its host's lease has ended: nothing from it is accepted
    bool is_lost = false;        // operations to it have ended
    std::int64_t left_ns = 0;    // time of its goodbye
    std::uint32_t messages = 0;  // messages received from it
    // vain_waits: how many times in a row delayed answers have waited in vain for a message to the
    // peer, up to a limit. not_to_wait: how many of the next answers must not wait.
    std::uint8_t vain_waits = 0;
    std::uint16_t not_to_wait = 0;
    KnownSubjects known;
    // events_put: completed puts with an event. events_known: how many of these events the peer has
    // surely read; the answer to a later task shows it.
    std::uint32_t events_put = 0;
    std::uint32_t events_known = 0;
    std::uint32_t messages_before = 0;
    std::uint32_t last_check = 0;
    std::uint8_t mute_checks = 0;  // checks in a row without a message, though it was asked
    std::uint16_t open_tasks = 0;  // this rank's tasks to it that are not answered yet
    // Checks without a message from the peer. unpolled_checks: those up to the last check at which
    // the peer was not known to poll. polled_checks: those since then.
    std::uint32_t unpolled_checks = 0;
    std::uint32_t polled_checks = 0;
    // For the first use of the peer.
    bool is_unreachable = false;
    std::uint8_t error = 0;           // errno, if is_unreachable
    std::uint8_t probe_rail = 0;      // rail of the test connection
    int probe = -1;                   // descriptor of the test connection; -1: none
    std::int64_t probe_ns = 0;        // when the test connection was started
    std::int64_t asked_since_ns = 0;  // first question; 0: never
};

}  // namespace sennit::transport::fabric
