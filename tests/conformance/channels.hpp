// Helpers for the tests of channels: opening with several targets, sending and reading a word.
#pragma once

#include <vector>

#include "harness.hpp"

namespace conformance {

// Copies are allowed, so that the same tests run where a peer's memory has no pointer.
inline constexpr unsigned kFlags = SENNIT_CHANNEL_MIRROR;

// A rank that is reached by messages, preferably the next one; -1: none.
inline int far_peer(Ranks &test) {
    for (int step = 1; step < test.size; ++step) {
        const int peer = (test.rank + step) % test.size;
        if (test.sends_to(peer)) return peer;
    }
    return -1;
}

// True if each rank can open channels to all others. The same answer on all ranks.
inline bool channels_lead_everywhere(Ranks &test) {
    return far_peer(test) < 0;
}

struct End {
    int target = 0;
    void *buffer = nullptr;
    std::size_t bytes = 0;
};

struct Opened {
    std::vector<sennit_channel> channels;
    std::vector<void *> peers;

    sennit_channel operator[](std::size_t i) const { return channels[i]; }
    std::uint64_t *words(std::size_t i) const { return static_cast<std::uint64_t *>(peers[i]); }
};

inline sennit_status try_open(const std::vector<End> &ends, unsigned flags, std::int64_t timeout_ns,
                              Opened *opened) {
    std::vector<int> targets;
    std::vector<void *> buffers;
    std::vector<std::size_t> bytes;
    for (const End &end : ends) {
        targets.push_back(end.target);
        buffers.push_back(end.buffer);
        bytes.push_back(end.bytes);
    }
    opened->channels.assign(ends.size(), SENNIT_CHANNEL_NULL);
    opened->peers.assign(ends.size(), nullptr);
    const sennit_channel_ends all{ends.size(), targets.data(), buffers.data(), bytes.data()};
    return sennit_channel_open(SENNIT_TEAM_WORLD, &all, flags, timeout_ns, opened->peers.data(),
                               opened->channels.data());
}

inline Opened open(Ranks &test, const std::vector<End> &ends, unsigned flags = kFlags) {
    Opened opened;
    test.ok(try_open(ends, flags, SENNIT_FOREVER, &opened));
    return opened;
}

inline void close(Ranks &test, const Opened &opened, Ranks::Where where = Ranks::Where::current()) {
    test.ok(sennit_channel_close(opened.channels.data(), opened.channels.size(), SENNIT_FOREVER),
            where);
}

inline void send(Ranks &test, sennit_channel channel, void *peer, const void *message,
                 std::size_t bytes) {
    test.ok(sennit_channel_wait_write(channel, SENNIT_FOREVER));
    std::memcpy(peer, message, bytes);
    test.ok(sennit_channel_have_written(channel));
}

inline void send_word(Ranks &test, const Opened &opened, std::size_t i, std::uint64_t word) {
    send(test, opened[i], opened.peers[i], &word, sizeof word);
}

inline void expect_word(Ranks &test, sennit_channel channel, const std::uint64_t &own,
                        std::uint64_t word) {
    test.ok(sennit_channel_wait_read(channel, SENNIT_FOREVER));
    test.equal(own, word);
    test.ok(sennit_channel_have_read(channel));
}

inline void write_one(Ranks &test, sennit_channel channel) {
    test.ok(sennit_channel_wait_write(channel, SENNIT_FOREVER));
    test.ok(sennit_channel_have_written(channel));
}

inline int flag_of(Ranks &test, sennit_status (*ask)(sennit_channel, int *),
                   sennit_channel channel) {
    int flag = -1;
    test.ok(ask(channel, &flag));
    return flag;
}

// Some tests are about two ranks and leave the others idle.
inline bool takes_part(const Ranks &test) {
    return test.rank < 2;
}

}  // namespace conformance
