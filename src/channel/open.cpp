// SPDX-License-Identifier: BSD-3-Clause
// Opens channels with several targets at once. Each needs a handshake with its target
// (handshake.hpp). All handshakes proceed at the same time: a late target does not delay the
// others.
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "channel/channels.hpp"
#include "channel/handshake.hpp"
#include "runtime/detector.hpp"

namespace sennit::channel {
namespace {

enum class Phase : std::uint8_t {
    unprepared,
    waiting,  // until no other thread of this rank opens a channel with the peer
    offered,  // this rank has made its offer
    ready,    // this rank has also accepted the peer's offer
    open,     // the channel is open
    over      // the handshake has failed or was withdrawn
};

// The handshake with one target.
struct Item {
    Channel *channel = nullptr;
    Phase phase = Phase::unprepared;
    bool has_turn = false;
    Side side{0};
    std::uint64_t number = 0;
    std::atomic<std::uint64_t> *word = nullptr;
    OfferSlot *own_slot = nullptr;
    OfferSlot *peer_slot = nullptr;
    ChannelOffer offer{};  // this rank's
};

struct Opening {
    Rank &rank;
    unsigned flags;
    Item *items;
    std::size_t count;
    sennit_status status = SENNIT_OK;  // of the first failure
    sennit_error error{};
};

bool sleeps_with_barrier(const Rank &rank) {
    // relaxed: set when the rank's first channel was prepared, under its cold mutex.
    return rank.sleeps_with_barrier.load(std::memory_order_relaxed);
}

// For a channel of this rank with itself, which has only one end.
void prepare_self(Opening &opening, Item &item, const ChannelArgs &args) {
    Channel &channel = *item.channel;
    channel.theirs = channel.own;
    channel.rings_lightly = sleeps_with_barrier(opening.rank);
    channel.peer_memory = args.region.gptr;
    channel.peer_bytes = args.bytes;
    channel.peer_buffer = args.bytes == 0 ? nullptr : static_cast<std::byte *>(args.buffer);
    item.phase = Phase::open;
}

sennit_status prepare(Opening &opening, Item &item, const ChannelArgs &args) {
    const sennit_status status = take_place(opening.rank, args.peer, &item.channel);
    if (status != SENNIT_OK) return status;
    Channel &channel = *item.channel;
    channel.flags = opening.flags;
    channel.ahead = ahead_in(opening.flags);
    if ((opening.flags & SENNIT_CHANNEL_NOT_READY) != 0) begin_not_ready(channel);
    channel.region = args.region;
    channel.owns_region = args.owns_region;
    item.phase = Phase::waiting;
    if (args.peer == opening.rank.world_rank) {
        prepare_self(opening, item, args);
        return SENNIT_OK;
    }
    item.side.shift = opening.rank.world_rank < args.peer ? 0 : 1;
    item.own_slot = &offer_slot_of(*opening.rank.control, args.peer);
    item.peer_slot = &offer_slot_of(*channel.peer_control, opening.rank.world_rank);
    item.word = &(item.side.shift == 0 ? item.own_slot : item.peer_slot)->handshake;
    item.offer.bytes = args.bytes;
    item.offer.offset = args.region.gptr.offset;
    item.offer.segment = args.bytes == 0 ? 0 : args.region.gptr.segment;
    item.offer.segment_rank = args.region.gptr.rank;
    item.offer.flags = opening.flags | (args.owns_region ? kOwnRegion : 0) |
                       (sleeps_with_barrier(opening.rank) ? kSleepsWithBarrier : 0);
    const ColdLock lock(opening.rank);
    half_describe(opening.rank.channels->pool, channel.half, &item.offer);
    return SENNIT_OK;
}

sennit_status prepare(Opening &opening, const ChannelArgs *args_of_all) {
    for (std::size_t i = 0; i < opening.count; ++i) {
        const sennit_status status = prepare(opening, opening.items[i], args_of_all[i]);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

bool take_turn(Opening &opening, Item &item) {
    // SYNC channel-pair: pairs with the release in end_turn(); the last thread's use of the offer
    // table comes before.
    item.has_turn = opening.rank.channels->pairs[item.channel->peer].exchange(
                        1, std::memory_order_acquire) == 0;
    return item.has_turn;
}

void end_turn(Opening &opening, Item &item) {
    if (!item.has_turn) return;
    item.has_turn = false;
    // SYNC channel-pair: pairs with the acquire in take_turn().
    opening.rank.channels->pairs[item.channel->peer].store(0, std::memory_order_release);
    ring_doorbell(*opening.rank.control);
}

void finish(Opening &opening, Item &item, Phase phase) {
    item.phase = phase;
    end_turn(opening, item);
}

void fail_item(Opening &opening, Item &item, sennit_status status) {
    if (opening.status == SENNIT_OK) {
        opening.status = status;
        opening.error = *thread_error();
    }
    finish(opening, item, Phase::over);
}

// Changes the shared word if it still equals *word; else loads it into *word.
bool change(const Item &item, std::uint64_t *word, std::uint64_t wanted) {
    // SYNC channel-handshake: pairs with the acquires in put_offer(), advance(), withdraw_offer()
    // and here, at the peer; the offer and the half that it names come before.
    if (!item.word->compare_exchange_strong(*word, wanted, std::memory_order_acq_rel,
                                            std::memory_order_acquire))
        return false;
    ring_doorbell(*item.channel->peer_control);
    return true;
}

void write_offer(const Item &item) {
    // SYNC channel-offer: pairs with the fence in answer_offer(); the change of the word that
    // ended the last offer comes before the first store of this one.
    order_stores();
    store_words(&item.own_slot->offer, &item.offer, sizeof item.offer);
}

void put_offer(Item &item) {
    write_offer(item);
    // SYNC channel-handshake: pairs with the release in change(), of the peer.
    std::uint64_t word = item.word->load(std::memory_order_acquire);
    while (!change(item, &word, word | item.side.own(kOfferedBit))) {
    }
    item.number = number_in(word);
    item.phase = Phase::offered;
}

// Checks the peer's offer and enters it in *item.channel.
sennit_status accept(Opening &opening, Item &item, const ChannelOffer &theirs) {
    Channel &channel = *item.channel;
    const std::uint32_t flags = theirs.flags & ~(kOwnRegion | kSleepsWithBarrier);
    if (flags != opening.flags)
        return fail_peer(SENNIT_ERR_ARG, channel.peer,
                         sennit_path_name(opening.rank.peers[channel.peer].path),
                         "rank %d opens its end with flags %#x, this rank with %#x", channel.peer,
                         flags, opening.flags);
    channel.peer_bytes = theirs.bytes;
    channel.peer_memory = sennit_gptr{theirs.segment_rank, theirs.segment, theirs.offset};
    channel.detaches = (theirs.flags & kOwnRegion) != 0;
    channel.rings_lightly =
        (theirs.flags & kSleepsWithBarrier) != 0 && sleeps_with_barrier(opening.rank);
    channel.publishes_lightly = channel.rings_lightly && channel.ahead > 1;
    {
        const ColdLock lock(opening.rank);
        const sennit_status status = half_of_peer(opening.rank, opening.rank.channels->pool,
                                                  channel.peer, theirs, &channel.theirs);
        if (status != SENNIT_OK) return status;
    }
    return reach_memory(opening.rank, channel);
}

// Accepts or refuses the peer's offer, after both ranks have made one. False: the word has changed,
// and the caller must load it again.
bool answer_offer(Opening &opening, Item &item, std::uint64_t word) {
    ChannelOffer theirs{};
    load_words(&theirs, &item.peer_slot->offer, sizeof theirs);
    // SYNC channel-offer: pairs with the fence in write_offer(), of the peer; the copy comes before
    // the check that the offer is still valid.
    order_loads();
    // relaxed: the fence above orders it.
    std::uint64_t now = item.word->load(std::memory_order_relaxed);
    if (now != word && number_in(now) != item.number) return false;
    const sennit_status status = accept(opening, item, theirs);
    for (;;) {
        const std::uint64_t wanted =
            status == SENNIT_OK ? made_ready(now, item.side) : ended(now, status);
        if (change(item, &now, wanted)) {
            if (status != SENNIT_OK) {
                fail_item(opening, item, status);
            } else if (number_in(wanted) != item.number) {
                finish(opening, item, Phase::open);
            } else {
                item.phase = Phase::ready;
            }
            break;
        }
        if (number_in(now) != item.number) return false;
    }
    if (item.phase == Phase::over) forget_memory(opening.rank, *item.channel);
    return true;
}

// Why the peer refused this rank's offer, as far as the status says.
const char *why_refused(sennit_status end, const ChannelOffer &own) {
    if (end == SENNIT_ERR_ARG) return ": its flags differ from this rank's";
    if (end != SENNIT_ERR_UNSUPPORTED) return "";
    if (own.bytes == 0 || (own.flags & SENNIT_CHANNEL_MIRROR) != 0)
        return ": it cannot reach this rank's memory";
    return ": it cannot load and store in this rank's buffer; allocate that by sennit_alloc, or "
           "allow a copy by SENNIT_CHANNEL_MIRROR";
}

// Called when the number of this rank's offer has ended: applies the result.
void apply_end(Opening &opening, Item &item, std::uint64_t word) {
    const sennit_status end = end_in(word);
    if (end == SENNIT_OK && item.phase == Phase::ready) {
        finish(opening, item, Phase::open);
        return;
    }
    forget_memory(opening.rank, *item.channel);
    if (end == SENNIT_ERR_TIMEOUT) {
        put_offer(item);  // the peer gave up earlier, and may try again
        return;
    }
    const int peer = item.channel->peer;
    fail_item(opening, item,
              fail_peer(end, peer, sennit_path_name(opening.rank.peers[peer].path),
                        "rank %d cannot open its end: %s%s", peer, sennit_status_string(end),
                        why_refused(end, item.offer)));
}

void advance(Opening &opening, Item &item) {
    if (item.phase == Phase::waiting) {
        if (!take_turn(opening, item)) return;
        put_offer(item);
    }
    for (;;) {
        // SYNC channel-handshake: pairs with the release in change(), of the peer.
        const std::uint64_t word = item.word->load(std::memory_order_acquire);
        if (number_in(word) != item.number) {
            apply_end(opening, item, word);
            if (item.phase != Phase::offered) return;
            continue;
        }
        if (item.phase != Phase::offered || !both_offered(word)) return;
        if (answer_offer(opening, item, word)) return;
    }
}

// Advances each handshake once. True when all channels are open or one handshake has failed.
bool step(Opening &opening) {
    bool all_open = true;
    for (std::size_t i = 0; i < opening.count; ++i) {
        Item &item = opening.items[i];
        if (item.phase != Phase::open) advance(opening, item);
        if (opening.status != SENNIT_OK) return true;
        all_open &= item.phase == Phase::open;
    }
    return all_open;
}

// A lost rank with which a handshake cannot succeed, or -1.
int find_lost_peer(Opening &opening) {
    for (std::size_t i = 0; i < opening.count; ++i) {
        Item &item = opening.items[i];
        if (item.phase == Phase::open || item.phase == Phase::over) continue;
        const int peer = item.channel->peer;
        if (peer_gone(opening.rank, peer) == Gone::no && !is_leaving(opening.rank, peer)) continue;
        // The peer may have finished the handshake just before its end.
        if (item.phase != Phase::waiting) advance(opening, item);
        if (item.phase != Phase::open) return peer;
    }
    return -1;
}

// The error counts the late ranks and names the first.
sennit_status fail_late(const Opening &opening) {
    std::size_t late = 0;
    int first = -1;
    for (std::size_t i = 0; i < opening.count; ++i) {
        if (opening.items[i].phase == Phase::open) continue;
        if (late++ == 0) first = opening.items[i].channel->peer;
    }
    if (late == 0) return SENNIT_ERR_TIMEOUT;
    return fail_peer(
        SENNIT_ERR_TIMEOUT, first, sennit_path_name(opening.rank.peers[first].path),
        "targets that have not opened their end before the timeout: %zu of %zu, rank %d "
        "is the first (timeouts are in nanoseconds)",
        late, opening.count, first);
}

// Withdraws this rank's offer, unless the peer has ended the handshake at the same time.
void withdraw_offer(Opening &opening, Item &item) {
    // SYNC channel-handshake: pairs with the release in change(), of the peer.
    std::uint64_t word = item.word->load(std::memory_order_acquire);
    while (number_in(word) == item.number) {
        if (change(item, &word, withdrawn(word, item.side))) {
            finish(opening, item, Phase::over);
            return;
        }
    }
    const bool is_open = item.phase == Phase::ready && end_in(word) == SENNIT_OK;
    finish(opening, item, is_open ? Phase::open : Phase::over);
}

// After a timeout or a failure: ends every handshake. OK if, after a timeout, all channels are open
// nevertheless.
sennit_status give_up(Opening &opening, sennit_status why) {
    if (opening.status == SENNIT_OK) {
        opening.status = why;
        opening.error = *thread_error();
    }
    bool all_open = true;
    for (std::size_t i = 0; i < opening.count; ++i) {
        Item &item = opening.items[i];
        if (item.phase == Phase::offered || item.phase == Phase::ready)
            withdraw_offer(opening, item);
        all_open &= item.phase == Phase::open;
    }
    if (all_open && opening.status == SENNIT_ERR_TIMEOUT) return SENNIT_OK;
    for (std::size_t i = 0; i < opening.count; ++i) {
        Item &item = opening.items[i];
        if (item.phase == Phase::unprepared) continue;
        const bool is_open = item.phase == Phase::open;
        if (is_open) close_own_end(*item.channel);
        release_place(opening.rank, *item.channel, is_open);
    }
    *thread_error() = opening.error;
    return opening.status;
}

// A LostSearch.
int find_lost(Rank &, const void *context) {
    return find_lost_peer(**static_cast<Opening *const *>(context));
}

sennit_status run_handshakes(Rank &rank, Opening &opening, const Deadline &deadline) {
    const int lost = find_lost_peer(opening);
    if (lost >= 0) return fail_lost(rank, lost);
    Opening *const context = &opening;
    const sennit_status status = wait_until(rank, deadline, LostSearch{find_lost, &context},
                                            [&opening] { return step(opening); });
    if (status == SENNIT_ERR_TIMEOUT) return fail_late(opening);
    return status != SENNIT_OK ? status : opening.status;
}

}  // namespace

sennit_status open_all(Rank &rank, const ChannelArgs *args_of_all, std::size_t count,
                       unsigned flags, const Deadline &deadline, Channel **opened) {
    Item *items = new (std::nothrow) Item[count];
    if (items == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the targets");
    Opening opening{rank, flags, items, count};
    sennit_status status = prepare(opening, args_of_all);
    if (status == SENNIT_OK) status = run_handshakes(rank, opening, deadline);
    if (status != SENNIT_OK) status = give_up(opening, status);
    for (std::size_t i = 0; status == SENNIT_OK && i < count; ++i) {
        opened[i] = items[i].channel;
        publish(rank, *opened[i]);
    }
    delete[] items;
    return status;
}

}  // namespace sennit::channel
