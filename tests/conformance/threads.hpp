// Several threads of one rank in a test.
#pragma once

#include <thread>

#include "harness.hpp"

namespace conformance {

// Runs `work` in `count` threads of this rank; a check that fails in one fails the test.
template <class Work>
void in_threads(Ranks &it, int count, Work work) {
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int number = 0; number < count; ++number) {
        threads.emplace_back([&, number] {
            Ranks mine = it;
            mine.lane = static_cast<std::uint64_t>(number) + 1;
            mine.base = it.base + mine.lane * 0x2545F4914F6CDD1Du;
            mine.own = Random(it.seed * 977 + static_cast<std::uint64_t>(it.rank * 64 + number));
            try {
                if (it.one_process && it.size > 1) mine.ok(sennit_thread_attach(it.rank));
                work(mine, number);
            } catch (const Failed &) {
                ++failed;
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    it.equal(failed.load(), 0);
}

}  // namespace conformance
