// Notified puts and gets in batches.
#include <algorithm>

#include "signals.hpp"

using namespace conformance;

namespace {

using BatchCall = decltype(sennit_put_notify_batch);

std::uint64_t salt_of(int from, std::uint64_t epoch) {
    return epoch * 64 + static_cast<std::uint64_t>(from);
}

std::vector<sennit_peer_block> attach_all(Ranks &test, const sennit_block &mine) {
    std::vector<sennit_peer_block> peers;
    for (const sennit_block &block : test.tell_all(mine)) {
        sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
        test.ok(sennit_block_attach(&block, &peer));
        peers.push_back(peer);
    }
    return peers;
}

sennit_block make_block(Ranks &test, sennit_gptr memory, std::size_t bytes, sennit_signal on_send,
                        sennit_signal on_recv) {
    sennit_block made;
    const sennit_region region{sennit_gptr_at(memory, test.rank), bytes};
    test.ok(sennit_block_init(region, 0, bytes, on_send, on_recv, &made));
    return made;
}

// Runs the whole batch, and continues where it stopped each time an owner is behind.
void run_all(Ranks &test, BatchCall *call, std::vector<sennit_notify_part> &parts) {
    const std::uint64_t word = 0;
    for (std::size_t first = 0;;) {
        std::size_t done = SIZE_MAX;
        const sennit_status status = call(parts.size() - first, parts.data() + first, &done);
        test.require(done <= parts.size() - first, "at most all parts are done");
        for (std::size_t i = first; i < first + done; ++i)
            test.equal(parts[i].status, SENNIT_OK);
        first += done;
        if (status == SENNIT_OK) {
            test.equal(first, parts.size());
            return;
        }
        test.is(status, SENNIT_ERR_SIGNAL_EARLY);
        for (std::size_t i = first; i < parts.size(); ++i)
            test.equal(parts[i].status, SENNIT_ERR_SIGNAL_EARLY);
        (void)sennit_signal_wait_word(&word, SENNIT_NOT_EQUAL, 0, 0);
    }
}

void detach_all(Ranks &test, const std::vector<sennit_peer_block> &peers) {
    test.barrier();
    for (const sennit_peer_block peer : peers)
        test.ok(sennit_block_detach(peer));
}

// For the tests with single messages: a block of each rank and its signals.
struct Small {
    Ranks &test;
    const sennit_gptr memory;
    const std::uint64_t *own;
    sennit_signal arrived;
    sennit_signal local;
    std::vector<sennit_peer_block> peers;
    std::uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    explicit Small(Ranks &ranks)
        : test(ranks),
          memory(test.allocate(256)),
          own(static_cast<const std::uint64_t *>(sennit_ptr(memory))),
          arrived(make_signal(test, 2)),
          local(make_signal(test, 2)),
          peers(attach_all(test, make_block(test, memory, 256, SENNIT_SIGNAL_NULL, arrived))) {}
    void end() {
        detach_all(test, peers);
        test.ok(sennit_signal_destroy(arrived));
        test.ok(sennit_signal_destroy(local));
        test.free(memory);
    }
    sennit_notify_part part(std::size_t i, const sennit_notice *notice) {
        const sennit_peer_block peer = peers[static_cast<std::size_t>(test.next())];
        return {peer, SENNIT_OK, 8 * i, &words[i], 8, notice};
    }
    void is(std::vector<sennit_notify_part> &parts, sennit_status status, std::size_t done) {
        std::size_t count = 77;
        test.is(sennit_put_notify_batch(parts.size(), parts.data(), &count), status);
        test.equal(count, done);
    }
    // The owner refuses the message at `surplus` and all messages after it.
    void is_too_many(std::vector<sennit_notify_part> &parts, std::size_t surplus) {
        std::size_t count = 77;
        const sennit_status status = sennit_put_notify_batch(parts.size(), parts.data(), &count);
        const bool is_late = status == SENNIT_OK;
        test.is(told(status, test.next()), SENNIT_ERR_SIGNAL_OVERFLOW);
        test.equal(count, is_late ? parts.size() : surplus);
    }
};

constexpr sennit_notice in_epoch(std::uint64_t epoch) {
    return {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
}

}  // namespace

// Broken by a part that is left out, sent twice, counted before its data arrives or counted in
// another epoch, also when the batch continues after a stop. Senders run an epoch ahead.
RANK_TEST(notify, a_batch_of_puts_to_all_ranks_is_there_when_the_signals_fire, kAnything) {
    const std::size_t part = 512;
    const auto size = static_cast<std::size_t>(test.size);
    const std::size_t messages = test.common.between(1, 20);  // to each rank, in one epoch
    const std::size_t half = part * size * messages;
    const sennit_gptr memory = test.allocate(2 * half);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const sennit_signal arrived = make_signal(test, static_cast<std::uint32_t>(size * messages));
    const sennit_signal sent = make_signal(test, static_cast<std::uint32_t>(size * messages));
    const auto peers =
        attach_all(test, make_block(test, memory, 2 * half, SENNIT_SIGNAL_NULL, arrived));
    std::vector<std::uint8_t> data(part);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 4u : 40u); ++epoch) {
        const std::size_t bytes = test.common.one_in(4) ? 8 : test.common.between(0, part);
        fill(data.data(), bytes, salt_of(test.rank, epoch));
        const sennit_notice notice{SENNIT_SIGNAL_NULL, sent, epoch, 0};
        std::vector<sennit_notify_part> parts;
        for (std::size_t i = 0; i < size * messages; ++i) {
            const std::size_t peer = (static_cast<std::size_t>(test.rank) + i) % size;
            const std::size_t place = static_cast<std::size_t>(test.rank) * messages + i / size;
            parts.push_back({peers[peer], SENNIT_OK, epoch % 2 * half + part * place, data.data(),
                             bytes, &notice});
        }
        run_all(test, sennit_put_notify_batch, parts);
        test.require(is_fired(test, sent), "the local signal has counted each part");
        test.ok(sennit_signal_reset(sent));
        test.ok(sennit_signal_wait(arrived, SENNIT_FOREVER));
        for (std::size_t i = 0; i < size * messages; ++i)
            check_pattern(test, own + epoch % 2 * half + part * i, bytes,
                          salt_of(static_cast<int>(i / messages), epoch));
        test.ok(sennit_signal_reset(arrived));
    }
    detach_all(test, peers);
    test.ok(sennit_signal_destroy(arrived));
    test.ok(sennit_signal_destroy(sent));
    test.free(memory);
}

// Broken by an event that reports a read before its end, or that does not mark the signal in its
// wait set.
RANK_TEST(notify, a_batch_of_gets_notifies_each_owner_once, kAnything) {
    const std::size_t bytes = 3000;
    const auto size = static_cast<std::size_t>(test.size);
    const sennit_gptr memory = test.allocate(bytes);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const sennit_signal read = make_signal(test, static_cast<std::uint32_t>(test.size));
    sennit_waitset set = SENNIT_WAITSET_NULL;
    test.ok(sennit_waitset_create(&set));
    test.ok(sennit_waitset_add(set, read, 0));
    const auto peers = attach_all(test, make_block(test, memory, bytes, read, SENNIT_SIGNAL_NULL));
    std::vector<std::uint8_t> got(bytes * size);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 4u : 40u); ++epoch) {
        fill(own, bytes, salt_of(test.rank, epoch));
        test.barrier();
        std::vector<sennit_notify_part> parts;  // without a notice: the next epoch of each block
        for (std::size_t peer = 0; peer < size; ++peer)
            parts.push_back({peers[peer], SENNIT_OK, 0, got.data() + bytes * peer, bytes, nullptr});
        run_all(test, sennit_get_notify_batch, parts);
        for (std::size_t peer = 0; peer < size; ++peer)
            check_pattern(test, got.data() + bytes * peer, bytes,
                          salt_of(static_cast<int>(peer), epoch));
        test.ok(sennit_waitset_wait_all(set, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(read));
    }
    detach_all(test, peers);
    test.ok(sennit_waitset_destroy(set));
    test.ok(sennit_signal_destroy(read));
    test.free(memory);
}

// Broken by a batch that moves data before it has checked every part.
RANK_TEST(notify, a_batch_with_a_wrong_part_moves_nothing, kAnything) {
    Small small(test);
    std::size_t done = 77;
    test.ok(sennit_put_notify_batch(0, nullptr, &done));
    test.equal(done, 0u);
    const sennit_notice now = in_epoch(0);
    const auto refused = [&](sennit_notify_part third, sennit_status status) {
        std::vector<sennit_notify_part> parts{small.part(0, &now), small.part(1, &now), third};
        small.is(parts, status, 0);
        for (const sennit_notify_part &each : parts)
            test.equal(each.status, status);
        test.require(std::strstr(sennit_last_error()->text, "part 2") != nullptr,
                     "the error names the part");
    };
    sennit_notify_part third = small.part(2, &now);
    third.block = SENNIT_PEER_BLOCK_NULL;
    refused(third, SENNIT_ERR_ARG);
    third = small.part(2, &now);
    third.offset = 250;
    refused(third, SENNIT_ERR_RANGE);
    third = small.part(2, &now);
    third.local = nullptr;
    refused(third, SENNIT_ERR_ARG);
    const sennit_notice nobodys{SENNIT_SIGNAL_NULL, {test.rank, 77}, 0, 0};
    refused(small.part(2, &nobodys), SENNIT_ERR_ARG);
    const sennit_notice foreign{{test.size, 1}, SENNIT_SIGNAL_NULL, 0, 0};
    refused(small.part(2, &foreign), SENNIT_ERR_ARG);
    test.barrier();
    test.equal(small.own[0], 0u);
    test.equal(left_of(test, small.arrived), 2u);
    small.end();
}

// Broken by a wrong count of finished parts, or by moved data of parts after the early one.
RANK_TEST(notify, a_batch_that_ends_early_reports_its_progress_and_can_go_on, kAnything) {
    Small small(test);
    // Two messages of this epoch, two of the next, and two that the owner does not accept yet.
    const sennit_notice notices[3] = {in_epoch(0), in_epoch(1), in_epoch(2)};
    std::vector<sennit_notify_part> parts;
    for (std::size_t i = 0; i < 6; ++i)
        parts.push_back(small.part(i, &notices[i / 2]));
    small.is(parts, SENNIT_ERR_SIGNAL_EARLY, 4);
    for (std::size_t i = 0; i < 6; ++i)
        test.equal(parts[i].status, i < 4 ? SENNIT_OK : SENNIT_ERR_SIGNAL_EARLY);
    test.barrier();
    test.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    for (std::size_t i = 0; i < 6; ++i)
        test.equal(small.own[i], i < 4 ? small.words[i] : 0);
    test.barrier();
    test.ok(sennit_signal_reset(small.arrived));
    parts = {parts[4], parts[5]};
    run_all(test, sennit_put_notify_batch, parts);
    test.barrier();
    test.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    test.ok(sennit_signal_reset(small.arrived));
    test.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    test.equal(small.own[5], small.words[5]);
    small.end();
}

// Broken by a surplus message that is reported as done, or that the local signal counts.
RANK_TEST(notify, a_batch_ends_at_the_surplus_message, kAnything) {
    Small small(test);
    const sennit_notice counted{SENNIT_SIGNAL_NULL, small.local, 0, 0};
    std::vector<sennit_notify_part> parts{small.part(0, &counted), small.part(1, &counted),
                                          small.part(2, &counted)};
    small.is_too_many(parts, 2);
    test.require(is_fired(test, small.local), "the local signal has counted two");
    test.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    test.barrier();
    const sennit_notice surplus = in_epoch(0);
    parts = {small.part(2, &surplus), small.part(3, &surplus)};
    small.is_too_many(parts, 0);
    small.end();
}
