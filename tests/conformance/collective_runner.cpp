// Runs random collective calls, and the thread that waits for requests of others
// (collective_program.hpp).
#include <algorithm>
#include <memory>
#include <thread>

#include "collective_program.hpp"

namespace conformance {
namespace {

// A pending call.
struct Flight {
    CollStep step;
    CollBuffers buffers;
    Bytes source, destination;   // private memory
    std::uint8_t *at = nullptr;  // the address of the destination
    bool has_request = false;
    bool is_handed_over = false;
    HandedOver request;
};

bool is_padding(const CollStep &step, std::size_t byte) {
    return reduces(step.kind) && step.type == SENNIT_LONG_DOUBLE &&
           byte % sizeof(long double) >= kBytesThatCount<long double>;
}

std::string describe(const CollStep &step, bool has_request) {
    std::string text = "step " + std::to_string(step.number) + ": " + name_of(step.kind) +
                       ", root " + std::to_string(step.root) + ", count " +
                       std::to_string(step.count);
    if (reduces(step.kind))
        text += ", type " + std::to_string(step.type) + ", operator " + std::to_string(step.op);
    return text + (step.in_place ? ", in place" : "") + (has_request ? ", with a request" : "");
}

class Program {
  public:
    Program(Ranks &test, const Members &members, const CollWays &ways)
        : test_(test),
          members_(members),
          ways_(ways),
          arena_(ways.arena.segment != 0 ? ways.arena : test.allocate(kArenaBytes)),
          memory_(static_cast<std::uint8_t *>(sennit_ptr(arena_))),
          // The members of a team draw the same numbers, whatever other ranks do.
          draw_(test.common.next()) {}

    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            CollStep step = draw_step(draw_, members_, ways_.most_bytes);
            // A barrier with a request and one without do not match each other.
            const bool barrier_later = draw_.one_in(2);
            step.number = ++number_;
            if (!test_.chosen.has(number_)) continue;
            test_.begin_step(number_);
            const bool later = step.kind == CollKind::barrier ? barrier_later : test_.own.one_in(2);
            one(std::move(step), later);
            if (flights_.size() > 6 || test_.own.one_in(4)) complete_some();
        }
        while (!flights_.empty())
            finish(test_.own.below(flights_.size()));
    }
    void close() {
        if (ways_.arena.segment != 0) return;
        test_.barrier();
        test_.free(arena_);
    }

  private:
    // Memory for a buffer with these contents: private, or in the segment.
    std::uint8_t *take(CollMemory kind, const Bytes &contents, Bytes *own) {
        const bool fits = memory_ != nullptr && used_ + contents.size() + 64 <= kArenaBytes;
        const bool in_segment =
            kind == CollMemory::mixed ? test_.own.one_in(2) : kind == CollMemory::segment;
        if (fits && in_segment) {
            std::uint8_t *place = memory_ + used_ + test_.own.below(8) * 8;
            used_ += contents.size() + 64;
            std::copy(contents.begin(), contents.end(), place);
            return place;
        }
        *own = contents;
        return own->data();
    }

    // Makes a call and repeats it after each timeout. Where threads take turns, no thread keeps its
    // turn while it waits for another rank: that rank's call may be in a thread that waits for its
    // own turn.
    template <class Call>
    sennit_status patiently(Call call_for) {
        if (ways_.turns == nullptr) return call_for(SENNIT_FOREVER);
        for (;;) {
            {
                const std::lock_guard<std::mutex> turn(*ways_.turns);
                const sennit_status status =
                    call_for(test_.own.one_in(2) ? 0 : std::int64_t{20'000});
                if (status != SENNIT_ERR_TIMEOUT) return status;
            }
            std::this_thread::yield();
        }
    }

    void one(CollStep step, bool later) {
        flights_.push_back(std::make_unique<Flight>());
        Flight &flight = *flights_.back();
        flight.step = std::move(step);
        flight.has_request = later;
        test_.show(describe(flight.step, later));
        flight.buffers = make_buffers(flight.step, members_);
        std::uint8_t *source = take(flight.step.memory, flight.buffers.source, &flight.source);
        flight.at = take(flight.step.memory, flight.buffers.destination, &flight.destination);
        sennit_request *request = later ? &flight.request.request : nullptr;
        const sennit_status status = patiently([&](std::int64_t timeout_ns) {
            return call(flight.step, members_, flight.buffers, source, flight.at,
                        {request, timeout_ns});
        });
        if (status != SENNIT_OK) say(flight, "failed: " + std::string(sennit_last_error()->text));
        if (!later) return over(flights_.size() - 1);
        if (ways_.waiter == nullptr || test_.own.one_in(3)) return;
        flight.is_handed_over = true;
        ways_.waiter->take(flight.request);
    }

    void complete_some() {
        if (flights_.empty()) return;
        if (!test_.own.one_in(4)) return finish(test_.own.below(flights_.size()));
        Flight &first = *flights_.front();
        if (first.is_handed_over) return;
        int done = 0;
        const sennit_status status =
            patiently([&](std::int64_t) { return sennit_test(&first.request.request, &done); });
        if (status != SENNIT_OK) say(first, "failed: " + std::string(sennit_last_error()->text));
        if (done != 0) over(0);
    }

    void finish(std::size_t place) {
        Flight &flight = *flights_[place];
        if (flight.is_handed_over) {
            while (!flight.request.is_over.load())
                std::this_thread::yield();
            if (flight.request.status != SENNIT_OK) say(flight, "failed: " + flight.request.text);
            return over(place);
        }
        const sennit_status status = patiently([&](std::int64_t timeout_ns) {
            return sennit_wait(&flight.request.request, timeout_ns);
        });
        if (status != SENNIT_OK) say(flight, "failed: " + std::string(sennit_last_error()->text));
        over(place);
    }

    // The call is complete: compares its result.
    void over(std::size_t place) {
        const Flight &flight = *flights_[place];
        const Bytes &expected = flight.buffers.expected;
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (!is_padding(flight.step, i) && flight.at[i] != expected[i])
                say(flight, "byte " + std::to_string(i) + " of " + std::to_string(expected.size()) +
                                " is " + std::to_string(flight.at[i]) + " and not " +
                                std::to_string(expected[i]));
        flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(place));
        if (flights_.empty()) used_ = 0;
    }

    [[noreturn]] void say(const Flight &flight, const std::string &what) {
        test_.fail(Ranks::Where::current(),
                   describe(flight.step, flight.has_request) + ": " + what);
    }

    Ranks &test_;
    Members members_;
    CollWays ways_;
    sennit_gptr arena_;
    std::uint8_t *memory_;
    std::size_t used_ = 0;
    Random draw_;
    std::uint64_t number_ = 0;
    std::vector<std::unique_ptr<Flight>> flights_;
};

}  // namespace

void run_collectives(Ranks &test, const Members &members, int steps, const CollWays &ways) {
    test.programs(1, [&] {
        Program program(test, members, ways);
        program.run(steps);
        program.close();
    });
}

void RequestThread::take(HandedOver &given) {
    const std::lock_guard<std::mutex> guard(mutex_);
    given_.push_back(&given);
    changed_.notify_one();
}

void RequestThread::end() {
    const std::lock_guard<std::mutex> guard(mutex_);
    ended_ = true;
    changed_.notify_one();
}

// Takes newly handed-over requests. False: none is open and none will come.
bool RequestThread::collect(std::vector<HandedOver *> &open) {
    std::unique_lock<std::mutex> guard(mutex_);
    if (open.empty()) changed_.wait(guard, [&] { return ended_ || !given_.empty(); });
    open.insert(open.end(), given_.begin(), given_.end());
    given_.clear();
    return !open.empty();
}

// Never waits long for one request: its call may need a thread of another rank, and that thread may
// wait for another call whose request is in this list.
void RequestThread::work(Random draw) {
    std::vector<HandedOver *> open;
    while (collect(open)) {
        std::size_t which = 0;
        sennit_status status = SENNIT_OK;
        if (draw.one_in(3)) {
            which = draw.below(open.size());
            status = sennit_wait(&open[which]->request, kMillisecond);
        } else {
            std::vector<sennit_request> requests;
            for (const HandedOver *one : open)
                requests.push_back(one->request);
            status = sennit_wait_any(requests.size(), requests.data(), kMillisecond, &which);
        }
        if (status == SENNIT_ERR_TIMEOUT) continue;
        HandedOver &done = *open[which];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        done.status = status;
        if (status != SENNIT_OK) done.text = sennit_last_error()->text;
        done.is_over.store(true);
    }
}

}  // namespace conformance
