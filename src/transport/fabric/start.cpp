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
// How long a rank that ends serves others that have not finished.
constexpr std::int64_t kLingerNs = 1'000'000'000;

void pause(std::int64_t ns) {
    const timespec length{0, static_cast<long>(ns)};
    (void)nanosleep(&length, nullptr);
}

bool copy_word(const char *from, std::size_t bytes, char *to, std::size_t room) {
    if (bytes >= room) return false;
    std::memcpy(to, from, bytes);
    to[bytes] = '\0';
    return true;
}

// The place of an address in the card; libfabric may offer one in several ways, of which the first
// is taken.
unsigned nth_address(const RailCard &card, unsigned number) {
    for (unsigned i = 0; i < card.interfaces; ++i) {
        const std::uint32_t *const end = card.addresses + i;
        if (std::find(card.addresses, end, card.addresses[i]) == end && number-- == 0) return i;
    }
    return card.interfaces;
}

}  // namespace

Network::~Network() {
    std::free(links_);
    std::free(exposed_);
    std::free(posts_);
    while (last_message_ != nullptr) {
        Message *const message = last_message_;
        last_message_ = message->made_before;
        delete message;
    }
    (void)pthread_mutex_destroy(&lock_);
}

const Traits &Network::traits() const {
    // Not ordered: what failed is repeated behind what came after it.
    static constexpr Traits kTraits{.name = "fabric",
                                    .path = SENNIT_PATH_FABRIC,
                                    .load_store = false,
                                    .ordered = false,
                                    .rails = 1,
                                    .event_bits = 0,
                                    .max_piece_bytes = std::size_t{1} << 20,
                                    .private_memory = true,
                                    .task_bytes = kMostTaskBytes};
    return kTraits;
}

// "provider=NAME;host=ADDRESS;interface=NAME", in any order.
sennit_status Network::read_settings(const char *text) {
    for (const char *word = text; *word != '\0';) {
        const std::size_t length = std::strcspn(word, ";");
        bool good = false;
        if (std::strncmp(word, "provider=", 9) == 0)
            good = copy_word(word + 9, length - 9, settings_.provider, sizeof settings_.provider);
        if (std::strncmp(word, "host=", 5) == 0)
            good = copy_word(word + 5, length - 5, settings_.host, sizeof settings_.host);
        if (std::strncmp(word, "interface=", 10) == 0)
            good =
                copy_word(word + 10, length - 10, settings_.interface, sizeof settings_.interface);
        if (!good)
            return fail(
                SENNIT_ERR_ARG,
                "the path fabric has no setting '%.*s'; there are provider, host and interface",
                static_cast<int>(length), word);
        word += length;
        if (*word == ';') ++word;
    }
    // A layered provider has a semicolon in its name.
    for (char &letter : settings_.provider)
        if (letter == '+') letter = ';';
    return SENNIT_OK;
}

sennit_status Network::make_pools() {
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    post_count_ = rail_.depth();
    auto *links = static_cast<PeerLink *>(std::malloc(size * sizeof(PeerLink)));
    auto *posts = static_cast<Posted *>(std::malloc(post_count_ * sizeof(Posted)));
    links_ = links;
    posts_ = posts;
    exposed_ = static_cast<Exposed *>(std::calloc(kSegmentsPerTeam + 1, sizeof(Exposed)));
    if (links == nullptr || posts == nullptr || exposed_ == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (std::size_t peer = 0; peer < size; ++peer)
        new (links + peer) PeerLink;
    for (std::size_t i = 0; i < post_count_; ++i) {
        new (posts + i) Posted;
        give_back(posts + i);
    }
    return SENNIT_OK;
}

// Where there is no rail, the path is of no use, and reach() says why.
sennit_status Network::open(Rank &rank, const char *settings, const EventSink &sink) {
    rank_ = &rank;
    sink_ = sink;
    sennit_status status = read_settings(settings);
    if (status == SENNIT_OK)
        status = read_progress_settings(runtime::knobs().progress.text, &progress_);
    if (status != SENNIT_OK) return status;
    const Library *library = nullptr;
    status = library_open(&library);
    if (status == SENNIT_OK) status = rail_.find(*library, settings_);
    if (status != SENNIT_OK) {
        log(SENNIT_LOG_WARNING, "no network: %s", thread_error()->text);
        missing_ = Reason{Reason::Code::no_rail};
        return SENNIT_OK;
    }
    draw_tag();
    status = watch::watch_open(rank, &watch_port_);
    return status == SENNIT_OK ? make_pools() : status;
}

// A rank that has no rail has no watch either, and is watched by those that have one.
sennit_status Network::meet_watches() {
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    auto *hosts = static_cast<watch::Host *>(std::calloc(size, sizeof(watch::Host)));
    if (hosts == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    for (std::size_t peer = 0; peer < size; ++peer) {
        const RailCard card = card_of(addresses_[peer]);
        if (card.interfaces != 0) hosts[peer] = {card.addresses[choice_.of(card)], card.watch_port};
    }
    const sennit_status status = watch::watch_meet(*rank_, hosts);
    std::free(hosts);
    return status;
}

void Network::address(Address *out) {
    RailCard card{};
    if (missing_.code == Reason{}.code) rail_.describe(&card);
    card.watch_port = watch_port_;
    std::memcpy(out->bytes, &card, sizeof card);
}

void Network::post_receives() {
    const std::size_t wanted = rail_.receives() < kMostReceives ? rail_.receives() : kMostReceives;
    while (receives_posted_ < wanted) {
        Message *message = take_message();
        if (message == nullptr) return;
        message->kind = Posted::Kind::receive;
        if (rail_.receive(&message->header, sizeof message->header + sizeof message->body,
                          &message->context) != 0)
            return give_back(message);
        ++receives_posted_;
    }
}

sennit_status Network::connect(const Address *addresses, const Deadline &deadline) {
    addresses_ = addresses;
    start_limit_ = deadline;
    unreached_limit_ns_ = kFirstUnreachedNs;
    if (missing_.code != Reason{}.code) return SENNIT_OK;
    const auto size = static_cast<std::size_t>(world_size(*rank_));
    choice_.make(addresses, size);
    sennit_status status = rail_.open(choice_.of(card_of(addresses[rank_->world_rank])), size);
    if (status == SENNIT_OK)
        status = expose_at(
            kSegmentsPerTeam,
            Exposed{nullptr, rank_->control, rank_->control->header.control_bytes, kControlHandle});
    if (status == SENNIT_OK) status = meet_watches();
    if (status != SENNIT_OK) return status;
    rank_->segment_watch = SegmentWatch{expose, withdraw, this};
    {
        const MutexLock guard(lock_);
        post_receives();
    }
    status = join_thread(*this);
    if (status == SENNIT_OK) rank_->progress_bell.descriptor = thread_bell();
    return status;
}

// The peer's address enters the table with the first use. With the lock held.
sennit_status Network::link(int peer) {
    PeerLink &link = links_[peer];
    if (link.messages != FI_ADDR_UNSPEC) return SENNIT_OK;
    const RailCard card = card_of(addresses_[peer]);
    return rail_.insert(card, choice_.of(card), &link.messages);
}

// A peer is in reach if its control block can really be read. It is at this step of start-up too,
// and its thread answers.
Reason Network::reach(int peer) {
    if (rank_->peers[peer].same_node) return Reason{Reason::Code::same_node};
    if (!rail_.is_open()) return missing_;
    if (card_of(addresses_[peer]).interfaces == 0) return Reason{Reason::Code::peer_refused};
    PeerLink &there = links_[peer];
    Trial *trial = make_trial(peer);
    if (trial == nullptr) return Reason{Reason::Code::transport_failed, FI_ENOMEM};
    bool is_open = false;
    while (!there.probed) {
        if (!is_open) is_open = submit(&trial->operation) == Submit::accepted;
        PostedList done;
        bool silent = false;
        bool fails = false;
        int failed_by = 0;
        {
            const MutexLock guard(lock_);
            poll_rail();
            done = done_.take_all();
            silent = is_silent(there, now_ns());
            fails = there.failing_since_ns != 0;
            failed_by = there.failed_by;
        }
        // Before the engine is there nothing else can be over.
        while (Posted *posted = done.take())
            (void)work_off(posted);
        if (trial->over) {
            const MutexLock guard(lock_);
            there.probed = trial->status == SENNIT_OK;
            trial->over = is_open = false;
        } else if (silent || start_limit_.over()) {
            trial->abandoned = true;
            if (!is_open) delete trial;
            if (!silent) return Reason{Reason::Code::no_answer, FI_ETIMEDOUT};
            unreached_limit_ns_ = kNextUnreachedNs;
            log(SENNIT_LOG_WARNING,
                "rank %d does not answer by the network and counts as out of reach", peer);
            return Reason{Reason::Code::no_answer, failed_by};
        }
        if (there.probed) break;
        // What fails is tried again every 20 ms and more.
        if (fails) pause(kTrialPauseNs);
        (void)sched_yield();
    }
    delete trial;
    rank_->peers[peer].control_handle = kControlHandle;
    return Reason{Reason::Code::taken};
}

// A read of the peer's header. Null: no memory.
Network::Trial *Network::make_trial(int peer) {
    auto *trial = new (std::nothrow) Trial;
    if (trial == nullptr) return nullptr;
    trial->operation.kind = Operation::Kind::get;
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
bool Network::is_silent(const PeerLink &link, std::int64_t now) const {
    const auto is_long = [&](std::int64_t since) {
        return since != 0 && now - since > unreached_limit_ns_;
    };
    return is_long(link.failing_since_ns) || is_long(link.again_since_ns) ||
           is_long(link.unsent_since_ns);
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

// What connect() and reach() have settled, so without the lock.
bool Network::describe_rail(int peer, unsigned number, sennit_rail *out) {
    if (addresses_ == nullptr || missing_.code != Reason{}.code) return false;
    const RailCard mine = card_of(addresses_[rank_->world_rank]);
    const RailCard theirs = card_of(addresses_[peer]);
    const unsigned index = nth_address(mine, number);
    if (index >= mine.interfaces) return false;
    *out = sennit_rail{};
    rail_.describe(index, out);
    const unsigned chosen = choice_.of(mine);
    const char *reason = "the peer has answered by it";
    if (choice_.is_trap(mine, index))
        reason = "another machine has the same address there, as bridges of containers have";
    else if (index != chosen)
        reason = "one that all ranks have comes before it, or this one is not on all nodes";
    else if (rank_->peers[peer].same_node)
        reason = "the peer is on this node";
    else if (theirs.interfaces == 0)
        reason = "the peer has no rail";
    else if (!links_[peer].probed)
        reason = "the peer does not answer by it";
    else
        out->is_used = 1;
    (void)std::snprintf(out->reason, sizeof out->reason, "%s", reason);
    out->number = out->is_used - 1;
    if (out->is_used == 0) return true;
    (void)inet_ntop(AF_INET, &theirs.addresses[choice_.of(theirs)], out->peer_address,
                    sizeof out->peer_address);
    return true;
}

sennit_status Network::expose_at(std::size_t place, const Exposed &memory) {
    Exposed &exposed = exposed_[place];
    exposed = memory;
    const sennit_status status = rail_.expose(memory.memory, memory.bytes,
                                              key_of(memory.handle, tag_), &exposed.registration);
    if (status != SENNIT_OK) exposed = Exposed{};
    return status;
}

// Makes the keys of all memory that has none, after the passive endpoint was opened again. What
// fails is tried again at each look; until then transfers to that memory fail and are repeated, at
// most kMostAttempts times.
void Network::expose_again() {
    some_are_hidden_ = false;
    for (std::size_t place = 0; place <= kSegmentsPerTeam; ++place) {
        Exposed &exposed = exposed_[place];
        if (exposed.memory == nullptr || exposed.registration != nullptr) continue;
        if (rail_.expose(exposed.memory, exposed.bytes, key_of(exposed.handle, tag_),
                         &exposed.registration) != SENNIT_OK)
            some_are_hidden_ = true;
    }
}

void Network::withdraw_from(std::size_t place) {
    Exposed &exposed = exposed_[place];
    if (exposed.registration != nullptr) (void)fi_close(&exposed.registration->fid);
    exposed.registration = nullptr;
}

// A SegmentWatch: this rank's segments as they come and go, under the rank's cold mutex.
sennit_status Network::expose(void *network, const SegmentRecord &record, std::uint32_t live) {
    auto &self = *static_cast<Network *>(network);
    if (record.bytes == 0) return SENNIT_OK;
    const MutexLock guard(self.lock_);
    return self.expose_at(record.owner_slot,
                          Exposed{nullptr, reinterpret_cast<void *>(record.owner_address),
                                  record.bytes, handle_of(record.owner_slot, live)});
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
        // relaxed: the word stands alone.
        if (!links_[peer].probed || rank_->peers[peer].gone.load(std::memory_order_relaxed) != 0)
            continue;
        Message *message = take_message();
        if (message == nullptr) return;
        fill_header(message, peer, MessageKind::goodbye);
        outbox_.append(message);
    }
    const Deadline limit = Deadline::after(kLingerNs);
    while (!deadline.over() && !limit.over()) {
        PostedList done;
        bool all = true;
        {
            const MutexLock guard(lock_);
            poll_rail();
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
    if (rail_.is_open() && links_ != nullptr && addresses_ != nullptr) say_goodbye(deadline);
    {
        const MutexLock guard(lock_);
        for (std::size_t i = 0; i < post_count_ && posts_ != nullptr; ++i)
            if (posts_[i].is_out) end_older(posts_[i].peer, UINT64_MAX);
    }
    for (std::size_t place = 0; exposed_ != nullptr && place <= kSegmentsPerTeam; ++place)
        withdraw_from(place);
    rail_.close();
    // Nothing moves any more, so the buffers may go back.
    for (std::size_t i = 0; i < post_count_ && posts_ != nullptr; ++i) {
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
