// SPDX-License-Identifier: BSD-3-Clause
// A rank's state of the peers that it uses, and of the ways to them.
#pragma once

#include "transport/fabric/keys.hpp"
#include "transport/fabric/message.hpp"
#include "transport/fabric/task.hpp"

namespace sennit::transport::fabric {

// The time limit of the first connection to a peer: many ranks may connect at a time.
inline constexpr std::int64_t kFirstConnectionNs = 1'000'000'000;
// State of a provider that accepts nothing.
struct Refusals {
    static constexpr std::int64_t kStaleNs =
        3'000'000'000;  // the state is stale after this time without a try

    std::int64_t since_ns = 0;  // 0: it accepts everything
    std::int64_t last_ns = 0;
    std::int64_t asked_ns = 0;  // its duration when the peer was asked

    std::int64_t length(std::int64_t now) const {
        return since_ns != 0 && now - last_ns <= kStaleNs ? now - since_ns : 0;
    }
    void add(std::int64_t now) {
        if (since_ns == 0 || now - last_ns > kStaleNs) *this = Refusals{now, now, 0};
        last_ns = now;
    }
};

// The way of messages to a peer by a connection that the peer has made.
struct WayBack {
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::int64_t not_before_ns = 0;  // not opened again before; 0: at any time
    std::uint32_t out = 0;           // messages with the provider
    std::uint16_t port = 0;
    bool is_open = false;  // open since a message has come from there
};

// A used peer on one rail.
struct RailLink {
    fi_addr_t messages = FI_ADDR_UNSPEC;  // inserted at the first use
    fi_addr_t passive = FI_ADDR_UNSPEC;
    fi_addr_t former = FI_ADDR_UNSPEC;  // an earlier endpoint, until nothing to it is out
    std::uint64_t number = 0;           // of the peer's passive endpoint; 0: not known yet
    std::uint16_t tag = 0;              // part of the keys of its memory, unless
    bool gives_keys = false;            // they are these:
    KeyTable keys;
    bool uneasy = false;        // one of the following is set
    bool asks = false;          // a question waits for its answer
    bool in_doubt = false;      // nothing is sent to the endpoint until there is a new one
    bool is_out = false;        // the rail carries nothing to the peer now, and others do
    bool is_out_known = false;  // the peer knows that
    bool is_used = true;        // for SparseTable
    enum class Data : std::uint8_t { unknown, comes, lost };
    Data data = Data::unknown;  // completion data, by this rank's trial
    std::uint8_t asked = 0;     // number of questions for the awaited answer
    WayBack back;
    std::uint32_t longest = 0;   // longest message on the present connections
    bool wants_windows = false;  // their windows must be limited again
    PostedList to_repeat;        // failed transfers, repeated when the doubt is over
    std::int64_t fenced_ns = 0;  // time when the number became known
    std::int64_t next_question_ns = 0;
    std::int64_t question_pause_ns = 0;
    std::int64_t failing_since_ns = 0;  // start of the failure of messages to it; 0: none
    int failed_by = 0;                  // FI_*, the last error
    std::uint32_t posted = 0;           // number of transfers, including those to repeat
    Refusals again;                     // refusals of transfers
    Refusals unsent;                    // refusals of messages
    // The time limit of transfers before it counts as a fault; doubles with each.
    std::int64_t patience_ns = kFirstConnectionNs;
    // For look_for_outages(): counts, and their values at its last look at this link.
    std::uint32_t completed = 0;  // transfers completed without error
    std::uint32_t completed_before = 0;
    std::uint32_t received = 0;  // messages received by this rail
    std::uint32_t received_before = 0;
    std::uint32_t heard_before = 0;  // messages received by any rail
    std::uint32_t last_look = 0;     // the last look with something in progress
    bool wanted = false;             // a transfer was not accepted since the last look
    // Consecutive looks with something in progress: without an arrival by the rail; without a
    // completed transfer, though the peer answers. And how many times in a row the latter were too
    // many.
    std::uint8_t silent_looks = 0;
    std::uint16_t idle_looks = 0;
    std::uint8_t overdue_times = 0;
    // Bytes moved on its connection at some idle looks, and at some silent ones.
    std::uint64_t moved_bytes = 0;
    std::uint64_t silent_bytes = 0;
    std::int64_t tried_ns = 0;     // time of a transfer's try after it was overdue too often
    bool heard_elsewhere = false;  // heard by others in the silent looks: the peer is alive
    // After it was left out it is not taken back before this time; the pause doubles each time.
    std::int64_t back_after_ns = 0;
    std::int64_t out_pause_ns = 0;
};

// A used peer: this rank has something for it, or it has sent a message.
struct PeerLink {
    bool is_used = true;        // see SparseTable
    bool is_reached = false;    // it has answered a question
    bool is_contacted = false;  // messages were sent to it, or came from it
    bool is_parted = false;     // this rank has said goodbye to it
    bool said_goodbye = false;
    bool is_refused = false;     // its host's lease is over: nothing from it is accepted
    bool is_lost = false;        // operations to it have ended
    std::int64_t left_ns = 0;    // time of its goodbye
    std::uint32_t messages = 0;  // messages from it
    // Consecutive answers that waited in vain for a message to it; and the number of answers that
    // must not wait now.
    std::uint8_t vain_waits = 0;
    std::uint16_t not_to_wait = 0;
    KnownSubjects known;
    // The number of ended puts with an event, and how many of them are known to be handed over,
    // from the answer to a later task.
    std::uint32_t events_put = 0;
    std::uint32_t events_known = 0;
    std::uint32_t messages_before = 0;
    std::uint32_t last_look = 0;
    std::uint8_t mute_looks =
        0;  // consecutive looks at which it was asked, without a message from it
    // Of these, looks at which it was not known to look at its network, and the looks since then.
    std::uint32_t blind_looks = 0;
    std::uint32_t awake_looks = 0;
    // For the first use: the time since which it has been asked; whether nobody accepts connections
    // for it, with the errno; and the connection of the test.
    bool is_unreachable = false;
    std::uint8_t error = 0;
    std::uint8_t probe_rail = 0;
    int probe = -1;
    std::int64_t probe_ns = 0;
    std::int64_t asked_since_ns = 0;  // 0: never
};

}  // namespace sennit::transport::fabric
