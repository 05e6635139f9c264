// Opening channels with several targets at once. Each target is a meeting of two (meeting.hpp);
// this rank goes round all of them until each has ended, and never waits for one before another.
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "channel/channels.hpp"
#include "channel/meeting.hpp"
#include "runtime/detector.hpp"

namespace sennit::channel {
namespace {

enum class Phase : std::uint8_t {
    unprepared,
    waiting,  // for this rank's turn with the peer
    offered,  // the offer lies on the desk
    ready,    // and the peer's was found good
    met,      // the channel is there
    over      // it is not
};

// The meeting with one target.
struct Item {
    Channel *channel = nullptr;
    Phase phase = Phase::unprepared;
    bool has_turn = false;
    Side side{0};
    std::uint64_t number = 0;
    std::atomic<std::uint64_t> *word = nullptr;
    DeskPlace *own_place = nullptr;
    DeskPlace *peer_place = nullptr;
    ChannelOffer offer{};  // this rank's
};

class Opening {
  public:
    Opening(Rank &rank, unsigned flags, Item *items, std::size_t count)
        : rank_(rank), flags_(flags), items_(items), count_(count) {}

    sennit_status prepare(const ChannelArgs *args_of_all);
    // Goes round once. True when all have met or one has failed.
    bool step();
    sennit_status status() const { return status_; }
    // A rank whose end leaves a meeting without hope, or -1.
    int find_lost_peer();
    // Whom it waits for, for messages.
    sennit_status fail_late() const;
    // The time is over, or one has failed: ends every meeting. OK if all have met meanwhile.
    sennit_status give_up(sennit_status why);

  private:
    sennit_status prepare(Item &item, const ChannelArgs &args);
    void prepare_self(Item &item, const ChannelArgs &args);
    bool take_turn(Item &item);
    void end_turn(Item &item);
    void put_offer(Item &item);
    void advance(Item &item);
    bool look_at_offer(Item &item, std::uint64_t word);
    sennit_status accept(Item &item, const ChannelOffer &theirs);
    void learn_end(Item &item, std::uint64_t word);
    void take_back(Item &item);
    void finish(Item &item, Phase phase);
    bool change(Item &item, std::uint64_t *word, std::uint64_t wanted);
    void fail_item(Item &item, sennit_status status);

    Rank &rank_;
    unsigned flags_;
    Item *items_;
    std::size_t count_;
    sennit_status status_ = SENNIT_OK;
    sennit_error error_{};
};

bool sleeps_with_barrier(const Rank &rank) {
    // relaxed: set when the rank's first channel was prepared, under its cold mutex.
    return rank.sleeps_with_barrier.load(std::memory_order_relaxed);
}

sennit_status Opening::prepare(const ChannelArgs *args_of_all) {
    for (std::size_t i = 0; i < count_; ++i) {
        const sennit_status status = prepare(items_[i], args_of_all[i]);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

sennit_status Opening::prepare(Item &item, const ChannelArgs &args) {
    const sennit_status status = take_place(rank_, args.peer, &item.channel);
    if (status != SENNIT_OK) return status;
    Channel &channel = *item.channel;
    channel.flags = flags_;
    channel.ahead = ahead_in(flags_);
    channel.region = args.region;
    channel.owns_region = args.owns_region;
    item.phase = Phase::waiting;
    if (args.peer == rank_.world_rank) {
        prepare_self(item, args);
        return SENNIT_OK;
    }
    item.side.shift = rank_.world_rank < args.peer ? 0 : 1;
    item.own_place = &place_of(*rank_.control, args.peer);
    item.peer_place = &place_of(*channel.peer_control, rank_.world_rank);
    item.word = &(item.side.shift == 0 ? item.own_place : item.peer_place)->meeting;
    item.offer.bytes = args.bytes;
    item.offer.offset = args.region.gptr.offset;
    item.offer.segment = args.bytes == 0 ? 0 : args.region.gptr.segment;
    item.offer.segment_rank = args.region.gptr.rank;
    item.offer.flags = flags_ | (args.owns_region ? kOwnRegion : 0) |
                       (sleeps_with_barrier(rank_) ? kSleepsWithBarrier : 0);
    const ColdLock lock(rank_);
    half_describe(*rank_.channels->pool, channel.half, &item.offer);
    return SENNIT_OK;
}

// Both ends are one: what this rank writes to its peer it finds itself.
void Opening::prepare_self(Item &item, const ChannelArgs &args) {
    Channel &channel = *item.channel;
    channel.theirs = channel.own;
    channel.rings_lightly = sleeps_with_barrier(rank_);
    channel.peer_memory = args.region.gptr;
    channel.peer_bytes = args.bytes;
    channel.peer_buffer = args.bytes == 0 ? nullptr : static_cast<std::byte *>(args.buffer);
    item.phase = Phase::met;
}

bool Opening::take_turn(Item &item) {
    // SYNC channel-pair: pairs with the release in end_turn(); the desk as the last thread left it.
    item.has_turn =
        rank_.channels->pairs[item.channel->peer].exchange(1, std::memory_order_acquire) == 0;
    return item.has_turn;
}

void Opening::end_turn(Item &item) {
    if (!item.has_turn) return;
    item.has_turn = false;
    // SYNC channel-pair: pairs with the acquire in take_turn().
    rank_.channels->pairs[item.channel->peer].store(0, std::memory_order_release);
    ring_doorbell(*rank_.control);
}

void Opening::finish(Item &item, Phase phase) {
    item.phase = phase;
    end_turn(item);
}

void Opening::fail_item(Item &item, sennit_status status) {
    if (status_ == SENNIT_OK) {
        status_ = status;
        error_ = *thread_error();
    }
    finish(item, Phase::over);
}

// Changes the word, if it still is *word; else *word is what it has become.
bool Opening::change(Item &item, std::uint64_t *word, std::uint64_t wanted) {
    // SYNC channel-meeting: pairs with the acquires in put_offer(), advance(), take_back() and
    // here, at the peer; the offer and the half that it names come before.
    if (!item.word->compare_exchange_strong(*word, wanted, std::memory_order_acq_rel,
                                            std::memory_order_acquire))
        return false;
    ring_doorbell(*item.channel->peer_control);
    return true;
}

void write_offer(const Item &item) {
    // SYNC channel-offer: pairs with the fence in look_at_offer(); the word's change that ended the
    // last offer comes before this one's first store.
    order_stores();
    store_words(&item.own_place->offer, &item.offer, sizeof item.offer);
}

void Opening::put_offer(Item &item) {
    write_offer(item);
    // SYNC channel-meeting: pairs with the release in change(), of the peer.
    std::uint64_t word = item.word->load(std::memory_order_acquire);
    while (!change(item, &word, word | item.side.own(kOfferedBit))) {
    }
    item.number = number_in(word);
    item.phase = Phase::offered;
}

// The peer's offer on its desk is usable from here: then *item.channel has all of it.
sennit_status Opening::accept(Item &item, const ChannelOffer &theirs) {
    Channel &channel = *item.channel;
    const std::uint32_t flags = theirs.flags & ~(kOwnRegion | kSleepsWithBarrier);
    if (flags != flags_)
        return fail_peer(SENNIT_ERR_ARG, channel.peer,
                         sennit_path_name(rank_.peers[channel.peer].path),
                         "rank %d opens its end with flags %#x, this rank with %#x", channel.peer,
                         flags, flags_);
    channel.peer_bytes = theirs.bytes;
    channel.peer_memory = sennit_gptr{theirs.segment_rank, theirs.segment, theirs.offset};
    channel.detaches = (theirs.flags & kOwnRegion) != 0;
    channel.rings_lightly = (theirs.flags & kSleepsWithBarrier) != 0 && sleeps_with_barrier(rank_);
    channel.shows_lightly = channel.rings_lightly && channel.ahead > 1;
    {
        const ColdLock lock(rank_);
        const sennit_status status =
            half_of_peer(rank_, *rank_.channels->pool, channel.peer, theirs, &channel.theirs);
        if (status != SENNIT_OK) return status;
    }
    return reach_memory(rank_, channel);
}

// Both offers are there. False if the word has changed, so that there is more to see.
bool Opening::look_at_offer(Item &item, std::uint64_t word) {
    ChannelOffer theirs{};
    load_words(&theirs, &item.peer_place->offer, sizeof theirs);
    // SYNC channel-offer: pairs with the fence in write_offer(), of the peer; the copy comes before
    // the look whether that offer was still meant.
    order_loads();
    // relaxed: the fence above orders it.
    std::uint64_t now = item.word->load(std::memory_order_relaxed);
    if (now != word && number_in(now) != item.number) return false;
    const sennit_status status = accept(item, theirs);
    for (;;) {
        const std::uint64_t wanted =
            status == SENNIT_OK ? made_ready(now, item.side) : ended(now, status);
        if (change(item, &now, wanted)) {
            if (status != SENNIT_OK) {
                fail_item(item, status);
            } else if (number_in(wanted) != item.number) {
                finish(item, Phase::met);
            } else {
                item.phase = Phase::ready;
            }
            break;
        }
        if (number_in(now) != item.number) return false;
    }
    if (item.phase == Phase::over) forget_memory(rank_, *item.channel);
    return true;
}

// What the peer found wrong with this rank's offer, as far as the status tells.
const char *why_refused(sennit_status end, const ChannelOffer &own) {
    if (end == SENNIT_ERR_ARG) return ": its flags differ from this rank's";
    if (end != SENNIT_ERR_UNSUPPORTED) return "";
    if (own.bytes == 0 || (own.flags & SENNIT_CHANNEL_MIRROR) != 0)
        return ": this rank's memory is out of its reach";
    return ": this rank's buffer gives it no pointer; allocate it by sennit_alloc, or allow a copy "
           "by SENNIT_CHANNEL_MIRROR";
}

// The number of this rank's offer is over.
void Opening::learn_end(Item &item, std::uint64_t word) {
    const sennit_status end = end_in(word);
    if (end == SENNIT_OK && item.phase == Phase::ready) {
        finish(item, Phase::met);
        return;
    }
    forget_memory(rank_, *item.channel);
    if (end == SENNIT_ERR_TIMEOUT) {
        put_offer(item);  // the peer did not wait so long, and may come again
        return;
    }
    const int peer = item.channel->peer;
    fail_item(item, fail_peer(end, peer, sennit_path_name(rank_.peers[peer].path),
                              "rank %d can not open its end: %s%s", peer, sennit_status_string(end),
                              why_refused(end, item.offer)));
}

void Opening::advance(Item &item) {
    if (item.phase == Phase::waiting) {
        if (!take_turn(item)) return;
        put_offer(item);
    }
    for (;;) {
        // SYNC channel-meeting: pairs with the release in change(), of the peer.
        const std::uint64_t word = item.word->load(std::memory_order_acquire);
        if (number_in(word) != item.number) {
            learn_end(item, word);
            if (item.phase != Phase::offered) return;
            continue;
        }
        if (item.phase != Phase::offered || !both_offered(word)) return;
        if (look_at_offer(item, word)) return;
    }
}

bool Opening::step() {
    bool all_met = true;
    for (std::size_t i = 0; i < count_; ++i) {
        Item &item = items_[i];
        if (item.phase != Phase::met) advance(item);
        if (status_ != SENNIT_OK) return true;
        all_met &= item.phase == Phase::met;
    }
    return all_met;
}

int Opening::find_lost_peer() {
    for (std::size_t i = 0; i < count_; ++i) {
        Item &item = items_[i];
        if (item.phase == Phase::met || item.phase == Phase::over) continue;
        const int peer = item.channel->peer;
        if (peer_gone(rank_, peer) == Gone::no && !is_leaving(rank_, peer)) continue;
        // What the peer did came before its end.
        if (item.phase != Phase::waiting) advance(item);
        if (item.phase != Phase::met) return peer;
    }
    return -1;
}

sennit_status Opening::fail_late() const {
    std::size_t late = 0;
    int first = -1;
    for (std::size_t i = 0; i < count_; ++i) {
        if (items_[i].phase == Phase::met) continue;
        if (late++ == 0) first = items_[i].channel->peer;
    }
    if (late == 0) return SENNIT_ERR_TIMEOUT;
    return fail_peer(
        SENNIT_ERR_TIMEOUT, first, sennit_path_name(rank_.peers[first].path),
        "%zu of %zu targets, rank %d among them, have not opened their end in the time "
        "given (timeouts are nanoseconds)",
        late, count_, first);
}

// Ends a meeting that has not ended yet; it may turn out that it has.
void Opening::take_back(Item &item) {
    // SYNC channel-meeting: pairs with the release in change(), of the peer.
    std::uint64_t word = item.word->load(std::memory_order_acquire);
    while (number_in(word) == item.number) {
        if (change(item, &word, taken_back(word, item.side))) {
            finish(item, Phase::over);
            return;
        }
    }
    const bool has_met = item.phase == Phase::ready && end_in(word) == SENNIT_OK;
    finish(item, has_met ? Phase::met : Phase::over);
}

sennit_status Opening::give_up(sennit_status why) {
    if (status_ == SENNIT_OK) {
        status_ = why;
        error_ = *thread_error();
    }
    bool all_met = true;
    for (std::size_t i = 0; i < count_; ++i) {
        Item &item = items_[i];
        if (item.phase == Phase::offered || item.phase == Phase::ready) take_back(item);
        all_met &= item.phase == Phase::met;
    }
    if (all_met && status_ == SENNIT_ERR_TIMEOUT) return SENNIT_OK;
    for (std::size_t i = 0; i < count_; ++i) {
        Item &item = items_[i];
        if (item.phase == Phase::unprepared) continue;
        const bool has_met = item.phase == Phase::met;
        if (has_met) close_own_end(*item.channel);
        release_place(rank_, *item.channel, has_met);
    }
    *thread_error() = error_;
    return status_;
}

int find_lost_peer(Rank &, const void *context) {
    return (*static_cast<Opening *const *>(context))->find_lost_peer();
}

sennit_status meet_all(Rank &rank, Opening &opening, const Deadline &deadline) {
    const int lost = opening.find_lost_peer();
    if (lost >= 0) return fail_lost(rank, lost);
    Opening *const context = &opening;
    const sennit_status status = wait_until(rank, deadline, LostSearch{find_lost_peer, &context},
                                            [&opening] { return opening.step(); });
    if (status == SENNIT_ERR_TIMEOUT) return opening.fail_late();
    return status != SENNIT_OK ? status : opening.status();
}

}  // namespace

sennit_status open_all(Rank &rank, const ChannelArgs *args_of_all, std::size_t count,
                       unsigned flags, const Deadline &deadline, Channel **opened) {
    Item *items = new (std::nothrow) Item[count];
    if (items == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the targets");
    Opening opening(rank, flags, items, count);
    sennit_status status = opening.prepare(args_of_all);
    if (status == SENNIT_OK) status = meet_all(rank, opening, deadline);
    if (status != SENNIT_OK) status = opening.give_up(status);
    for (std::size_t i = 0; status == SENNIT_OK && i < count; ++i) {
        opened[i] = items[i].channel;
        publish(rank, *opened[i]);
    }
    delete[] items;
    return status;
}

}  // namespace sennit::channel
