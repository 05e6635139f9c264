// The streams of a program of stress_test.cpp. A stream is, on every rank, a signal with a block,
// and some ranks that send to it: a fixed number of messages per sender and epoch, each with its
// own place in the block. Two consecutive epochs use different places, so an early or late message
// overwrites data that somebody checks. Messages go one by one (storm_streams.cpp), or in batches
// and by plans (storm_together.cpp). Streams are the steps of a program from 2 on.
#pragma once

#include <array>

#include "signals.hpp"

namespace conformance {

class StormStreams {
  public:
    explicit StormStreams(Ranks &test);

    // Collective, like close().
    void open();
    void close();

    bool has_sent_all() const { return sendings_.empty() && planned_.empty(); }
    bool is_open() const { return !has_sent_all() || !live_.empty(); }

    // Returns whether a message was sent.
    bool send_some();
    // Takes fired signals, found in a random way. With a time limit it waits for a signal that will
    // fire. Returns whether it took one.
    bool take_some(std::int64_t timeout_ns);

  private:
    static constexpr std::size_t kSets = 3;
    static constexpr int kWays = 9;
    // The value of private memory that no get has written.
    static constexpr std::uint8_t kUntouched = 0x5A;
    // The short calls send one message per epoch.
    enum class Way : int {
        put,
        get,
        put_with,
        get_with,
        add,
        put_batch,
        get_batch,
        put_plan,
        get_plan
    };
    static bool is_get(Way way) {
        return way == Way::get || way == Way::get_with || way == Way::get_batch ||
               way == Way::get_plan;
    }
    static bool is_batch(Way way) { return way == Way::put_batch || way == Way::get_batch; }
    static bool is_plan(Way way) { return way == Way::put_plan || way == Way::get_plan; }

    struct Stream {
        Way way = Way::put;
        std::uint64_t senders = 0;   // the owner and the ranks after it
        std::uint64_t messages = 0;  // per sender and epoch
        std::uint64_t epochs = 0;
        std::size_t room = 0;  // for a message
        bool is_full = false;  // every message fills its room
        std::size_t set = 0;   // wait set; kSets: none
        std::uint64_t copies = 0;
        std::size_t bytes() const { return copies * senders * messages * room; }
    };
    struct Own {
        sennit_signal signal = SENNIT_SIGNAL_NULL;
        std::uint8_t *block = nullptr;
        std::uint64_t epoch = 0;
    };
    struct Sending {
        int owner = 0;
        std::size_t stream = 0;
        std::uint64_t sender = 0;
        std::uint64_t epoch = 0;
        std::uint64_t number = 0;  // of the next message
        sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
        sennit_signal signal = SENNIT_SIGNAL_NULL;
        sennit_gptr gptr = SENNIT_GPTR_NULL;
    };
    struct Message {
        int owner;
        std::size_t stream;
        std::uint64_t sender;
        std::uint64_t epoch;
        std::uint64_t number;
    };
    // Plans of all messages of an epoch: one for even epochs and one for odd epochs.
    struct Planned {
        std::size_t stream = 0;
        std::uint64_t epoch = 0;
        bool is_backwards = false;  // last message first in the private buffer
        std::vector<Sending> to;
        std::array<sennit_plan, 2> plans{};
        std::array<std::vector<std::uint8_t>, 2> buffers;
    };
    // A part of a batch.
    struct Part {
        std::size_t sending;
        Message message;
        std::vector<std::uint8_t> buffer;
        sennit_notice notice;
    };

    static Stream draw(Ranks &test, bool is_wide);
    std::uint64_t salt_of(const Message &message) const;
    std::size_t bytes_of(const Message &message) const;
    std::size_t place_of(const Message &message) const;

    void open_own(std::size_t number, sennit_block *block, std::size_t offset);
    void attach_to(int owner, const std::vector<sennit_block> &blocks);
    void fill_epoch(std::size_t number, std::uint64_t epoch);
    void check_epoch(std::size_t number);
    void take(std::size_t number);

    bool send(Sending &to);
    sennit_status carry_out(const Sending &to, std::size_t place, std::size_t bytes);
    sennit_status carry_out_with(const Sending &to, std::size_t place, std::size_t bytes);
    void count_local(std::uint32_t calls = 1);
    void advance(Sending &to) const;
    bool has_ended(const Sending &to) const { return to.epoch == streams_[to.stream].epochs; }

    Part make_part(std::size_t sending, const Sending &at);
    std::vector<Part> draw_parts(std::size_t first);
    void check_part(const Part &part, bool is_done);
    bool send_batch(std::size_t first);
    void drop_ended();

    Message message_of(const Planned &planned, std::size_t number) const;
    std::size_t local_of(const Planned &planned, std::size_t number) const;
    std::size_t messages_of(const Planned &planned) const {
        return planned.to.size() * streams_[planned.stream].messages;
    }
    void plan(const Sending &to);
    void record_plans();
    bool run_plan(std::size_t number);

    bool take_one(std::size_t number, std::int64_t timeout_ns);
    bool take_of_set(std::size_t set, std::int64_t timeout_ns);
    bool take_all_of_set(std::size_t set, std::int64_t timeout_ns);

    Ranks &test_;
    std::vector<Stream> streams_;
    std::vector<Own> own_;           // by stream
    std::vector<std::size_t> live_;  // streams with epochs left
    std::vector<Sending> sendings_;
    std::vector<Planned> planned_;
    std::vector<sennit_peer_block> peers_;
    std::array<sennit_waitset, kSets> sets_{};
    sennit_gptr memory_ = SENNIT_GPTR_NULL;
    std::size_t memory_bytes_ = 0;
    std::vector<std::uint8_t> buffer_;
    // Counts calls of this rank, epoch after epoch.
    sennit_signal sent_ = SENNIT_SIGNAL_NULL;
    std::uint32_t sent_events_ = 0;
    std::uint32_t sent_count_ = 0;
};

}  // namespace conformance
