// Executes the steps of a random program.
#include "random_program.hpp"

#include <algorithm>

namespace conformance {
namespace {

bool overlap(std::size_t a_begin, std::size_t a_end, std::size_t b_begin, std::size_t b_end) {
    return a_begin < b_end && b_begin < a_end;
}

std::string describe(const Step &step) {
    static const char *const kNames[] = {"put",     "put_nb", "put_nbi", "get",      "get_nb",
                                         "get_nbi", "move",   "nothing", "out_of_it"};
    const std::string number =
        step.number == 0 ? "after a phase" : "step " + std::to_string(step.number);
    return number + ": " + kNames[static_cast<std::size_t>(step.kind)] + " of " +
           std::to_string(step.bytes) + " bytes at " + std::to_string(step.offset) +
           " of segment " + std::to_string(step.piece.segment) + " of rank " +
           std::to_string(step.piece.owner);
}

bool is_put(StepKind kind) {
    return kind == StepKind::put || kind == StepKind::put_nb || kind == StepKind::put_nbi;
}

}  // namespace

sennit_gptr Runner::place_of(const Step &step) const {
    const ModelSegment &segment = segments_[static_cast<std::size_t>(step.piece.segment)];
    return sennit_gptr_add(sennit_gptr_at(segment.gptr, step.piece.owner),
                           static_cast<int64_t>(step.offset));
}

void Runner::ok(sennit_status status, const Step &step) {
    if (status != SENNIT_OK)
        test_.fail(Ranks::Where::current(), describe(step) + ": " + sennit_status_string(status) +
                                                ": " + sennit_last_error()->text);
}

void Runner::check(const Step &step, const std::vector<std::uint8_t> &got) {
    for (std::size_t i = 0; i < step.bytes; ++i) {
        if (got[i] == step.expected[i]) continue;
        test_.fail(Ranks::Where::current(), describe(step) + ": byte " + std::to_string(i) +
                                                " is " + std::to_string(got[i]) +
                                                ", the oracle says " +
                                                std::to_string(step.expected[i]));
    }
}

// The operation at `place` is complete.
void Runner::over(std::size_t place) {
    const Flight &flight = flights_[place];
    if (!flight.writes) check(flight.step, flight.buffer);
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(place));
}

// Completes the operation at `place` in a random way.
void Runner::finish(std::size_t place) {
    Flight &flight = flights_[place];
    if (flight.implicit) {
        const Step step = flight.step;
        const int peer = step.piece.owner;
        if (test_.own.one_in(3)) {
            ok(sennit_flush_all(SENNIT_FOREVER), step);
        } else {
            ok(sennit_flush(peer, SENNIT_FOREVER), step);
        }
        // The flush has completed all implicit operations to this rank.
        for (std::size_t i = flights_.size(); i-- > 0;)
            if (flights_[i].implicit && flights_[i].step.piece.owner == peer) over(i);
        return;
    }
    switch (test_.own.below(4)) {
        case 0: {
            int done = 0;
            while (done == 0)
                ok(sennit_test(&flight.request, &done), flight.step);
            break;
        }
        case 1: {
            std::size_t index = 1;
            ok(sennit_wait_any(1, &flight.request, SENNIT_FOREVER, &index), flight.step);
            break;
        }
        case 2:
            ok(sennit_wait_all(1, &flight.request, SENNIT_FOREVER), flight.step);
            break;
        default:
            ok(sennit_wait(&flight.request, SENNIT_FOREVER), flight.step);
            break;
    }
    over(place);
}

void Runner::finish_all_by_request() {
    std::vector<sennit_request> requests;
    for (const Flight &flight : flights_)
        requests.push_back(flight.implicit ? SENNIT_REQUEST_NULL : flight.request);
    test_.ok(sennit_wait_all(requests.size(), requests.data(), SENNIT_FOREVER));
    for (std::size_t i = flights_.size(); i-- > 0;)
        if (!flights_[i].implicit) over(i);
}

void Runner::complete_all() {
    if (test_.own.one_in(2)) finish_all_by_request();
    while (!flights_.empty())
        finish(test_.own.below(flights_.size()));
}

// Completes pending operations on the range if they write or the new one does; between two puts a
// fence is enough.
void Runner::make_way(const Step &step, std::size_t begin, std::size_t end, bool writes) {
    for (std::size_t i = 0; i < flights_.size();) {
        const Flight &other = flights_[i];
        const bool same = other.step.piece.segment == step.piece.segment &&
                          other.step.piece.owner == step.piece.owner;
        if (!same || !(writes || other.writes) ||
            !overlap(begin, end, other.step.offset, other.step.offset + other.step.bytes)) {
            ++i;
            continue;
        }
        if (is_put(step.kind) && other.writes) {
            if (!other.fenced && test_.own.one_in(2)) {
                test_.ok(sennit_fence());
                for (Flight &flight : flights_)
                    flight.fenced = flight.writes;
            }
            if (other.fenced) {
                ++i;
                continue;
            }
        }
        finish(i);
        i = 0;
    }
}

void Runner::move_within(const Step &step) {
    make_way(step, std::min(step.offset, step.source),
             std::max(step.offset, step.source) + step.bytes, true);
    Step from = step;
    from.offset = step.source;
    void *address = sennit_ptr(place_of(from));
    test_.require(address != nullptr, "a rank has a pointer to its own memory");
    if (test_.own.one_in(2)) {
        ok(sennit_put(place_of(step), address, step.bytes), step);
    } else {
        ok(sennit_get(sennit_ptr(place_of(step)), place_of(from), step.bytes), step);
    }
}

void Runner::start(Step &step) {
    make_way(step, step.offset, step.offset + step.bytes, is_put(step.kind));
    Flight flight;
    flight.writes = is_put(step.kind);
    flight.implicit = step.kind == StepKind::put_nbi || step.kind == StepKind::get_nbi;
    flight.buffer.resize(step.bytes + 1, 0xC3);
    if (flight.writes) fill(flight.buffer.data(), step.bytes, step.salt);
    const sennit_gptr place = place_of(step);
    std::uint8_t *buffer = flight.buffer.data();
    switch (step.kind) {
        case StepKind::put:
            ok(sennit_put(place, buffer, step.bytes), step);
            break;
        case StepKind::put_nb:
            ok(sennit_put_nb(place, buffer, step.bytes, &flight.request), step);
            break;
        case StepKind::put_nbi:
            ok(sennit_put_nbi(place, buffer, step.bytes), step);
            break;
        case StepKind::get:
            ok(sennit_get(buffer, place, step.bytes), step);
            break;
        case StepKind::get_nb:
            ok(sennit_get_nb(buffer, place, step.bytes, &flight.request), step);
            break;
        default:
            ok(sennit_get_nbi(buffer, place, step.bytes), step);
            break;
    }
    const bool blocking = step.kind == StepKind::put || step.kind == StepKind::get;
    flight.step = std::move(step);
    // The buffer's memory stays in place when the flight moves.
    flights_.push_back(std::move(flight));
    if (blocking) over(flights_.size() - 1);
}

void Runner::run(Step step) {
    test_.begin_step(step.number);
    if (step.number != 0) test_.show(describe(step));
    switch (step.kind) {
        case StepKind::move:
            move_within(step);
            break;
        case StepKind::nothing:
            ok(sennit_put_nbi(place_of(step), nullptr, 0), step);
            break;
        case StepKind::out_of_it: {
            std::vector<std::uint8_t> buffer(step.bytes, 0x5A);
            const sennit_status status =
                test_.own.one_in(2) ? sennit_put(place_of(step), buffer.data(), step.bytes)
                                    : sennit_get(buffer.data(), place_of(step), step.bytes);
            test_.is(status, SENNIT_ERR_RANGE);
            break;
        }
        default:
            start(step);
            break;
    }
    // Sometimes an operation is completed early.
    if (!flights_.empty() && test_.own.one_in(4)) finish(test_.own.below(flights_.size()));
}

}  // namespace conformance
