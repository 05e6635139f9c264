// SPDX-License-Identifier: BSD-3-Clause
// Subscriptions. A subscription is an index that names a sender and a signal in completion data.
// Has the sender's table and the owner's table.
#pragma once

#include <pthread.h>
#include <sennit/signal.h>

#include "base/array.hpp"
#include "rank/rank.hpp"
#include "signal/message_numbers.hpp"

namespace sennit::signal {

// Whether a sender names the epochs of its events, or they count in the owner's epoch at their
// arrival.
enum class EpochKind : std::uint8_t { named, current };

// The common properties of the messages of a subscription.
struct SubscriptionKey {
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    EpochKind epochs = EpochKind::named;
    std::uint32_t events = 1;  // events per message
};

// An owner's answer to a sender; word_of() packs it into one word.
struct Subscription {
    std::uint32_t index = 0;  // 0: none left
    std::uint32_t use = 0;    // determines its first message numbers
    std::uint8_t event_bits = 0;
    std::uint8_t index_bits = 0;  // Traits::event_index_bits of the owner's path
};
constexpr std::uint64_t word_of(const Subscription &given) {
    return std::uint64_t{given.index} << 32 | std::uint64_t{given.use & 0xFFFF} << 16 |
           std::uint64_t{given.event_bits} << 8 | given.index_bits;
}
constexpr Subscription subscription_in(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word >> 16 & 0xFFFF),
            static_cast<std::uint8_t>(word >> 8), static_cast<std::uint8_t>(word)};
}

// A message with completion data.
struct NumberedMessage {
    std::uint32_t index = 0;  // 0: none
    std::uint32_t number = 0;
    std::uint8_t event_bits = 0;
    std::uint8_t index_bits = 0;
};

// The sender's side. For any thread, also with the engine's mutex held. Takes no other lock.
class Subscriptions {
  public:
    ~Subscriptions() { (void)pthread_mutex_destroy(&lock_); }

    enum class Begun : std::uint8_t {
        yes,
        no,             // not now: no answer from the owner yet, or no free place or memory
        refused,        // the owner had no index left, or refuse() was called
        must_subscribe  // the caller must ask the owner for an index
    };
    Begun begin(const SubscriptionKey &kind, NumberedMessage *message);
    void undo_begin(const SubscriptionKey &kind, const NumberedMessage &message);
    // If the owner has no index left, leaves indices that this rank has not used for long, and asks
    // again with a later message. Their signals may no longer exist: the end of a signal is not
    // announced.
    void learn(const SubscriptionKey &kind, const Subscription &given);
    // The question got no answer.
    void forget(const SubscriptionKey &kind);
    // The index is useless for this rank: it is given back and not asked for again.
    void refuse(const SubscriptionKey &kind);
    // The task of a message has failed, so the owner's state is unknown: the index is given back
    // after all other messages have ended.
    void fail_message(int owner, std::uint32_t index, std::uint32_t number);
    // The owner has executed the task.
    void end_message(const SubscriptionKey &kind, std::uint32_t index, std::uint32_t number);
    // The same if only these are known.
    void end_message(int owner, std::uint32_t index, std::uint32_t number);
    // The caller does not send to the signal for now; the index is given back once no message is
    // pending.
    void leave(sennit_signal signal);
    // Takes an index to give back. False: none.
    bool pop_left(sennit_signal *signal, std::uint32_t *index);

  private:
    enum class State : std::uint8_t { none, asked, given, refused };
    // Linear probing; a place is free where the handle is 0.
    struct Entry {
        SubscriptionKey kind;
        State state;
        std::uint8_t event_bits;
        std::uint8_t index_bits;
        std::uint8_t number_bits;
        bool is_left;     // must be given back
        bool is_useless;  // and must not be asked for again
        bool is_broken;   // no message may start before it is given back
        bool is_listed;   // in the list of `ready_`
        std::uint32_t index;
        std::uint32_t next_ready;  // place + 1; 0: none
        std::uint32_t refusals;    // number of messages while in State::refused
        std::uint32_t last_turn;   // the turn of its latest message
        SentMessages sent;
    };
    static constexpr std::size_t kFirst = 32;

    static std::size_t first_place(sennit_signal signal);
    Entry *place_of(const SubscriptionKey &kind) const;
    Entry *find(const SubscriptionKey &kind) const;
    Entry *make(const SubscriptionKey &kind);
    Entry *find_given(int owner, std::uint32_t index) const;
    bool make_room();
    void leave(Entry &entry);
    void end_message(Entry &entry, std::uint32_t number);
    void list_if_ready(Entry &entry);
    bool sweep(int owner);

    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    Array<Entry> entries_;
    std::size_t places_ = 0;  // a power of 2, at most half of them in use
    std::size_t used_ = 0;
    std::size_t hand_ = 0;    // where sweep() continues
    std::uint32_t turn_ = 0;  // counts this rank's messages
    std::uint32_t ready_ =
        0;  // list of entries to give back, as next_ready; some may be in use again
};

// A subscription that this rank has given to a sender.
struct Subscriber {
    int sender = -1;  // -1: the index is free
    std::uint32_t handle = 0;
    EpochKind epochs = EpochKind::named;
    std::uint32_t events = 1;
    std::uint32_t next_free = 0;
    ArrivingMessage messages[kMostPlaces];
};

// The owner's side, under the engine's mutex.
class Subscribers {
  public:
    // Returns 0 if no index up to `most` is free or there is no memory.
    std::uint32_t give(const Rank &rank, int sender, const SubscriptionKey &kind,
                       std::uint32_t most, unsigned number_bits, std::uint32_t *use);
    // Null: not given out.
    Subscriber *find(std::uint32_t index) {
        return index != 0 && index <= made_ && entries_[index].sender >= 0 ? &entries_[index]
                                                                           : nullptr;
    }
    Subscriber *find_of(std::uint32_t index, int sender) {
        Subscriber *const it = find(index);
        return it != nullptr && it->sender == sender ? it : nullptr;
    }
    void free_index(std::uint32_t index);

  private:
    bool make_room();
    void free_indices_of_lost(const Rank &rank);

    Array<Subscriber> entries_;  // from 1
    std::uint32_t places_ = 0;
    std::uint32_t made_ = 0;
    // The index that was given back first is given out first.
    std::uint32_t free_first_ = 0;
    std::uint32_t free_last_ = 0;
};

}  // namespace sennit::signal
