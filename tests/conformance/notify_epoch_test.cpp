// Notified calls that wait for an owner that is behind, and events of the owner's current epoch.
#include <string>
#include <vector>

#include "signals.hpp"

using namespace conformance;

namespace {

constexpr std::size_t kLong = 12288;  // two messages between nodes: data, and event

// A block of two halves on each rank, attached by all ranks.
struct Halves {
    Ranks &test;
    std::size_t half_bytes;
    sennit_gptr memory;
    sennit_signal arrived;
    std::vector<sennit_peer_block> peers;

    Halves(Ranks &ranks, std::size_t bytes, std::uint32_t events, std::uint32_t most)
        : test(ranks),
          half_bytes(bytes),
          memory(test.allocate(2 * bytes)),
          arrived(make_signal(test, events, most)),
          peers(static_cast<std::size_t>(test.size)) {
        sennit_block mine;
        test.ok(sennit_block_init({sennit_gptr_at(memory, test.rank), 2 * bytes}, 0, 2 * bytes,
                                  SENNIT_SIGNAL_NULL, arrived, &mine));
        const auto blocks = test.tell_all(mine);
        for (std::size_t i = 0; i < peers.size(); ++i)
            test.ok(sennit_block_attach(&blocks[i], &peers[i]));
    }
    void end() {
        test.barrier();
        for (const sennit_peer_block peer : peers)
            test.ok(sennit_block_detach(peer));
        test.ok(sennit_signal_destroy(arrived));
        test.barrier();
        test.free(memory);
    }
    const std::uint64_t *half(std::uint64_t epoch) const {
        return static_cast<const std::uint64_t *>(sennit_ptr(memory)) + epoch % 2 * half_bytes / 8;
    }
};

}  // namespace

// Broken by a call that does not wait, waits longer than its timeout, or overwrites unread data.
// Short and long messages, single calls and batches, in turns.
RANK_TEST(notify, a_call_waits_for_an_owner_that_is_behind, kAnything) {
    Halves halves(test, kLong, 1, 1);
    const std::uint64_t epochs = test.quick ? 24 : 200;
    const std::size_t owner = static_cast<std::size_t>(test.size) - 1;
    std::vector<std::uint64_t> words(kLong / 8);
    const auto put = [&](std::uint64_t epoch, std::int64_t wait_ns) {
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, wait_ns};
        words.assign(words.size(), epoch + 1);
        const std::size_t bytes = epoch % 3 == 0 ? kLong : 8;
        const std::size_t place = epoch % 2 * kLong;
        if (epoch % 4 != 3)
            return sennit_put_notify_with(halves.peers[owner], place, words.data(), bytes, &notice);
        sennit_notify_part part{halves.peers[owner], SENNIT_OK, place,
                                words.data(),        bytes,     &notice};
        std::size_t done = 0;
        return sennit_put_notify_batch(1, &part, &done);
    };
    if (test.rank == 0 && test.size > 1) {
        test.ok(put(0, 0));
        test.ok(put(1, SENNIT_FOREVER));
        test.is(put(2, -1), SENNIT_ERR_ARG);
    }
    test.barrier();
    if (test.rank == 0 && test.size > 1) {
        test.is(put(2, 0), SENNIT_ERR_SIGNAL_EARLY);
        test.is(put(2, 3 * kMillisecond), SENNIT_ERR_SIGNAL_EARLY);
        test.equal(sennit_last_error()->peer, static_cast<int>(owner));
    }
    test.barrier();
    for (std::uint64_t epoch = 2; test.rank == 0 && test.size > 1 && epoch < epochs; ++epoch)
        test.ok(put(epoch, SENNIT_FOREVER));
    for (std::uint64_t epoch = 0;
         test.rank == static_cast<int>(owner) && test.size > 1 && epoch < epochs; ++epoch) {
        test.ok(sennit_signal_wait(halves.arrived, SENNIT_FOREVER));
        const std::size_t last = (epoch % 3 == 0 ? kLong / 8 : 1) - 1;
        test.equal(halves.half(epoch)[0], epoch + 1);
        test.equal(halves.half(epoch)[last], epoch + 1);
        test.ok(sennit_signal_reset(halves.arrived));
    }
    halves.end();
}

// Broken by an event that is counted in another epoch, twice, or never, by a surplus event that
// stays in the count, or by one that advances the block's own epochs. Only the last call uses the
// block's epoch.
RANK_TEST(notify, events_of_the_current_epoch_are_counted_in_any_epoch, kAnything) {
    const auto size = static_cast<std::uint32_t>(test.size);
    Halves halves(test, kLong * size, 3 * size, 4 * size);
    const auto all = test.tell_all(halves.arrived);
    const sennit_notice now{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, SENNIT_EPOCH_CURRENT, 0};
    std::vector<std::uint64_t> words(kLong / 8);
    for (std::uint64_t round = 0; round < 5; ++round) {
        words.assign(words.size(), round * 100 + static_cast<std::uint64_t>(test.rank));
        for (std::size_t peer = 0; peer < halves.peers.size(); ++peer) {
            const std::size_t place = 8 * static_cast<std::size_t>(test.rank);
            test.ok(sennit_put_notify_with(halves.peers[peer], place, words.data(), 8, &now));
            sennit_notify_part part{halves.peers[peer],
                                    SENNIT_OK,
                                    halves.half_bytes + kLong * static_cast<std::size_t>(test.rank),
                                    words.data(),
                                    round % 2 == 0 ? 0 : kLong,
                                    &now};
            std::size_t done = 0;
            test.ok(sennit_put_notify_batch(1, &part, &done));
            test.ok(sennit_signal_notify(all[peer], SENNIT_EPOCH_CURRENT));
        }
        test.ok(sennit_signal_wait(halves.arrived, SENNIT_FOREVER));
        for (std::size_t from = 0; from < size; ++from)
            test.equal(halves.half(0)[from], round * 100 + from);
        test.equal(epoch_of(test, halves.arrived), round);
        test.barrier();
        const auto next = static_cast<std::size_t>(test.next());
        test.is(told(sennit_signal_notify(all[next], SENNIT_EPOCH_CURRENT), test.next()),
                SENNIT_ERR_SIGNAL_OVERFLOW);
        test.is(
            told(sennit_put_notify_with(halves.peers[next], 0, words.data(), 8, &now), test.next()),
            SENNIT_ERR_SIGNAL_OVERFLOW);
        const std::string text = sennit_last_error()->text;
        const std::string arrived = std::to_string(3 * size + 1) + " have arrived";
        test.require(text.find(arrived) != std::string::npos, text.c_str());
        test.barrier();
        // One call reports it, and the epoch continues.
        test.is(sennit_signal_reset(halves.arrived), SENNIT_ERR_SIGNAL_OVERFLOW);
        test.ok(sennit_signal_reset(halves.arrived));
        test.equal(left_of(test, halves.arrived), 3 * size);
        test.barrier();
    }
    // The blocks' own epochs are still 0.
    test.is(told(sennit_put_notify(halves.peers[static_cast<std::size_t>(test.next())], 0,
                                   words.data(), 8),
                 test.next()),
            SENNIT_ERR_SIGNAL_OVERFLOW);
    halves.end();
}
