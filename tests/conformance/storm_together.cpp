// Messages of streams in batches and plans.
#include <algorithm>

#include "storm_streams.hpp"

namespace conformance {

// ---------------------------------------------------------------- batches

StormStreams::Part StormStreams::make_part(std::size_t sending, const Sending &at) {
    Part part;
    part.sending = sending;
    part.message = {at.owner, at.stream, at.sender, at.epoch, at.number};
    part.notice = {test_.own.one_in(2) ? at.signal : SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL,
                   at.epoch, 0};
    // One more byte, which a get must not touch.
    part.buffer.resize(bytes_of(part.message) + 1, kUntouched);
    if (!is_get(streams_[at.stream].way))
        fill(part.buffer.data(), part.buffer.size() - 1, salt_of(part.message));
    return part;
}

// Some messages of the sending, possibly of its next epochs too, and of other sendings that use the
// same way, to any owners.
std::vector<StormStreams::Part> StormStreams::draw_parts(std::size_t first) {
    const Way way = streams_[sendings_[first].stream].way;
    std::vector<Part> parts;
    for (std::size_t turn = 0; turn < sendings_.size() && parts.size() < 40; ++turn) {
        const std::size_t number = (first + turn) % sendings_.size();
        Sending at = sendings_[number];
        if (streams_[at.stream].way != way || (turn > 0 && test_.own.one_in(2))) continue;
        for (std::uint64_t most = test_.own.between(1, 8); most > 0 && !has_ended(at); --most) {
            parts.push_back(make_part(number, at));
            advance(at);
        }
    }
    // As many as the local signal still accepts.
    std::uint32_t left = test_.own.one_in(2) ? sent_events_ - sent_count_ : 0;
    for (Part &part : parts) {
        if (left == 0) break;
        if (test_.own.one_in(3)) continue;
        part.notice.local = sent_;
        --left;
    }
    return parts;
}

void StormStreams::check_part(const Part &part, bool is_done) {
    const std::size_t bytes = part.buffer.size() - 1;
    if (!is_get(streams_[part.message.stream].way)) return;
    test_.equal(part.buffer[bytes], kUntouched);
    if (is_done) {
        check_pattern(test_, part.buffer.data(), bytes, salt_of(part.message));
    } else {
        test_.equal(part.buffer[0], kUntouched);
    }
}

void StormStreams::drop_ended() {
    const auto ended = [this](const Sending &to) { return has_ended(to); };
    sendings_.erase(std::remove_if(sendings_.begin(), sendings_.end(), ended), sendings_.end());
}

// Returns whether a part was sent.
bool StormStreams::send_batch(std::size_t first) {
    std::vector<Part> parts = draw_parts(first);
    std::vector<sennit_notify_part> all;
    for (Part &part : parts)
        all.push_back({sendings_[part.sending].peer, SENNIT_ERR_INTERNAL, place_of(part.message),
                       part.buffer.data(), part.buffer.size() - 1, &part.notice});
    std::size_t done = all.size() + 1;
    const sennit_status status = is_get(streams_[sendings_[first].stream].way)
                                     ? sennit_get_notify_batch(all.size(), all.data(), &done)
                                     : sennit_put_notify_batch(all.size(), all.data(), &done);
    if (status != SENNIT_ERR_SIGNAL_EARLY) {
        test_.ok(status);
        test_.equal(done, all.size());
    }
    test_.require(done <= all.size(), "at most all parts are done");
    std::uint32_t counted = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        test_.is(all[i].status, i < done ? SENNIT_OK : SENNIT_ERR_SIGNAL_EARLY);
        check_part(parts[i], i < done);
        if (i >= done) continue;
        if (parts[i].notice.local.handle != 0) ++counted;
        advance(sendings_[parts[i].sending]);
    }
    if (counted > 0) count_local(counted);
    drop_ended();
    return done > 0;
}

// ---------------------------------------------------------------- plans

// One plan for several owners, or a separate plan for each.
void StormStreams::plan(const Sending &to) {
    const auto found = std::find_if(planned_.begin(), planned_.end(),
                                    [&to](const Planned &one) { return one.stream == to.stream; });
    if (found != planned_.end() && test_.own.one_in(2)) {
        found->to.push_back(to);
        return;
    }
    Planned made;
    made.stream = to.stream;
    made.is_backwards = test_.own.one_in(2);
    made.to.push_back(to);
    planned_.push_back(made);
}

// Messages are counted over a whole run.
StormStreams::Message StormStreams::message_of(const Planned &planned, std::size_t number) const {
    const std::uint64_t messages = streams_[planned.stream].messages;
    const Sending &to = planned.to[number / messages];
    return {to.owner, to.stream, to.sender, planned.epoch, number % messages};
}

std::size_t StormStreams::local_of(const Planned &planned, std::size_t number) const {
    return (planned.is_backwards ? messages_of(planned) - 1 - number : number) *
           streams_[planned.stream].room;
}

void StormStreams::record_plans() {
    for (Planned &planned : planned_) {
        for (std::uint64_t turn = 0; turn < 2; ++turn) {
            std::vector<std::uint8_t> &buffer = planned.buffers[turn];
            buffer.resize(messages_of(planned) * streams_[planned.stream].room + 1);
            sennit_plan &made = planned.plans[turn];
            test_.ok(sennit_plan_create(&made));
            planned.epoch = turn;
            for (std::size_t i = 0; i < messages_of(planned); ++i) {
                const Message message = message_of(planned, i);
                const sennit_peer_block peer =
                    planned.to[i / streams_[planned.stream].messages].peer;
                std::uint8_t *local = buffer.data() + local_of(planned, i);
                const std::size_t bytes = bytes_of(message);
                test_.ok(is_get(streams_[planned.stream].way)
                             ? sennit_plan_get(made, local, peer, place_of(message), bytes)
                             : sennit_plan_put(made, peer, place_of(message), local, bytes));
            }
            test_.ok(sennit_plan_commit(made, turn, 2));
        }
        planned.epoch = 0;
    }
}

// Returns whether the plan has run: one owner that is behind stops it, and nothing moves.
bool StormStreams::run_plan(std::size_t number) {
    Planned &planned = planned_[number];
    const bool gets = is_get(streams_[planned.stream].way);
    const sennit_plan plan = planned.plans[planned.epoch % 2];
    std::vector<std::uint8_t> &buffer = planned.buffers[planned.epoch % 2];
    std::fill(buffer.begin(), buffer.end(), kUntouched);
    for (std::size_t i = 0; !gets && i < messages_of(planned); ++i)
        fill(buffer.data() + local_of(planned, i), bytes_of(message_of(planned, i)),
             salt_of(message_of(planned, i)));
    const sennit_status status = sennit_plan_start(plan);
    if (status == SENNIT_ERR_SIGNAL_EARLY) {
        const auto is_touched = [](std::uint8_t byte) { return byte != kUntouched; };
        test_.require(!gets || std::none_of(buffer.begin(), buffer.end(), is_touched),
                      "a run that is refused has moved nothing");
        return false;
    }
    test_.ok(status);
    if (test_.own.one_in(4)) test_.is(sennit_plan_start(plan), SENNIT_ERR_STATE);
    test_.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
    for (std::size_t i = 0; gets && i < messages_of(planned); ++i)
        check_pattern(test_, buffer.data() + local_of(planned, i), bytes_of(message_of(planned, i)),
                      salt_of(message_of(planned, i)));
    if (++planned.epoch < streams_[planned.stream].epochs) return true;
    for (const sennit_plan over : planned.plans)
        test_.ok(sennit_plan_destroy(over));
    planned_.erase(planned_.begin() + static_cast<std::ptrdiff_t>(number));
    return true;
}

}  // namespace conformance
