#include "storm_streams.hpp"

#include <algorithm>

namespace conformance {

StormStreams::Stream StormStreams::draw(Ranks &test, bool is_wide) {
    Stream made;
    made.way = static_cast<Way>(test.common.below(kWays));
    const bool is_short = made.way == Way::put || made.way == Way::get;
    const auto size = static_cast<std::uint64_t>(test.size);
    made.senders = test.common.between(1, is_wide ? std::min<std::uint64_t>(size, 2) : size);
    made.messages = is_short ? 1 : test.common.between(1, 3);
    made.epochs = test.common.between(1, is_wide ? 4 : test.quick ? 12 : 40);
    made.room = is_wide ? 16 : test.common.one_in(6) ? 3000 : test.common.between(0, 200);
    made.is_full = test.common.one_in(2);
    if (is_plan(made.way) && test.common.one_in(2)) made.room = sizeof(std::uint64_t);
    made.set = test.common.below(kSets + 1);
    // Way::add uses a plain put, which does not wait for the owner's epoch.
    made.copies = made.way == Way::add ? made.epochs : 2;
    return made;
}

StormStreams::StormStreams(Ranks &test) : test_(test) {
    static const char *const words[kWays] = {"put",       "get",      "put_with",
                                             "get_with",  "add",      "put_batch",
                                             "get_batch", "put_plan", "get_plan"};
    const bool is_wide = test.common.one_in(6);
    const std::uint64_t count =
        is_wide ? test.common.between(100, test.quick ? 200 : 1000) : test.common.between(1, 24);
    for (std::uint64_t step = 2; step < count + 2; ++step) {
        const Stream made = draw(test, is_wide);
        if (!test.chosen.has(step)) continue;
        test.show("step " + std::to_string(step) + ": " + std::to_string(made.senders) +
                  " senders by " + words[static_cast<int>(made.way)] + ", " +
                  std::to_string(made.messages) + " messages in each of " +
                  std::to_string(made.epochs) + " epochs");
        streams_.push_back(made);
        memory_bytes_ += made.bytes();
        buffer_.resize(std::max(buffer_.size(), made.room + 1));
    }
    own_.resize(streams_.size());
}

std::uint64_t StormStreams::salt_of(const Message &message) const {
    const std::uint64_t stream =
        static_cast<std::uint64_t>(message.owner) * 100000 + message.stream;
    const std::uint64_t sent = (message.epoch * 64 + message.sender) * 64 + message.number;
    return Random(test_.base + Random(stream * 0x9E3779B97F4A7C15u + sent).next()).next();
}

std::size_t StormStreams::bytes_of(const Message &message) const {
    const Stream &stream = streams_[message.stream];
    if (stream.is_full) return stream.room;
    Message sized = message;
    // A plan has the same sizes in all of its runs.
    if (is_plan(stream.way)) sized.epoch %= 2;
    return Random(salt_of(sized)).below(stream.room + 1);
}

std::size_t StormStreams::place_of(const Message &message) const {
    const Stream &stream = streams_[message.stream];
    const std::uint64_t copy = message.epoch % stream.copies;
    return ((copy * stream.senders + message.sender) * stream.messages + message.number) *
           stream.room;
}

// ---------------------------------------------------------------- open and close

void StormStreams::open_own(std::size_t number, sennit_block *block, std::size_t offset) {
    const Stream &stream = streams_[number];
    Own &own = own_[number];
    const auto events = static_cast<std::uint32_t>(stream.senders * stream.messages);
    own.signal =
        make_signal(test_, events, events + static_cast<std::uint32_t>(test_.own.below(3)));
    own.block = static_cast<std::uint8_t *>(sennit_ptr(memory_)) + offset;
    const sennit_region region{sennit_gptr_at(memory_, test_.rank), memory_bytes_};
    const bool gets = is_get(stream.way);
    test_.ok(sennit_block_init(region, offset, stream.bytes(),
                               gets ? own.signal : SENNIT_SIGNAL_NULL,
                               gets ? SENNIT_SIGNAL_NULL : own.signal, block));
    live_.push_back(number);
    if (stream.set < kSets) test_.ok(sennit_waitset_add(sets_[stream.set], own.signal, number));
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
        if (gets) fill_epoch(number, epoch);
}

void StormStreams::attach_to(int owner, const std::vector<sennit_block> &blocks) {
    const auto sender = static_cast<std::uint64_t>((test_.rank - owner + test_.size) % test_.size);
    for (std::size_t number = 0; number < streams_.size(); ++number) {
        if (sender >= streams_[number].senders) continue;
        Sending to;
        to.owner = owner;
        to.stream = number;
        to.sender = sender;
        test_.ok(sennit_block_attach(&blocks[number], &to.peer));
        peers_.push_back(to.peer);
        sennit_block_info info{};
        test_.ok(sennit_block_query(&blocks[number], &info));
        to.signal = is_get(streams_[number].way) ? info.on_send : info.on_recv;
        to.gptr = info.gptr;
        if (is_plan(streams_[number].way)) {
            plan(to);
        } else {
            sendings_.push_back(to);
        }
    }
}

void StormStreams::open() {
    for (sennit_waitset &set : sets_)
        test_.ok(sennit_waitset_create(&set));
    sent_events_ = static_cast<std::uint32_t>(test_.own.between(1, 9));
    sent_ = make_signal(test_, sent_events_);
    memory_ = test_.allocate(memory_bytes_);
    std::vector<sennit_block> blocks(streams_.size());
    std::size_t offset = 0;
    for (std::size_t number = 0; number < streams_.size(); ++number) {
        open_own(number, &blocks[number], offset);
        offset += streams_[number].bytes();
    }
    const std::size_t mail_bytes = sizeof(sennit_block) * blocks.size();
    const sennit_gptr mail = test_.allocate(mail_bytes);
    test_.ok(sennit_put(mail, blocks.data(), mail_bytes));
    test_.barrier();
    for (int owner = 0; owner < test_.size; ++owner) {
        test_.ok(sennit_get(blocks.data(), sennit_gptr_at(mail, owner), mail_bytes));
        attach_to(owner, blocks);
    }
    record_plans();
    test_.barrier();
    test_.free(mail);
}

void StormStreams::close() {
    for (std::size_t number = 0; number < streams_.size(); ++number) {
        const Stream &stream = streams_[number];
        test_.equal(epoch_of(test_, own_[number].signal), stream.epochs);
        test_.equal(left_of(test_, own_[number].signal), stream.senders * stream.messages);
        test_.ok(sennit_signal_destroy(own_[number].signal));
    }
    test_.equal(left_of(test_, sent_), sent_events_ - sent_count_);
    test_.ok(sennit_signal_destroy(sent_));
    for (const sennit_peer_block peer : peers_)
        test_.ok(sennit_block_detach(peer));
    for (const sennit_waitset set : sets_)
        test_.ok(sennit_waitset_destroy(set));
    test_.free(memory_);
}

// ---------------------------------------------------------------- the sender

sennit_status StormStreams::carry_out_with(const Sending &to, std::size_t place,
                                           std::size_t bytes) {
    sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, to.epoch, 0};
    if (test_.own.one_in(2)) notice.remote = to.signal;
    const bool counts = test_.own.one_in(2);
    if (counts) notice.local = sent_;
    const bool gets = is_get(streams_[to.stream].way);
    sennit_request request = SENNIT_REQUEST_NULL;
    sennit_status status = SENNIT_OK;
    if (test_.own.one_in(2))
        status = gets ? sennit_get_notify_with(buffer_.data(), to.peer, place, bytes, &notice)
                      : sennit_put_notify_with(to.peer, place, buffer_.data(), bytes, &notice);
    else
        status =
            gets ? sennit_get_notify_nb(buffer_.data(), to.peer, place, bytes, &notice, &request)
                 : sennit_put_notify_nb(to.peer, place, buffer_.data(), bytes, &notice, &request);
    if (status == SENNIT_OK) status = sennit_wait(&request, SENNIT_FOREVER);
    if (status == SENNIT_OK && counts) count_local();
    return status;
}

sennit_status StormStreams::carry_out(const Sending &to, std::size_t place, std::size_t bytes) {
    switch (streams_[to.stream].way) {
        case Way::put:
            return sennit_put_notify(to.peer, place, buffer_.data(), bytes);
        case Way::get:
            return sennit_get_notify(buffer_.data(), to.peer, place, bytes);
        case Way::put_with:
        case Way::get_with:
            return carry_out_with(to, place, bytes);
        case Way::add:
            test_.ok(sennit_put(sennit_gptr_add(to.gptr, static_cast<std::int64_t>(place)),
                                buffer_.data(), bytes));
            return sennit_signal_notify(to.signal, to.epoch);
        default:
            return SENNIT_ERR_ARG;
    }
}

void StormStreams::count_local(std::uint32_t calls) {
    sent_count_ += calls;
    test_.require(is_fired(test_, sent_) == (sent_count_ == sent_events_),
                  "the local signal counts every call that succeeded");
    if (sent_count_ < sent_events_) return;
    test_.ok(sennit_signal_reset(sent_));
    sent_count_ = 0;
}

void StormStreams::advance(Sending &to) const {
    if (++to.number < streams_[to.stream].messages) return;
    to.number = 0;
    ++to.epoch;
}

bool StormStreams::send(Sending &to) {
    const Stream &stream = streams_[to.stream];
    const Message message{to.owner, to.stream, to.sender, to.epoch, to.number};
    const std::size_t bytes = bytes_of(message);
    const bool gets = is_get(stream.way);
    if (gets) {
        std::fill(buffer_.begin(), buffer_.end(), kUntouched);
    } else {
        fill(buffer_.data(), bytes, salt_of(message));
    }
    const sennit_status status = carry_out(to, place_of(message), bytes);
    if (gets) test_.equal(buffer_[bytes], kUntouched);
    if (status == SENNIT_ERR_SIGNAL_EARLY) {
        if (gets) test_.equal(buffer_[0], kUntouched);
        return false;
    }
    test_.ok(status);
    if (gets) check_pattern(test_, buffer_.data(), bytes, salt_of(message));
    advance(to);
    return true;
}

bool StormStreams::send_some() {
    if (has_sent_all()) return false;
    const std::size_t number = test_.own.below(sendings_.size() + planned_.size());
    if (number >= sendings_.size()) return run_plan(number - sendings_.size());
    Sending &to = sendings_[number];
    if (is_batch(streams_[to.stream].way)) return send_batch(number);
    bool has_sent = false;
    for (std::uint64_t most = test_.own.between(1, 8); most > 0; --most) {
        if (!send(to)) break;
        has_sent = true;
        if (!has_ended(to)) continue;
        to = sendings_.back();
        sendings_.pop_back();
        break;
    }
    return has_sent;
}

// ---------------------------------------------------------------- the owner

void StormStreams::fill_epoch(std::size_t number, std::uint64_t epoch) {
    const Stream &stream = streams_[number];
    for (std::uint64_t sender = 0; sender < stream.senders; ++sender) {
        for (std::uint64_t i = 0; i < stream.messages; ++i) {
            const Message message{test_.rank, number, sender, epoch, i};
            fill(own_[number].block + place_of(message), bytes_of(message), salt_of(message));
        }
    }
}

void StormStreams::check_epoch(std::size_t number) {
    const Stream &stream = streams_[number];
    for (std::uint64_t sender = 0; sender < stream.senders; ++sender) {
        for (std::uint64_t i = 0; i < stream.messages; ++i) {
            const Message message{test_.rank, number, sender, own_[number].epoch, i};
            check_pattern(test_, own_[number].block + place_of(message), bytes_of(message),
                          salt_of(message));
        }
    }
}

// The signal of the stream has fired.
void StormStreams::take(std::size_t number) {
    const Stream &stream = streams_[number];
    Own &own = own_[number];
    test_.equal(epoch_of(test_, own.signal), own.epoch);
    // All have read the data of this epoch; a rank that reads ahead uses the other places.
    if (is_get(stream.way)) {
        fill_epoch(number, own.epoch + 2);
    } else {
        check_epoch(number);
    }
    test_.ok(sennit_signal_reset(own.signal));
    if (++own.epoch < stream.epochs) return;
    if (stream.set < kSets) test_.ok(sennit_waitset_remove(sets_[stream.set], own.signal));
    live_.erase(std::find(live_.begin(), live_.end(), number));
}

bool StormStreams::take_one(std::size_t number, std::int64_t timeout_ns) {
    if (timeout_ns == 0 && test_.own.one_in(2)) {
        if (!is_fired(test_, own_[number].signal)) return false;
    } else {
        const sennit_status status = sennit_signal_wait(own_[number].signal, timeout_ns);
        if (status == SENNIT_ERR_TIMEOUT) return false;
        test_.ok(status);
    }
    take(number);
    return true;
}

bool StormStreams::take_of_set(std::size_t set, std::int64_t timeout_ns) {
    constexpr std::size_t kMost = 16;
    sennit_fired fired[kMost] = {};
    std::size_t count = 1;
    const sennit_status status =
        test_.own.one_in(2) ? sennit_waitset_wait_any(sets_[set], timeout_ns, fired)
                            : sennit_waitset_wait_some(sets_[set], timeout_ns,
                                                       test_.own.between(1, kMost), fired, &count);
    if (status == SENNIT_ERR_TIMEOUT) return false;
    test_.ok(status);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t number = fired[i].cookie;
        test_.require(number < own_.size() && is_same(fired[i].signal, own_[number].signal),
                      "the cookie of the signal that was reported");
        take(number);
    }
    return true;
}

bool StormStreams::take_all_of_set(std::size_t set, std::int64_t timeout_ns) {
    const sennit_status status = sennit_waitset_wait_all(sets_[set], timeout_ns);
    if (status == SENNIT_ERR_TIMEOUT) return false;
    test_.ok(status);
    const std::vector<std::size_t> live = live_;
    for (const std::size_t number : live)
        if (streams_[number].set == set) take(number);
    return true;
}

bool StormStreams::take_some(std::int64_t timeout_ns) {
    if (live_.empty()) return false;
    const std::size_t number = live_[test_.own.below(live_.size())];
    const std::size_t set = streams_[number].set;
    if (set == kSets || test_.own.one_in(4)) return take_one(number, timeout_ns);
    return test_.own.one_in(4) ? take_all_of_set(set, timeout_ns) : take_of_set(set, timeout_ns);
}

}  // namespace conformance
