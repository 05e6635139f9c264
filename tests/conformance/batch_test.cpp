// Notified puts and gets of a batch.
#include <algorithm>

#include "signals.hpp"

using namespace conformance;

namespace {

using BatchCall = decltype(sennit_put_notify_batch);

std::uint64_t salt_of(int from, std::uint64_t epoch) {
    return epoch * 64 + static_cast<std::uint64_t>(from);
}

std::vector<sennit_peer_block> attach_all(Ranks &it, const sennit_block &mine) {
    std::vector<sennit_peer_block> peers;
    for (const sennit_block &block : it.tell_all(mine)) {
        sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
        it.ok(sennit_block_attach(&block, &peer));
        peers.push_back(peer);
    }
    return peers;
}

sennit_block make_block(Ranks &it, sennit_gptr memory, std::size_t bytes, sennit_signal on_send,
                        sennit_signal on_recv) {
    sennit_block made;
    const sennit_region region{sennit_gptr_at(memory, it.rank), bytes};
    it.ok(sennit_block_init(region, 0, bytes, on_send, on_recv, &made));
    return made;
}

// All of the batch, from where it ends as often as an owner is behind.
void run_all(Ranks &it, BatchCall *call, std::vector<sennit_notify_part> &parts) {
    const std::uint64_t word = 0;
    for (std::size_t first = 0;;) {
        std::size_t done = SIZE_MAX;
        const sennit_status status = call(parts.size() - first, parts.data() + first, &done);
        it.require(done <= parts.size() - first, "no more is done than there is");
        for (std::size_t i = first; i < first + done; ++i)
            it.equal(parts[i].status, SENNIT_OK);
        first += done;
        if (status == SENNIT_OK) {
            it.equal(first, parts.size());
            return;
        }
        it.is(status, SENNIT_ERR_SIGNAL_EARLY);
        for (std::size_t i = first; i < parts.size(); ++i)
            it.equal(parts[i].status, SENNIT_ERR_SIGNAL_EARLY);
        (void)sennit_signal_wait_word(&word, SENNIT_NOT_EQUAL, 0, 0);
    }
}

void detach_all(Ranks &it, const std::vector<sennit_peer_block> &peers) {
    it.barrier();
    for (const sennit_peer_block peer : peers)
        it.ok(sennit_block_detach(peer));
}

// What the tests of one message after the other share: a block of each rank and its signals.
struct Small {
    Ranks &it;
    const sennit_gptr memory;
    const std::uint64_t *own;
    sennit_signal arrived;
    sennit_signal local;
    std::vector<sennit_peer_block> peers;
    std::uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    explicit Small(Ranks &ranks)
        : it(ranks),
          memory(it.allocate(256)),
          own(static_cast<const std::uint64_t *>(sennit_ptr(memory))),
          arrived(make_signal(it, 2)),
          local(make_signal(it, 2)),
          peers(attach_all(it, make_block(it, memory, 256, SENNIT_SIGNAL_NULL, arrived))) {}
    void end() {
        detach_all(it, peers);
        it.ok(sennit_signal_destroy(arrived));
        it.ok(sennit_signal_destroy(local));
        it.free(memory);
    }
    sennit_notify_part part(std::size_t i, const sennit_notice *notice) {
        const sennit_peer_block peer = peers[static_cast<std::size_t>(it.next())];
        return {peer, SENNIT_OK, 8 * i, &words[i], 8, notice};
    }
    void is(std::vector<sennit_notify_part> &parts, sennit_status status, std::size_t done) {
        std::size_t count = 77;
        it.is(sennit_put_notify_batch(parts.size(), parts.data(), &count), status);
        it.equal(count, done);
    }
};

constexpr sennit_notice in_epoch(std::uint64_t epoch) {
    return {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch};
}

}  // namespace

// Broken by a part that is left out, sent twice, counted before its data is there or in another
// epoch, also when the batch is made again from where it ended. Senders run an epoch ahead.
RANK_TEST(notify, a_batch_of_puts_to_all_ranks_is_there_when_the_signals_fire, kAnything) {
    const std::size_t part = 512;
    const auto size = static_cast<std::size_t>(it.size);
    const std::size_t messages = it.common.between(1, 20);  // to each rank, in one epoch
    const std::size_t half = part * size * messages;
    const sennit_gptr memory = it.allocate(2 * half);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const sennit_signal arrived = make_signal(it, static_cast<std::uint32_t>(size * messages));
    const sennit_signal sent = make_signal(it, static_cast<std::uint32_t>(size * messages));
    const auto peers =
        attach_all(it, make_block(it, memory, 2 * half, SENNIT_SIGNAL_NULL, arrived));
    std::vector<std::uint8_t> data(part);
    for (std::uint64_t epoch = 0; epoch < (it.quick ? 4u : 40u); ++epoch) {
        const std::size_t bytes = it.common.one_in(4) ? 8 : it.common.between(0, part);
        fill(data.data(), bytes, salt_of(it.rank, epoch));
        const sennit_notice notice{SENNIT_SIGNAL_NULL, sent, epoch};
        std::vector<sennit_notify_part> parts;
        for (std::size_t i = 0; i < size * messages; ++i) {
            const std::size_t peer = (static_cast<std::size_t>(it.rank) + i) % size;
            const std::size_t place = static_cast<std::size_t>(it.rank) * messages + i / size;
            parts.push_back({peers[peer], SENNIT_OK, epoch % 2 * half + part * place, data.data(),
                             bytes, &notice});
        }
        run_all(it, sennit_put_notify_batch, parts);
        it.require(is_fired(it, sent), "the local signal has counted each part");
        it.ok(sennit_signal_reset(sent));
        it.ok(sennit_signal_wait(arrived, SENNIT_FOREVER));
        for (std::size_t i = 0; i < size * messages; ++i)
            check_pattern(it, own + epoch % 2 * half + part * i, bytes,
                          salt_of(static_cast<int>(i / messages), epoch));
        it.ok(sennit_signal_reset(arrived));
    }
    detach_all(it, peers);
    it.ok(sennit_signal_destroy(arrived));
    it.ok(sennit_signal_destroy(sent));
    it.free(memory);
}

// Broken by an event that tells of a read before it is over, or by signals in sets that are not
// marked.
RANK_TEST(notify, a_batch_of_gets_tells_each_owner_once, kAnything) {
    const std::size_t bytes = 3000;
    const auto size = static_cast<std::size_t>(it.size);
    const sennit_gptr memory = it.allocate(bytes);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const sennit_signal read = make_signal(it, static_cast<std::uint32_t>(it.size));
    sennit_waitset set = SENNIT_WAITSET_NULL;
    it.ok(sennit_waitset_create(&set));
    it.ok(sennit_waitset_add(set, read));
    const auto peers = attach_all(it, make_block(it, memory, bytes, read, SENNIT_SIGNAL_NULL));
    std::vector<std::uint8_t> got(bytes * size);
    for (std::uint64_t epoch = 0; epoch < (it.quick ? 4u : 40u); ++epoch) {
        fill(own, bytes, salt_of(it.rank, epoch));
        it.barrier();
        std::vector<sennit_notify_part> parts;  // without a notice: the next epoch of each block
        for (std::size_t peer = 0; peer < size; ++peer)
            parts.push_back({peers[peer], SENNIT_OK, 0, got.data() + bytes * peer, bytes, nullptr});
        run_all(it, sennit_get_notify_batch, parts);
        for (std::size_t peer = 0; peer < size; ++peer)
            check_pattern(it, got.data() + bytes * peer, bytes,
                          salt_of(static_cast<int>(peer), epoch));
        it.ok(sennit_waitset_wait_all(set, SENNIT_FOREVER));
        it.ok(sennit_signal_reset(read));
    }
    detach_all(it, peers);
    it.ok(sennit_waitset_destroy(set));
    it.ok(sennit_signal_destroy(read));
    it.free(memory);
}

// Broken by a batch that moves something before it has looked at all of it.
RANK_TEST(notify, a_batch_of_which_one_part_is_wrong_moves_nothing, kAnything) {
    Small small(it);
    std::size_t done = 77;
    it.ok(sennit_put_notify_batch(0, nullptr, &done));
    it.equal(done, 0u);
    const sennit_notice now = in_epoch(0);
    const auto refused = [&](sennit_notify_part third, sennit_status status) {
        std::vector<sennit_notify_part> parts{small.part(0, &now), small.part(1, &now), third};
        small.is(parts, status, 0);
        for (const sennit_notify_part &each : parts)
            it.equal(each.status, status);
        it.require(std::strstr(sennit_last_error()->text, "part 2") != nullptr,
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
    const sennit_notice nobodys{SENNIT_SIGNAL_NULL, {it.rank, 77}, 0};
    refused(small.part(2, &nobodys), SENNIT_ERR_ARG);
    const sennit_notice foreign{{it.size, 1}, SENNIT_SIGNAL_NULL, 0};
    refused(small.part(2, &foreign), SENNIT_ERR_ARG);
    it.barrier();
    it.equal(small.own[0], 0u);
    it.equal(left_of(it, small.arrived), 2u);
    small.end();
}

// Broken by a count of what is done that is not so, or data of parts behind the one that was early.
RANK_TEST(notify, a_batch_that_ends_early_says_how_far_it_came_and_goes_on_from_there, kAnything) {
    Small small(it);
    // Two of this epoch, two of the next, and two that the owner does not take yet.
    const sennit_notice notices[3] = {in_epoch(0), in_epoch(1), in_epoch(2)};
    std::vector<sennit_notify_part> parts;
    for (std::size_t i = 0; i < 6; ++i)
        parts.push_back(small.part(i, &notices[i / 2]));
    small.is(parts, SENNIT_ERR_SIGNAL_EARLY, 4);
    for (std::size_t i = 0; i < 6; ++i)
        it.equal(parts[i].status, i < 4 ? SENNIT_OK : SENNIT_ERR_SIGNAL_EARLY);
    it.barrier();
    it.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    for (std::size_t i = 0; i < 6; ++i)
        it.equal(small.own[i], i < 4 ? small.words[i] : 0);
    it.barrier();
    it.ok(sennit_signal_reset(small.arrived));
    parts = {parts[4], parts[5]};
    run_all(it, sennit_put_notify_batch, parts);
    it.barrier();
    it.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    it.ok(sennit_signal_reset(small.arrived));
    it.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    it.equal(small.own[5], small.words[5]);
    small.end();
}

// Broken by a message too many that is said to be done, or a local signal that counts it.
RANK_TEST(notify, a_batch_ends_at_the_message_that_is_too_many, kAnything) {
    Small small(it);
    const sennit_notice counted{SENNIT_SIGNAL_NULL, small.local, 0};
    std::vector<sennit_notify_part> parts{small.part(0, &counted), small.part(1, &counted),
                                          small.part(2, &counted)};
    small.is(parts, SENNIT_ERR_SIGNAL_OVERFLOW, 2);
    it.require(is_fired(it, small.local), "the local signal has counted two");
    it.ok(sennit_signal_wait(small.arrived, SENNIT_FOREVER));
    it.barrier();
    const sennit_notice surplus = in_epoch(0);
    parts = {small.part(2, &surplus), small.part(3, &surplus)};
    small.is(parts, SENNIT_ERR_SIGNAL_OVERFLOW, 0);
    small.end();
}
