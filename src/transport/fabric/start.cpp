// Opening the rail, trying whether peers can be reached by it, and the end.
#include <arpa/inet.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/fabric.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::size_t kMostReceives = 128;
// Between trials of a peer that fails.
constexpr std::int64_t kTrialPauseNs = 1'000'000;
// For so long the first probes of a peer may fail, and of others after one that is out of reach.
constexpr std::int64_t kFirstUnreachedNs = 10'000'000'000;
constexpr std::int64_t kNextUnreachedNs = 1'000'000'000;
// The same on a rail that did not reach another peer, once another rail has reached this one.
constexpr std::int64_t kKnownUnreachedNs = 100'000'000;
// How long a rank that ends serves others that have not finished.
constexpr std::int64_t kLingerNs = 1'000'000'000;

void pause(std::int64_t ns) {
    const timespec length{0, static_cast<long>(ns)};
    (void)nanosleep(&length, nullptr);
}

}  // namespace

Network::~Network() {
    std::free(links_);
    const std::size_t links = static_cast<std::size_t>(rail_count_) *
                              (rail_count_ != 0 ? static_cast<std::size_t>(world_size(*rank_)) : 0);
    for (std::size_t i = 0; i < links; ++i) {
        forget_keys(rail_links_[i], static_cast<unsigned>(i % rail_count_));
        rail_links_[i].keys.free_memory();
    }
    std::free(rail_links_);
    for (RailState &state : rails_) {
        state.rail.close();
        std::free(state.registrations);
    }
    std::free(told_);
    std::free(exposed_);
    std::free(posts_);
    std::free(copies_);
    free_messages();
    (void)pthread_mutex_destroy(&lock_);
}

const Traits &Network::traits() const {
    return traits_;
}

sennit_status Network::open_rails() {
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    const RailCard own = card_of(addresses_[rank_->world_rank]);
    for (unsigned rail = 0; rail < choice_.rails(); ++rail) {
        const sennit_status status =
            rails_[rail].rail.open(interfaces_, choice_.of(own, rail), size);
        if (status != SENNIT_OK) return status;
        traits_.max_piece_bytes = std::min(traits_.max_piece_bytes, rails_[rail].rail.most_bytes());
        draw_tag(rail);
    }
    return make_pools();
}

// From here on there are rails.
sennit_status Network::make_pools() {
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    const unsigned rails = choice_.rails();
    bool has_memory = true;
    for (unsigned rail = 0; rail < rails; ++rail) {
        RailState &state = rails_[rail];
        post_count_ += state.rail.depth();
        state.registrations = static_cast<fid_mr **>(std::calloc(kPlaces, sizeof(fid_mr *)));
        has_memory = has_memory && state.registrations != nullptr;
    }
    links_ = static_cast<PeerLink *>(std::malloc(size * sizeof(PeerLink)));
    rail_links_ = static_cast<RailLink *>(std::malloc(size * rails * sizeof(RailLink)));
    posts_ = static_cast<Posted *>(std::malloc(post_count_ * sizeof(Posted)));
    exposed_ = static_cast<Exposed *>(std::calloc(kPlaces, sizeof(Exposed)));
    if (!has_memory || links_ == nullptr || rail_links_ == nullptr || posts_ == nullptr ||
        exposed_ == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (std::size_t peer = 0; peer < size; ++peer)
        new (links_ + peer) PeerLink;
    for (std::size_t i = 0; i < size * rails; ++i)
        new (rail_links_ + i) RailLink;
    for (std::size_t i = 0; i < post_count_; ++i) {
        new (posts_ + i) Posted;
        give_back(posts_ + i);
    }
    traits_.rails = rail_count_ = rails;
    // Half a lease, and at least two seconds.
    overdue_looks_ = static_cast<std::uint16_t>(
        std::clamp<std::int64_t>(runtime::knobs().peer_timeout / 32 * 13 / kOutageLookNs, 8, 4000));
    return make_copies();
}

// Where there is no rail, the path is of no use, and reach() says why.
sennit_status Network::open(Rank &rank, const char *settings, const EventSink &sink) {
    rank_ = &rank;
    sink_ = sink;
    sennit_status status = read_settings(settings, &settings_);
    if (status == SENNIT_OK)
        status = read_progress_settings(runtime::knobs().progress.text, &progress_);
    if (status != SENNIT_OK) return status;
    const Library *library = nullptr;
    status = library_open(&library);
    if (status == SENNIT_OK) status = interfaces_.find(*library, settings_);
    if (status == SENNIT_OK && interfaces_.name_bytes() != 0) {
        Settings by_ipv4;
        by_ipv4.needs_ipv4 = true;
        status = watched_.find(*library, by_ipv4);
    }
    if (status != SENNIT_OK) {
        log(SENNIT_LOG_WARNING, "no network: %s", thread_error()->text);
        missing_ = Reason{Reason::Code::no_rail};
        return SENNIT_OK;
    }
    sennit_rail first{};
    interfaces_.describe(0, &first);
    log(SENNIT_LOG_INFO, "the path fabric takes the provider %s, the first interface is %s",
        first.provider, first.interface_name);
    return watch::watch_open(rank, &watch_port_);
}

void Network::post_receives(unsigned rail) {
    RailState &state = rails_[rail];
    const std::size_t wanted = std::min(state.rail.receives(), kMostReceives);
    while (state.receives < wanted) {
        Message *message = take_message();
        if (message == nullptr) return;
        message->kind = Posted::Kind::receive;
        message->rail = static_cast<std::uint8_t>(rail);
        message->is_out = true;
        const iovec room{&message->header, sizeof message->header + sizeof message->body};
        if (state.rail.receive(room, message->pool->received[rail].descriptor(),
                               &message->context) != 0)
            return give_back(message);
        ++state.receives;
    }
}

sennit_status Network::connect(const Address *addresses, const Deadline &deadline) {
    addresses_ = addresses;
    start_limit_ = deadline;
    unreached_limit_ns_ = kFirstUnreachedNs;
    if (missing_.code != Reason{}.code) return SENNIT_OK;
    choice_.make(cards_of_all());
    if (!choice_.takes_part(card_of(addresses[rank_->world_rank]))) {
        missing_ = Reason{Reason::Code::other_provider};
        log(SENNIT_LOG_WARNING,
            "no network: ranks of other nodes have another provider of libfabric than this one");
        return SENNIT_OK;
    }
    sennit_status status = open_rails();
    if (status == SENNIT_OK) status = expose_control();
    // Peers may be found now, unless names are told first.
    if (status == SENNIT_OK && interfaces_.name_bytes() == 0) status = start();
    return status;
}

sennit_status Network::start() {
    sennit_status status = meet_watches();
    if (status != SENNIT_OK) return status;
    rank_->segment_watch = SegmentWatch{expose, withdraw, this};
    {
        const MutexLock guard(lock_);
        for (unsigned rail = 0; rail < rail_count_; ++rail)
            post_receives(rail);
    }
    status = join_thread(*this);
    if (status == SENNIT_OK) rank_->progress_bell.descriptor = thread_bell();
    return status;
}

// A peer is in reach if its control block can really be read. It is at this step of start-up too,
// and its thread answers.
Reason Network::reach(int peer) {
    if (rank_->peers[peer].same_node) return Reason{Reason::Code::same_node};
    if (rail_count_ == 0) return missing_;
    const Reason lack = lack_of(peer);
    if (lack.code != Reason::Code::taken) return lack;
    if (!links_[peer].probed) try_rails(peer);
    if (!links_[peer].probed) {
        const int code = link_of(peer, 0).failed_by;
        return Reason{Reason::Code::no_answer, code != 0 ? code : FI_ETIMEDOUT};
    }
    rank_->peers[peer].control_handle = kControlHandle;
    return Reason{Reason::Code::taken};
}

// The trial of one rail to a peer.
struct Network::RailTrial {
    Trial *trial = nullptr;
    bool is_open = false;  // submitted
    bool is_decided = false;
    std::int64_t started_ns = now_ns();
};

// All rails at a time: one that carries nothing costs a second more, and later ones less.
void Network::try_rails(int peer) {
    RailTrial trials[kMostRails];
    std::int64_t first_taken_ns = 0;
    for (bool all = false; !all;) {
        bool fails = false;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            RailTrial &there = trials[rail];
            if (there.is_decided || there.is_open) continue;
            if (there.trial == nullptr) there.trial = make_trial(peer, rail);
            there.is_open =
                there.trial != nullptr && submit(&there.trial->operation) == Submit::accepted;
        }
        PostedList done;
        {
            const MutexLock guard(lock_);
            poll_rails();
            done = done_.take_all();
        }
        // Before the engine is there nothing else can be over.
        while (Posted *posted = done.take())
            (void)work_off(posted);
        const MutexLock guard(lock_);
        all = true;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            if (!trials[rail].is_decided)
                trials[rail].is_decided = look_at_trial(peer, rail, &trials[rail], first_taken_ns);
            all = all && trials[rail].is_decided;
            fails = fails || link_of(peer, rail).failing_since_ns != 0;
        }
        if (first_taken_ns == 0 && usable(peer) != 0) first_taken_ns = now_ns();
        // What fails is tried again every 20 ms and more.
        if (!all && fails) pause(kTrialPauseNs);
        if (!all) (void)sched_yield();
    }
    end_trials(peer, trials);
}

// Is it decided whether the rail is taken? With the lock held.
bool Network::look_at_trial(int peer, unsigned rail, RailTrial *trial,
                            std::int64_t first_taken_ns) {
    Trial *const made = trial->trial;
    if (made == nullptr) return true;
    // One that was left out meanwhile, as the peer has told, may have gone by another rail.
    if (made->over && made->status == SENNIT_OK && !link_of(peer, rail).is_out) {
        links_[peer].usable.fetch_or(static_cast<std::uint8_t>(1u << rail),
                                     std::memory_order_relaxed);  // relaxed: it stands alone
        return true;
    }
    if (made->over) made->over = trial->is_open = false;
    const std::int64_t now = now_ns();
    const std::int64_t limit = rails_[rail].was_out_of_reach ? kKnownUnreachedNs : kNextUnreachedNs;
    // Also of one that makes a connection and then says nothing, as a process that was stopped.
    return is_silent(link_of(peer, rail), now) || start_limit_.over() ||
           now - trial->started_ns > 2 * unreached_limit_ns_ ||
           (first_taken_ns != 0 && now - first_taken_ns > limit);
}

void Network::end_trials(int peer, RailTrial trials[]) {
    const MutexLock guard(lock_);
    const std::uint8_t taken = usable(peer);
    links_[peer].probed = taken != 0;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        Trial *const trial = trials[rail].trial;
        const bool is_taken = (taken >> rail & 1) != 0;
        if (trial != nullptr && trials[rail].is_open && !trial->over)
            trial->abandoned = true;
        else
            delete trial;
        if (is_taken) continue;
        rails_[rail].was_out_of_reach = true;
        if (taken != 0) leave_out(peer, rail);
    }
    if (taken != 0) return;
    unreached_limit_ns_ = kNextUnreachedNs;
    log(SENNIT_LOG_WARNING,
        "rank %d does not answer by the network and counts as out of reach (provider %s; "
        "fabric:provider= names another one)",
        peer, interfaces_.info(0)->fabric_attr->prov_name);
}

// A read of the peer's header. Null: no memory.
Network::Trial *Network::make_trial(int peer, unsigned rail) {
    auto *trial = new (std::nothrow) Trial;
    if (trial == nullptr) return nullptr;
    trial->operation.kind = Operation::Kind::get;
    trial->operation.rail = static_cast<std::uint8_t>(rail);
    trial->operation.peer = peer;
    trial->operation.remote.handle = kControlHandle;
    trial->operation.local = trial->header;
    trial->operation.bytes = sizeof trial->header;
    trial->operation.completed = [](Operation *operation, sennit_status status) {
        auto *ended = reinterpret_cast<Trial *>(operation);  // its first member
        ended->status = status;
        ended->over = true;
        if (ended->abandoned) delete ended;
    };
    return trial;
}

// Has the peer not been reached for so long that it counts as out of reach? With the lock held.
bool Network::is_silent(const RailLink &link, std::int64_t now) const {
    const std::int64_t failing =
        link.failing_since_ns != 0 ? now - link.failing_since_ns : std::int64_t{0};
    return std::max({failing, link.again.length(now), link.unsent.length(now)}) >
           unreached_limit_ns_;
}

void Network::forget(int peer) {
    rank_->peers[peer].control_handle = 0;
}

sennit_status Network::attach(int, const SegmentRecord &record, RemoteMemory *out) {
    // relaxed: the caller's own copy of the record.
    const std::uint32_t live = record.live.load(std::memory_order_relaxed);
    *out = RemoteMemory{nullptr, handle_of(record.owner_slot, live)};
    return SENNIT_OK;
}

void Network::detach(int, const RemoteMemory &) {}

std::uint64_t Network::rails_to(int peer) const {
    return usable(peer);
}

void Network::describe_trouble(int peer, char *text, std::size_t bytes) {
    const MutexLock guard(lock_);
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        if (!carries_nothing(link_of(peer, rail))) continue;
        sennit_rail own{};
        interfaces_.describe(choice_.of(card_of(addresses_[rank_->world_rank]), rail), &own);
        (void)std::snprintf(text, bytes, "rail %u (%s) carries no data to it, though messages come",
                            rail, own.interface_name);
        return;
    }
}

bool Network::describe_rail(int peer, unsigned number, sennit_rail *out) {
    if (rail_count_ == 0) return false;
    const RailCard mine = card_of(addresses_[rank_->world_rank]);
    const RailCard theirs = card_of(addresses_[peer]);
    if (number >= mine.interfaces) return false;
    *out = sennit_rail{};
    interfaces_.describe(number, out);
    unsigned rail = 0;
    while (rail < rail_count_ && choice_.of(mine, rail) != number)
        ++rail;
    const char *reason = "the peer has answered by it";
    if (choice_.is_trap(mine, number))
        reason = "another machine has the same address there, as bridges of containers have";
    else if (rail == rail_count_)
        reason = "it is not on all nodes, is slower than others, or no more are wanted";
    else if (rank_->peers[peer].same_node)
        reason = "the peer is on this node";
    else if (lack_of(peer).code != Reason::Code::taken)
        reason = "the peer has no rail like it";
    else if ((usable(peer) >> rail & 1) == 0)
        reason = "the peer does not answer by it";
    else
        out->is_used = 1;
    (void)std::snprintf(out->reason, sizeof out->reason, "%s", reason);
    out->number = out->is_used != 0 ? static_cast<int>(rail) : -1;
    if (out->is_used == 0) return true;
    if (told_ != nullptr) {
        const Rail &used = rails_[rail].rail;
        used.print(told_name(rank_->world_rank, rail), out->address, sizeof out->address);
        used.print(told_name(peer, rail), out->peer_address, sizeof out->peer_address);
        return true;
    }
    (void)inet_ntop(AF_INET, &theirs.addresses[choice_.of(theirs, rail)], out->peer_address,
                    sizeof out->peer_address);
    return true;
}

sennit_status Network::expose_at(std::size_t place, const Exposed &memory) {
    exposed_[place] = memory;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        RailState &state = rails_[rail];
        const sennit_status status =
            state.rail.expose({memory.memory, memory.bytes}, key_of(memory.handle, state.tag),
                              &state.registrations[place]);
        // Without an endpoint for now, as with all that was exposed before.
        if (status == SENNIT_OK || !state.rail.has_passive()) continue;
        withdraw_from(place);
        exposed_[place] = Exposed{};
        return status;
    }
    return SENNIT_OK;
}

// As a whole where its keys are chosen here: providers that let us do that do not look at what is
// mapped. Else in pieces; those of chunks follow when a peer asks for them.
sennit_status Network::expose_control() {
    const std::uint64_t bytes = rank_->control->header.control_bytes;
    if (!rails_[0].rail.gives_keys())
        return expose_at(kControlPlace, Exposed{rank_->control, bytes, kControlHandle});
    const sennit_status status = expose_piece(0);
    return status == SENNIT_OK ? expose_piece(kLastPiece) : status;
}

sennit_status Network::expose_piece(unsigned piece) {
    const std::uint64_t begin = control_piece_begin(piece);
    const std::uint64_t end =
        piece == kLastPiece ? rank_->control->header.control_bytes : control_piece_begin(piece + 1);
    return expose_at(kControlPlace + piece,
                     Exposed{reinterpret_cast<std::byte *>(rank_->control) + begin, end - begin,
                             control_handle(piece)});
}

// Makes the keys of all memory that has none, after a passive endpoint was opened again. What
// fails is tried again at each look; until then transfers to that memory fail and are repeated, at
// most kMostAttempts times.
void Network::expose_again() {
    some_are_hidden_ = false;
    for (std::size_t place = 0; place < kPlaces; ++place) {
        const Exposed &exposed = exposed_[place];
        if (exposed.memory == nullptr) continue;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            RailState &state = rails_[rail];
            if (state.registrations[place] == nullptr &&
                state.rail.expose({exposed.memory, exposed.bytes},
                                  key_of(exposed.handle, state.tag),
                                  &state.registrations[place]) != SENNIT_OK)
                some_are_hidden_ = true;
        }
    }
}

void Network::withdraw_from_rail(std::size_t place, unsigned rail) {
    drop_object(&rails_[rail].registrations[place], "memory that peers reach");
}

void Network::withdraw_from(std::size_t place) {
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        withdraw_from_rail(place, rail);
}

// A SegmentWatch: this rank's segments as they come and go, under the rank's cold mutex.
sennit_status Network::expose(void *network, const SegmentRecord &record, std::uint32_t live) {
    auto &self = *static_cast<Network *>(network);
    if (record.bytes == 0) return SENNIT_OK;
    const MutexLock guard(self.lock_);
    return self.expose_at(record.owner_slot,
                          Exposed{reinterpret_cast<void *>(record.owner_address), record.bytes,
                                  handle_of(record.owner_slot, live)});
}

void Network::withdraw(void *network, const SegmentRecord &record) {
    auto &self = *static_cast<Network *>(network);
    const MutexLock guard(self.lock_);
    self.withdraw_from(record.owner_slot);
    self.exposed_[record.owner_slot] = Exposed{};
}

void Network::stop_thread() {
    leave_thread(*this);
    rank_->progress_bell.descriptor = -1;
}

// Others may still wait for the acknowledgement of their last puts: this rank serves them until
// they have said goodbye too.
void Network::say_goodbye(const Deadline &deadline) {
    const int size = world_size(*rank_);
    for (int peer = 0; peer < size; ++peer) {
        const MutexLock guard(lock_);
        const PeerLink &link = links_[peer];
        // One that has said goodbye waits for this one's.
        // relaxed: the word stands alone.
        const bool gone = rank_->peers[peer].gone.load(std::memory_order_relaxed) != 0;
        if (!link.probed || (gone && !link.said_goodbye)) continue;
        Message *message = take_message();
        if (message == nullptr) return;
        fill_header(message, peer, way_to(peer, static_cast<unsigned>(peer) % rail_count_),
                    MessageKind::goodbye);
        outbox_.append(message);
    }
    const Deadline limit = Deadline::after(kLingerNs);
    // Also where there is no time left: nobody else would tell that this rank has not died.
    for (bool is_first = true; is_first || (!deadline.over() && !limit.over()); is_first = false) {
        PostedList done;
        bool all = true;
        {
            const MutexLock guard(lock_);
            poll_rails();
            done = done_.take_all();
        }
        while (Posted *posted = done.take())
            (void)work_off(posted);
        for (int peer = 0; peer < size; ++peer)
            // relaxed: the word stands alone.
            all = all && (!links_[peer].probed || links_[peer].said_goodbye ||
                          rank_->peers[peer].gone.load(std::memory_order_relaxed) != 0);
        if (all && outbox_.empty()) return;
        (void)sched_yield();
    }
}

void Network::close(const Deadline &deadline) {
    stop_thread();
    rank_->segment_watch = SegmentWatch{};
    if (rail_count_ != 0) say_goodbye(deadline);
    {
        const MutexLock guard(lock_);
        for (std::size_t i = 0; i < post_count_ && rail_count_ != 0; ++i)
            if (posts_[i].is_out) end_older(posts_[i].peer, posts_[i].rail, UINT64_MAX);
    }
    for (std::size_t place = 0; place < kPlaces; ++place)
        withdraw_from(place);
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        (void)end_transfers(rail);
    for (RailState &state : rails_)
        state.rail.close();
    interfaces_.close();
    watched_.close();
    // Nothing moves any more, so the buffers may go back.
    for (std::size_t i = 0; i < post_count_ && rail_count_ != 0; ++i) {
        Posted &posted = posts_[i];
        if (posted.kind != Posted::Kind::transfer) continue;
        Operation *operation = posted.operation;
        give_back(&posted);
        operation->completed(operation, SENNIT_ERR_PEER_LOST);
    }
    for (OpenTask &open : tasks_) {
        Operation *operation = open.operation;
        open.operation = nullptr;
        if (operation != nullptr) operation->completed(operation, SENNIT_ERR_PEER_LOST);
    }
}

}  // namespace sennit::transport::fabric

namespace sennit::transport {

Transport *make_fabric() {
    return new (std::nothrow) fabric::Network;
}

}  // namespace sennit::transport
