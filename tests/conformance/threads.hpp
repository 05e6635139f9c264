// Runs several threads of one rank in a test.
#pragma once

#include <thread>

#include "harness.hpp"

namespace conformance {

// Runs `work` in `count` threads of this rank; a failed check in one of them fails the test.
template <class Work>
void in_threads(Ranks &test, int count, Work work) {
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < count; ++number) {
        threads.emplace_back([&, number] {
            Ranks mine = test;
            mine.lane = static_cast<std::uint64_t>(number) + 1;
            mine.base = test.base + mine.lane * 0x2545F4914F6CDD1Du;
            mine.own =
                Random(test.seed * 977 + static_cast<std::uint64_t>(test.rank * 64 + number));
            try {
                if (test.one_process && test.size > 1) mine.ok(sennit_thread_attach(test.rank));
                work(mine, number);
            } catch (const Failed &) {
                ++failed;
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    test.equal(failed.load(), 0);
}

}  // namespace conformance
