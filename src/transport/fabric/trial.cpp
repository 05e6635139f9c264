// SPDX-License-Identifier: BSD-3-Clause
// Tries the rails to other nodes at start. docs/design/fabric.md, "Start" and "The trial", has the
// reasons.
//
// The *speaker* of a node is its lowest rank with a rail. Speakers try each other by every rail for
// their nodes. A trial of a rail puts a random word and its complement, with completion data as
// wide as that of events, and reads them back by get. When the completion data of a word arrives,
// the owner stores the word a second time beside it.
#include <sys/random.h>

#include <algorithm>
#include <ctime>
#include <new>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/zero_pages.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

// The pauses between polls: while a trial fails, and otherwise. Yielding instead could keep other
// ranks, including the peer, from the processor for seconds: docs/design/waiting.md.
constexpr std::int64_t kTrialPauseNs = 1'000'000;
constexpr std::int64_t kPollPauseNs = 20'000;
// How long trials of a peer may fail. The second value counts if an earlier peer was out of reach,
// or if another rail has reached this peer.
constexpr std::int64_t kFirstUnreachedNs = 10'000'000'000;
constexpr std::int64_t kNextUnreachedNs = 1'000'000'000;
// The limit if another rail has reached this peer, and this rail did not reach an earlier peer.
constexpr std::int64_t kKnownUnreachedNs = 100'000'000;
// A rail is lossy if data of completed puts is missing for this long, in this many gets.
constexpr std::int64_t kLossyNs = 300'000'000;
constexpr unsigned kLossyMisses = 6;
constexpr std::int64_t kDataNs = 200'000'000;  // how long the data of an arrived put may be missing
constexpr std::int64_t kPutAgainNs = 25'000'000;  // pause between tries meanwhile

void pause(std::int64_t ns) {
    const timespec length{0, static_cast<long>(ns)};
    (void)nanosleep(&length, nullptr);
}

}  // namespace

// The trial of one rail to a peer. If abandoned, it exists until its operation completes.
struct Network::Trial {
    enum class Step : std::uint8_t { put, put_complement, get };

    Operation operation;
    bool over = false;
    bool abandoned = false;
    sennit_status status = SENNIT_OK;
    Step step = Step::put;
    bool with_data = false;
    unsigned tries = 0;  // number of tries with data
    unsigned place = 0;  // index of this try's places
    std::uint64_t word = 0;
    std::uint64_t put = 0;   // the word, or its complement
    std::uint64_t room = 0;  // offset of this rank's TrialRoom
    TrialRoom seen{};

    void set_step(Step next);
    // Starts a try at places that no put with data has used. If there are none left, continues
    // without data.
    void begin() {
        (void)getrandom(&word, sizeof word, 0);
        with_data = with_data && tries < TrialRoom::kTries;
        place = with_data ? tries++ : TrialRoom::kTries;
        set_step(Step::put);
    }
    // Whether both puts have arrived, and whether their completion data has arrived.
    bool has_arrived() const {
        return seen.places[place][0].put == word && seen.places[place][1].put == ~word;
    }
    bool has_data() const {
        return seen.places[place][0].confirmed == word && seen.places[place][1].confirmed == ~word;
    }
};

void Network::Trial::set_step(Step next) {
    step = next;
    operation.offset = room;
    if (next == Step::get) {
        operation.kind = Operation::Kind::get;
        operation.local = &seen;
        operation.bytes = sizeof seen;
        return;
    }
    const bool is_second = next == Step::put_complement;
    put = is_second ? ~word : word;
    operation.kind = with_data ? Operation::Kind::put_event : Operation::Kind::put;
    operation.event.low = put;
    operation.offset += (2 * place + (is_second ? 1 : 0)) * sizeof(TrialRoom::Place) +
                        offsetof(TrialRoom::Place, put);
    operation.local = &put;
    operation.bytes = sizeof put;
}

struct Network::RailTrial {
    Trial *trial = nullptr;
    bool is_open = false;  // an operation is submitted
    bool is_decided = false;
    std::int64_t started_ns = boot_ns();
    std::int64_t put_ns = 0;
    unsigned misses = 0;          // consecutive gets without the put words
    std::int64_t missing_ns = 0;  // time of the first of them
    std::int64_t found_ns = 0;    // time when the put words were first found
};

// ---- The target of trials.

sennit_status Network::expose_trials() {
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        rails_[rail].rail.expect_data(true);
    trials_ = static_cast<TrialRoom *>(zero_pages(trial_bytes()));
    if (trials_ == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the path fabric");
    return expose_at(kTrialPlace, Exposed{trials_, trial_bytes(), kTrialHandle});
}

// Reads memory that peers write. This is no race: a provider in software writes with the lock held,
// and a card has written before the completion.
bool Network::is_of_trial(unsigned rail, std::uint64_t data) const {
    for (unsigned node = 0; trials_ != nullptr && node < node_count_; ++node)
        if (trial_room(rail, static_cast<int>(node)).confirm(data, traits_.event_bits)) return true;
    return false;
}

// ---- The sender of trials.

// The speaker of the node whose lowest rank is `first`. -1: no rank of this node has a rail.
int Network::speaker_of(int first) const {
    for (int r = first; r < world_size(*rank_); ++r)
        if (rank_->peers[r].first_of_node == first && why_unusable(r).code == Reason::Code::taken)
            return r;
    return -1;
}

bool Network::is_speaker() const {
    return speaker_of(rank_->peers[rank_->world_rank].first_of_node) == rank_->world_rank;
}

NodeTrial Network::try_node(int first) {
    if (rail_count_ == 0 || !is_speaker()) return {};
    const int peer = speaker_of(first);
    if (peer < 0) return {};
    try_rails(peer);
    const MutexLock guard(lock_);
    NodeTrial found{usable(peer), 0, rails_to_node_of(peer).lossy};
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        const RailLink &link = link_of(peer, rail);
        if ((found.rails & bit(rail)) == 0)
            found.error = NodeTrial::short_error(link.failed_by);
        else if (link.data != RailLink::Data::arrives)
            found.dataless = static_cast<std::uint8_t>(found.dataless | bit(rail));
    }
    return found;
}

// Tries all rails to the peer at the same time, to limit the time that dead rails take. The peer's
// progress thread answers.
void Network::try_rails(int peer) {
    if (unreached_limit_ns_ == 0) unreached_limit_ns_ = kFirstUnreachedNs;
    RailTrial trials[kMostRails];
    std::int64_t first_taken_ns = 0;
    {
        const MutexLock guard(lock_);
        (void)use(peer);
    }
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
        // Only trials can complete: there is no engine yet.
        while (Posted *posted = done.take())
            (void)process_completed(posted);
        const MutexLock guard(lock_);
        all = true;
        for (unsigned rail = 0; rail < rail_count_; ++rail) {
            if (!trials[rail].is_decided)
                trials[rail].is_decided = check_trial(peer, rail, &trials[rail], first_taken_ns);
            all = all && trials[rail].is_decided;
            fails = fails || link_of(peer, rail).failing_since_ns != 0 ||
                    (!trials[rail].is_decided &&
                     (trials[rail].misses != 0 || trials[rail].found_ns != 0));
        }
        if (first_taken_ns == 0 && usable(peer) != 0) first_taken_ns = boot_ns();
        // Poll rarely: a failed trial is retried after at least 20 ms.
        if (!all) pause(fails ? kTrialPauseNs : kPollPauseNs);
    }
    end_trials(peer, trials);
}

// Returns whether the rail's trial is decided. With the lock held.
bool Network::check_trial(int peer, unsigned rail, RailTrial *trial, std::int64_t first_taken_ns) {
    if (trial->trial == nullptr) return true;
    if (trial->trial->over && advance_trial(peer, rail, trial)) return true;
    const RailLink &link = link_of(peer, rail);
    const std::int64_t now = boot_ns();
    const std::int64_t limit = rails_[rail].was_out_of_reach ? kKnownUnreachedNs : kNextUnreachedNs;
    // The limit also covers a peer that connects and then sends nothing, like a stopped process.
    const bool is_over = is_silent(link, now) || start_limit_.over() ||
                         now - trial->started_ns > 2 * unreached_limit_ns_ ||
                         (first_taken_ns != 0 && now - first_taken_ns > limit);
    // Lossy: the rail completes operations, but data does not arrive.
    if (trial->misses >= kLossyMisses && now - trial->missing_ns > kLossyNs) {
        std::uint8_t &lossy = rails_to_node_of(peer).lossy;
        lossy = static_cast<std::uint8_t>(lossy | bit(rail));
        log(SENNIT_LOG_WARNING, "rail %u is left out: puts to rank %d by it do not arrive", rail,
            peer);
    }
    return is_over || is_lossy(peer, rail);
}

// Called when the operation of a step has completed. True: the rail works. With the lock held.
bool Network::advance_trial(int peer, unsigned rail, RailTrial *state) {
    Trial &trial = *state->trial;
    RailLink &link = link_of(peer, rail);
    trial.over = state->is_open = false;
    // If the peer has reported meanwhile that the rail is left out, the operation may have used
    // another rail.
    if (link.is_left_out) return false;
    if (trial.status != SENNIT_OK) {
        // A provider that cannot put with data may put without. One failed try means nothing: its
        // connection may have broken.
        if (trial.status == SENNIT_ERR_UNSUPPORTED) trial.with_data = false;
        if (trial.status == SENNIT_ERR_UNSUPPORTED || trial.status == SENNIT_ERR_FABRIC)
            trial.begin();
        return false;
    }
    const std::int64_t now = boot_ns();
    if (trial.step != Trial::Step::get) {
        const bool is_first = trial.step == Trial::Step::put;
        trial.set_step(is_first ? Trial::Step::put_complement : Trial::Step::get);
        state->put_ns = now;
        return false;
    }
    if (!trial.has_arrived()) {
        if (state->misses++ == 0) state->missing_ns = now;
        trial.begin();
        return false;
    }
    state->misses = 0;
    if (state->found_ns == 0) state->found_ns = now;
    const bool has_data = trial.with_data && trial.has_data();
    if (trial.with_data && !has_data && now - state->found_ns <= kDataNs) {
        if (now - state->put_ns > kPutAgainNs) trial.begin();
        return false;
    }
    if (traits_.event_bits != 0)
        link.data = has_data ? RailLink::Data::arrives : RailLink::Data::lost;
    set_usable(peer, usable(peer) | bit(rail));
    return true;
}

void Network::end_trials(int peer, RailTrial trials[]) {
    const MutexLock guard(lock_);
    const std::uint8_t taken = usable(peer);
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        Trial *const trial = trials[rail].trial;
        if (trial == nullptr || !trials[rail].is_open || trial->over) {
            delete trial;
        } else {
            trial->abandoned = true;
            // If it is not posted yet, post it without data.
            if (trial->operation.kind == Operation::Kind::put_event)
                trial->operation.kind = Operation::Kind::put;
        }
        if ((taken & bit(rail)) == 0) rails_[rail].was_out_of_reach = true;
    }
    if (taken != 0) return leave_out_others(peer);
    unreached_limit_ns_ = kNextUnreachedNs;
    log(SENNIT_LOG_WARNING,
        "rank %d does not answer by the network and counts as out of reach, with its node", peer);
}

// Returns null if there is no memory.
Network::Trial *Network::make_trial(int peer, unsigned rail) {
    auto *trial = new (std::nothrow) Trial;
    if (trial == nullptr) return nullptr;
    trial->operation.rail = static_cast<std::uint8_t>(rail);
    trial->operation.peer = peer;
    trial->operation.remote.handle = kTrialHandle;
    trial->operation.completed = [](Operation *operation, sennit_status status) {
        auto *ended = reinterpret_cast<Trial *>(operation);  // the first member
        ended->status = status;
        ended->over = true;
        if (ended->abandoned) delete ended;
    };
    const auto own = static_cast<unsigned>(rank_->peers[rank_->world_rank].node);
    trial->room = (rail * node_count_ + own) * sizeof(TrialRoom);
    trial->with_data = traits_.event_bits != 0;
    trial->begin();
    return trial;
}

// Whether the peer was not reached for so long that it counts as out of reach. With the lock held.
bool Network::is_silent(const RailLink &link, std::int64_t now) const {
    const std::int64_t failing =
        link.failing_since_ns != 0 ? now - link.failing_since_ns : std::int64_t{0};
    return std::max({failing, link.transfer_refusals.length(now),
                     link.message_refusals.length(now)}) > unreached_limit_ns_ ||
           link.patience_ns > kMostPatienceNs;
}

}  // namespace sennit::transport::fabric
