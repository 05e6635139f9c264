// Signals, notified calls and queues under stress: random programs of many of them at once, with
// all data checked, until the time is over. Every rank is owner, sender, taker and producer at
// once, takes arrived messages in a random way, and sleeps when it has nothing else to do. Senders
// run ahead as far as they may.
//
// The steps of a program are first the queues of storm_queues.hpp, then the streams of
// storm_streams.hpp: all ranks leave out a step, or none does.
#include <chrono>

#include "storm_queues.hpp"
#include "storm_streams.hpp"

using namespace conformance;

namespace {

void run_program(Ranks &test) {
    StormQueues queues(test);
    StormStreams streams(test);
    queues.open();
    streams.open();
    test.barrier();
    const std::uint64_t never = 0;
    int idle = 0;
    while (queues.is_open() || streams.is_open()) {
        bool has_moved = streams.send_some();
        has_moved |= streams.take_some(0);
        has_moved |= queues.push_some();
        has_moved |= queues.pop_some(0);
        idle = has_moved ? 0 : idle + 1;
        if (has_moved) continue;
        // No rank waits for this one, and the data it waits for will come.
        if (queues.has_pushed_all() && streams.has_sent_all()) {
            const bool takes = streams.is_open() && (!queues.is_open() || test.own.one_in(2));
            (void)(takes ? streams.take_some(SENNIT_FOREVER) : queues.pop_some(SENNIT_FOREVER));
        } else if (idle % 8 == 0) {
            (void)streams.take_some(kMillisecond / 4);
        } else {
            (void)sennit_signal_wait_word(&never, SENNIT_NOT_EQUAL, 0, 0);
        }
    }
    test.barrier();
    streams.close();
    queues.close();
    test.barrier();
}

}  // namespace

// Broken by an event that is lost, doubled, too early or in the wrong epoch, data that follows its
// event, a waiter that nobody wakes, or an item that is lost, doubled, torn or overtaken.
RANK_TEST(stress, signals_and_queues_keep_their_word_as_long_as_it_lasts, kOnce | kOnlyNamed) {
    const std::chrono::duration<double> length(test.for_seconds > 0 ? test.for_seconds : 2);
    const auto end = std::chrono::steady_clock::now() + length;
    std::uint64_t programs = 0;
    // The clock of one rank decides, so that all run the same programs.
    const auto is_over = [&] {
        const int mine = std::chrono::steady_clock::now() > end ? 1 : 0;
        return test.tell_all(mine).front() != 0 || programs == test.chosen.program;
    };
    do {
        test.programs(1, [&] { run_program(test); });
        ++programs;
    } while (!is_over());
    if (test.rank == 0)
        std::printf("%llu programs, seed %llu\n", static_cast<unsigned long long>(programs),
                    static_cast<unsigned long long>(test.seed));
}
