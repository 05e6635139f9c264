// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows of the peers that it uses, and of the ways to them.
#pragma once

#include "transport/fabric/keys.hpp"
#include "transport/fabric/message.hpp"
#include "transport/fabric/task.hpp"

namespace sennit::transport::fabric {

// For so long it may make the first connection to a peer: many ranks may do so at a time.
inline constexpr std::int64_t kFirstConnectionNs = 1'000'000'000;
// Of a provider that takes nothing.
struct Refusals {
    static constexpr std::int64_t kStaleNs = 3'000'000'000;  // nobody has tried for so long

    std::int64_t since_ns = 0;  // 0: it takes what it is given
    std::int64_t last_ns = 0;
    std::int64_t asked_ns = 0;  // how long it had lasted when the peer was asked

    std::int64_t length(std::int64_t now) const {
        return since_ns != 0 && now - last_ns <= kStaleNs ? now - since_ns : 0;
    }
    void add(std::int64_t now) {
        if (since_ns == 0 || now - last_ns > kStaleNs) *this = Refusals{now, now, 0};
        last_ns = now;
    }
};

// Where messages to a peer go by a connection that it has made.
struct WayBack {
    fi_addr_t address = FI_ADDR_UNSPEC;
    std::int64_t not_before_ns = 0;  // it may be open again; 0: at any time
    std::uint32_t out = 0;           // messages that the provider has
    std::uint16_t port = 0;
    bool is_open = false;  // since a message has come from there
};

// A peer that is used, as one rail reaches it.
struct RailLink {
    fi_addr_t messages = FI_ADDR_UNSPEC;  // entered when first used
    fi_addr_t passive = FI_ADDR_UNSPEC;
    fi_addr_t former = FI_ADDR_UNSPEC;  // of an earlier one, until nothing is out to it
    std::uint64_t number = 0;           // of the peer's passive endpoint; 0: not known yet
    std::uint16_t tag = 0;              // in the keys of its memory, unless
    bool gives_keys = false;            // they are these:
    KeyTable keys;
    bool uneasy = false;        // some of the following is so
    bool asks = false;          // a question waits for its answer
    bool in_doubt = false;      // nothing is sent to the endpoint before there is another
    bool is_out = false;        // it carries nothing to the peer now, and others do
    bool is_out_known = false;  // to the peer
    bool is_used = true;        // see SparseTable
    enum class Data : std::uint8_t { unknown, comes, lost };
    Data data = Data::unknown;  // by this rank's trial: completion data
    std::uint8_t asked = 0;     // how often, for the answer that is waited for
    WayBack back;
    std::uint32_t longest = 0;   // bytes of what has come by the connections that are there now
    bool wants_windows = false;  // of these, to be limited anew
    PostedList to_repeat;  // transfers that have failed, to be repeated when the doubt is over
    std::int64_t fenced_ns = 0;  // when the number was learnt
    std::int64_t next_question_ns = 0;
    std::int64_t question_pause_ns = 0;
    std::int64_t failing_since_ns = 0;  // messages to it; 0: they go
    int failed_by = 0;                  // FI_*, the last of them
    std::uint32_t posted = 0;           // transfers, also those to repeat
    Refusals again;                     // of transfers
    Refusals unsent;                    // of messages
    // How long transfers are waited for before it is taken for a fault; doubles with each.
    std::int64_t patience_ns = kFirstConnectionNs;
    // What look_for_outages() sees: counts, and what they were at its last look at this link.
    std::uint32_t completed = 0;  // transfers, without an error
    std::uint32_t completed_before = 0;
    std::uint32_t received = 0;  // messages by this rail
    std::uint32_t received_before = 0;
    std::uint32_t heard_before = 0;  // messages by any
    std::uint32_t last_look = 0;     // in which something was under way
    bool wanted = false;             // since the last look: a transfer that was not taken
    // Looks in a row in which something was under way: and nothing had come by the rail; and no
    // transfer had ended, though the peer answers. So often the latter were too many, in a row.
    std::uint8_t silent_looks = 0;
    std::uint16_t idle_looks = 0;
    std::uint8_t overdue_times = 0;
    // By its connection, when there were some idle looks, and some silent ones.
    std::uint64_t moved_bytes = 0;
    std::uint64_t silent_bytes = 0;
    std::int64_t tried_ns = 0;     // a transfer, when it was overdue too often
    bool heard_elsewhere = false;  // in the silent looks: the peer is there
    // Once it was left out it is not taken again before, and the next time for twice as long.
    std::int64_t back_after_ns = 0;
    std::int64_t out_pause_ns = 0;
};

// A peer that is used: this rank has something for it, or it has sent a message.
struct PeerLink {
    bool is_used = true;      // see SparseTable
    bool is_reached = false;  // it has answered a question
    bool is_met = false;      // messages went to it, or came from it
    bool is_parted = false;   // this rank has said goodbye to it
    bool said_goodbye = false;
    bool is_refused = false;     // its host's lease is over: nothing is taken from it
    bool is_lost = false;        // what was under way to it has ended
    std::int64_t left_ns = 0;    // when it said goodbye
    std::uint32_t messages = 0;  // from it
    // Answers that waited in vain for a message to it, in a row; and so many are not to wait now.
    std::uint8_t vain_waits = 0;
    std::uint16_t not_to_wait = 0;
    ToldSubjects told;
    // Puts with an event that have ended; and so many of them are handed over, as the answer to a
    // later task tells.
    std::uint32_t events_put = 0;
    std::uint32_t events_known = 0;
    std::uint32_t messages_before = 0;
    std::uint32_t last_look = 0;
    std::uint8_t mute_looks = 0;  // in a row in which it was asked, and no message had come
    // Of these, those in which it was not known to look at its network, and those since then.
    std::uint32_t blind_looks = 0;
    std::uint32_t awake_looks = 0;
    // The first use: since when it has been asked; whether nobody takes connections for it, with
    // the errno; and the connection that tries.
    bool is_unreachable = false;
    std::uint8_t error = 0;
    std::uint8_t probe_rail = 0;
    int probe = -1;
    std::int64_t probe_ns = 0;
    std::int64_t asked_since_ns = 0;  // 0: never
};

}  // namespace sennit::transport::fabric
