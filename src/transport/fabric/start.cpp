// SPDX-License-Identifier: BSD-3-Clause
// Opens the rails, exposes memory to peers, and ends the path.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"
#include "base/zero_pages.hpp"
#include "bootstrap/descriptor_limit.hpp"
#include "runtime/detector.hpp"
#include "runtime/watch/watch.hpp"
#include "transport/fabric/fabric.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::size_t kMostReceives = 32;
// The most receives on sockets, where bodies are long. Sockets keep further messages, and few
// receives use few cache lines: with 32 receives a message of 16 KiB takes 5 % longer.
constexpr std::size_t kMostLongReceives = 8;
// How long a closing rank serves others that have not said goodbye.
constexpr std::int64_t kLingerNs = 1'000'000'000;

}  // namespace

Network::~Network() {
    for (const int peer : links_.used()) {
        end_probe(links_[peer]);
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            forget_keys(link_of(peer, rail), rail);
            link_of(peer, rail).keys.free_memory();
        }
    }
    for (RailState &state : rails_) {
        state.rail.close();
        std::free(state.registrations);
    }
    std::free(exposed_);
    std::free(posts_);
    std::free(copies_);
    free_messages();
    free_zero_pages(trials_, trial_bytes());
    if (peer_rails_ != nullptr) free_zero_pages(peer_rails_, size_of(*rank_) * sizeof *peer_rails_);
    (void)pthread_mutex_destroy(&lock_);
}

const Traits &Network::traits() const {
    return traits_;
}

sennit_status Network::open_rails() {
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    const RailCard own = cards_.of(rank_->world_rank);
    for (unsigned rail = 0; rail < choice_.rails(); ++rail) {
        const sennit_status status =
            rails_[rail].rail.open(interfaces_, choice_.of(own, rail), size);
        if (status != SENNIT_OK) return status;
        traits_.max_piece_bytes = std::min(traits_.max_piece_bytes, rails_[rail].rail.most_bytes());
        const unsigned bits = std::min(settings_.events, rails_[rail].rail.data_bits());
        traits_.event_bits = rail == 0 ? bits : std::min(traits_.event_bits, bits);
        traits_.in_software = rails_[rail].rail.takes_descriptors();
        draw_tag(rail);
    }
    return make_pools();
}

// Raises the limit of descriptors: each rank may use all others on all rails.
void Network::make_room_for_connections() const {
    constexpr std::uint64_t kConnections = 4;  // messages and transfers, in each direction
    std::uint64_t others = 0;
    for (int peer = 0; peer < world_size(*rank_); ++peer)
        others += rank_->peers[peer].same_node && rank_->rail_share == 0 ? 0 : 1;
    if (rails_[0].rail.takes_descriptors())
        runtime::raise_descriptor_limit(kConnections * rail_count_ * others);
}

// Allocates the records of the rails, peers and transfers. Sets rail_count_.
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
    int nodes = 0;
    for (int peer = 0; peer < world_size(*rank_); ++peer)
        nodes = std::max(nodes, rank_->peers[peer].node + 1);
    node_count_ = static_cast<unsigned>(nodes);
    node_rails_ = Array<NodeRails>(node_count_);
    peer_rails_ = static_cast<PeerRails *>(zero_pages(size * sizeof *peer_rails_));
    posts_ = static_cast<Posted *>(std::malloc(post_count_ * sizeof(Posted)));
    exposed_ = static_cast<Exposed *>(std::calloc(kPlaces, sizeof(Exposed)));
    if (!has_memory || node_rails_ == nullptr || peer_rails_ == nullptr || posts_ == nullptr ||
        exposed_ == nullptr || !links_.open(size) || !rail_links_.open(size * rails))
        return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (std::size_t i = 0; i < post_count_; ++i) {
        new (posts_ + i) Posted;
        give_back(posts_ + i);
    }
    traits_.rails = rail_count_ = rails;
    // Half a lease, but at least two seconds.
    overdue_after_checks_ = static_cast<std::uint16_t>(std::clamp<std::int64_t>(
        runtime::knobs().peer_timeout / 32 * 13 / kOutageCheckNs, 8, 4000));
    // Half the timeout, but at most two seconds.
    mute_after_checks_ = static_cast<std::uint8_t>(
        std::clamp<std::int64_t>(runtime::knobs().peer_timeout / 2 / kOutageCheckNs, 2, 8));
    return make_copies();
}

// Succeeds without a rail; then reach() reports the reason.
sennit_status Network::open(Rank &rank, const char *settings, const EventSink &sink) {
    rank_ = &rank;
    sink_ = sink;
    sennit_status status = read_settings(settings, &settings_);
    if (status == SENNIT_OK)
        status = read_progress_settings(runtime::knobs().progress.text, &progress_);
    if (status != SENNIT_OK) return status;
    traits_.event_index_bits = settings_.index;
    choose_processors(&progress_);
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
    longest_payload_ = interfaces_.payload_bytes();
    traits_.eager_bytes = std::min<std::size_t>(settings_.eager, longest_payload_ - kEventBytes);
    traits_.payload_bytes =
        std::min(kEventBytes + std::max(settings_.eager, settings_.packed), longest_payload_);
    sennit_rail first{};
    interfaces_.describe(0, &first);
    log(SENNIT_LOG_INFO, "the path fabric takes the provider %s, the first interface is %s",
        first.provider, first.interface_name);
    return watch::watch_open(rank, &watch_port_);
}

// Posts receives up to the wanted number. If `may_wait`, does nothing while at least half are
// posted.
void Network::post_receives(unsigned rail, bool may_wait) {
    RailState &state = rails_[rail];
    const bool has_way_back = state.rail.port_to_send_from() != 0;
    const std::size_t least =
        has_way_back ? std::min(state.receives, state.receives_back) : state.receives;
    if (may_wait && 2 * least >= state.receives_wanted) return;
    while (state.receives < state.receives_wanted && post_receive(rail, false))
        ++state.receives;
    if (!has_way_back) return;
    while (state.receives_back < state.receives_wanted && post_receive(rail, true))
        ++state.receives_back;
}

bool Network::post_receive(unsigned rail, bool is_back) {
    Message *message = take_message();
    if (message == nullptr) return false;
    message->kind = Posted::Kind::receive;
    message->rail = static_cast<std::uint8_t>(rail);
    message->is_in_flight = true;
    message->is_back = is_back;
    const iovec room{&message->header, sizeof message->header + body_bytes()};
    Rail &own = rails_[rail].rail;
    const Rail::Use at = is_back ? Rail::Use::send : Rail::Use::receive;
    if (own.receive(at, room, message->pool->received[rail].descriptor(), &message->context) == 0)
        return true;
    give_back(message);
    return false;
}

sennit_status Network::connect(const Address *addresses, const Deadline &deadline) {
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    start_limit_ = deadline;
    const CardList cards{addresses, sizeof(Address), size};
    if (!cards_.fill(cards)) return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    if (missing_.code != Reason{}.code) return SENNIT_OK;
    choice_.make(cards);
    if (!choice_.takes_part(cards_.of(rank_->world_rank))) {
        missing_ = Reason{Reason::Code::other_provider};
        log(SENNIT_LOG_WARNING,
            "no network: ranks of other nodes have another provider of libfabric than this one");
        return SENNIT_OK;
    }
    sennit_status status = open_rails();
    if (status == SENNIT_OK) make_room_for_connections();
    if (status == SENNIT_OK) status = expose_control();
    // If the provider chooses names, ranks exchange them first, and read_more() calls start().
    if (status == SENNIT_OK && interfaces_.name_bytes() == 0) status = start();
    return status;
}

sennit_status Network::start() {
    node_room_.publish(*rank_, {&cards_.places(), &named_cards_.places(), &names_});
    watch::watch_set_hosts(*rank_, watch_host_of, this);
    rank_->segment_watch = SegmentWatch{expose, withdraw, this};
    sennit_status status = SENNIT_OK;
    if (is_speaker()) status = expose_trials();
    if (status != SENNIT_OK) return status;
    {
        const MutexLock guard(lock_);
        const std::size_t most =
            longest_payload_ > kShortPayloadBytes ? kMostLongReceives : kMostReceives;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            rails_[rail].receives_wanted = std::min(rails_[rail].rail.receives(), most);
            post_receives(rail, false);
        }
    }
    status = join_thread(*this);
    if (status == SENNIT_OK) rank_->progress_bell.descriptor = thread_bell();
    return status;
}

sennit_status Network::attach(int, const SegmentRecord &record, RemoteMemory *out) {
    // relaxed: the record is the caller's copy.
    const std::uint32_t live = record.live.load(std::memory_order_relaxed);
    *out = RemoteMemory{nullptr, handle_of(record.owner_slot, live)};
    return SENNIT_OK;
}

void Network::detach(int, const RemoteMemory &) {}

std::uint64_t Network::rails_to(int peer) const {
    return usable(peer);
}

sennit_status Network::expose_at(std::size_t place, const Exposed &memory) {
    exposed_[place] = memory;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        RailState &state = rails_[rail];
        const sennit_status status =
            state.rail.expose({memory.memory, memory.bytes}, key_of(memory.handle, state.tag),
                              &state.registrations[place]);
        // If the rail has no passive endpoint now, expose_again() registers the memory later.
        if (status == SENNIT_OK || !state.rail.has_passive()) continue;
        withdraw_from(place);
        exposed_[place] = Exposed{};
        return status;
    }
    return SENNIT_OK;
}

// Exposes the control block. If keys are computed, exposes it as a whole, since such providers do
// not check whether the memory is mapped. If the provider chooses keys, exposes the first and the
// last piece now, and the piece of a chunk when a peer asks for it.
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

// Registers all exposed memory that is not registered, after a passive endpoint was opened again. A
// failure is retried. Until then transfers to the memory fail, and are repeated a limited number of
// times.
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

// expose() and withdraw() are a SegmentWatch: the rank calls them when it makes or frees a segment,
// with its cold mutex held.
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
    // The record is no longer live, so later tasks do not find it. Tasks run with the lock held, so
    // none uses the memory now.
    const MutexLock guard(self.lock_);
    self.withdraw_from(record.owner_slot);
    self.exposed_[record.owner_slot] = Exposed{};
}

void Network::stop_thread() {
    leave_thread(*this);
    rank_->progress_bell.descriptor = -1;
}

// Says goodbye, once, to a peer with which messages were exchanged. Returns true if the peer has
// said goodbye, or none is expected. Called with the lock held.
bool Network::send_goodbye_to(int peer) {
    PeerLink &link = links_[peer];
    if (!link.is_contacted || known_gone(*rank_, peer) == Gone::died) return true;
    Message *const message = link.sent_goodbye ? nullptr : take_message();
    link.sent_goodbye = true;
    if (message != nullptr) {
        fill_header(message, peer, rail_to_use(peer, static_cast<unsigned>(peer) % rail_count_),
                    MessageKind::goodbye);
        send_or_queue(message);
    }
    return link.received_goodbye;
}

// Serves peers until they have said goodbye too, because they may wait for the completion of their
// last puts. Serves them for a limited time.
void Network::exchange_goodbyes(const Deadline &deadline) {
    const Deadline limit = Deadline::after(kLingerNs);
    bool all = true;
    // Run once even without time left: without a goodbye, peers would take this rank for dead.
    do {
        PostedList done;
        {
            const MutexLock guard(lock_);
            all = true;
            send_due(INT64_MAX);
            for (const int peer : links_.used())
                all = send_goodbye_to(peer) && all;
            poll_rails();
            done = done_.take_all();
            all = all && outbox_.empty();
        }
        while (Posted *posted = done.take())
            (void)process_completed(posted);
        (void)finish_postponed();
        if (!all) (void)sched_yield();
    } while (!all && !deadline.over() && !limit.over());
}

void Network::close(const Deadline &deadline) {
    stop_thread();
    rank_->segment_watch = SegmentWatch{};
    if (rail_count_ != 0) exchange_goodbyes(deadline);
    {
        const MutexLock guard(lock_);
        if (rail_count_ != 0) end_all();
    }
    for (std::size_t place = 0; place < kPlaces; ++place)
        withdraw_from(place);
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        (void)end_transfers(rail);
    for (RailState &state : rails_)
        state.rail.close();
    interfaces_.close();
    watched_.close();
    // Nothing moves any more, so the operations may end.
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
