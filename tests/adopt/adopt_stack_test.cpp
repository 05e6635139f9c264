// Arrays on stacks, which are adopted if the program consents: which pages move, which never move,
// and a fork while an array is adopted.
#include "adopt_fixture.hpp"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <alloca.h>

#include <csignal>

using namespace adopt_test;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = 16 * kPage;

// The mapping that contains the address, from the kernel's record.
Mapping mapping_of(std::uint64_t address) {
    KernelRecord record;
    Mapping mapping;
    EXPECT_TRUE(record.find(address, &mapping) && mapping.begin <= address);
    return mapping;
}

// Uses the stack below the caller, page by page; returns true if each frame kept its words.
[[gnu::noinline]] bool recurse(int depth) {
    std::atomic<std::uint64_t> words[512];
    for (std::size_t i = 0; i < 512; i += 64)
        words[i] = static_cast<std::uint64_t>(depth) + i;
    if (depth > 0 && !recurse(depth - 1)) return false;
    for (std::size_t i = 0; i < 512; i += 64)
        if (words[i] != static_cast<std::uint64_t>(depth) + i) return false;
    return true;
}

class AdoptStack : public Adopt {
  protected:
    // Like sennit_register(): the frames of the program start at the frame of this function.
    [[gnu::noinline]] Refusal ask(const void *memory, std::size_t bytes, Adoption *adoption) {
        const AdoptionArgs args{number(memory), bytes, false, number(__builtin_frame_address(0))};
        return adopt(rank, args, adoption).code;
    }

    Refusal ask(const void *memory, std::size_t bytes) {
        Adoption adoption;
        const Refusal refusal = ask(memory, bytes, &adoption);
        if (refusal == Refusal::none) end(adoption);
        return refusal;
    }

    // A peer shares the array while it is registered; before and after, the array is private.
    [[gnu::noinline]] void use_array(std::uint8_t *array) {
        fill(array, kBytes, 1);
        EXPECT_NE(refusal(array, kBytes), Refusal::none) << "the array moves without the flag";
        Adoption adoption;
        ASSERT_EQ(ask(array, kBytes, &adoption), Refusal::none);
        ASSERT_EQ(adoption.count, 1u);
        EXPECT_TRUE(holds(array, kBytes, 1));
        const View peer(rank.memory_file, adoption.extents[0]);
        peer.pages()[kBytes - 1] = 77;
        EXPECT_EQ(array[kBytes - 1], 77);
        array[kBytes - 1] = byte_of(1, kBytes - 1);
        EXPECT_TRUE(holds(peer.pages(), kBytes, 1));
        EXPECT_TRUE(recurse(100)) << "the stack below the array is damaged";
        end(adoption);
        EXPECT_TRUE(is_private(array));
        EXPECT_TRUE(holds(array, kBytes, 1));
        EXPECT_TRUE(recurse(100));
        peer.pages()[0] = 78;
        EXPECT_TRUE(holds(array, kBytes, 1));
    }

    [[gnu::noinline]] void use_own_array() {
        alignas(kPage) std::uint8_t array[kBytes];
        use_array(array);
    }
};

}  // namespace

// Broken by a moved page that also holds another part of the frame, or a return that leaves the
// stack in the file. In the second round the stack consists of several mappings.
TEST_F(AdoptStack, arrays_that_fill_pages_are_adopted_if_the_program_consents) {
    for (int round = 0; round < 2; ++round) {
        use_own_array();
        std::thread([this] { use_own_array(); }).join();
    }
}

// After an array has moved, the stack consists of several mappings, and the kernel names only one
// of them as the stack. Broken by code that takes the others for heap memory and moves them without
// consent, with frames on the same pages.
TEST_F(AdoptStack, the_rest_of_a_stack_still_counts_as_a_stack) {
    const auto check = [this] {
        // One array, so that the memory above and below the adopted part is known.
        alignas(kPage) std::uint8_t all[100 * kPage];
        fill(all, sizeof all, 2);
        std::uint8_t *const array = all + 60 * kPage;
        Adoption adoption;
        ASSERT_EQ(ask(array, kBytes, &adoption), Refusal::none);
        for (int round = 0; round < 2; ++round) {
            for (std::uint8_t *const place : {array + kBytes + 5, array - 5 * kPage}) {
                const Refusal why = refusal(place, 100);
                EXPECT_TRUE(why == Refusal::stack || why == Refusal::thread_stack)
                    << static_cast<int>(why);
            }
            if (round == 0) end(adoption);
        }
        EXPECT_TRUE(holds(all, sizeof all, 2));
    };
    check();
    std::thread(check).join();
}

// Earlier attempts failed: a swap under the thread's own frames aborts, a swap of a control block
// hangs pthread_join, and a swap of the lowest page stops the growth of the stack.
TEST_F(AdoptStack, frames_control_blocks_and_the_lowest_page_never_move) {
    static thread_local std::uint64_t own_word = 3;
    const auto page_of = [](const void *place) {
        return reinterpret_cast<std::uint8_t *>(number(place) / kPage * kPage);
    };
    const auto check = [&] {
        alignas(kPage) std::uint8_t array[kBytes];
        fill(array, kBytes, 4);
        EXPECT_EQ(ask(array, kBytes - 1), Refusal::stack_edges);
        EXPECT_EQ(ask(array + 8, 2 * kPage), Refusal::stack_edges);
        EXPECT_EQ(ask(array + 8, 2 * kPage - 8), Refusal::stack_edges);
        EXPECT_EQ(ask(array + 8, 8), Refusal::stack_edges);
        EXPECT_EQ(ask(page_of(alloca(16)) - kPage, 2 * kPage), Refusal::stack_frames);
        EXPECT_EQ(ask(page_of(&own_word), kPage), Refusal::stack_frames);
        EXPECT_EQ(ask(page_of(reinterpret_cast<void *>(own_control_block())), kPage),
                  Refusal::stack_frames);
        // The lowest mapped page.
        EXPECT_TRUE(recurse(200));
        EXPECT_EQ(ask(reinterpret_cast<void *>(mapping_of(number(array)).begin), kPage),
                  Refusal::stack_frames);
        EXPECT_TRUE(holds(array, kBytes, 4));
    };
    check();
    std::thread(check).join();
}

// Broken by a swap that disturbs a thread at work in the frames right above and below.
TEST_F(AdoptStack, a_thread_runs_on_while_another_registers_its_array) {
    std::atomic<std::uint8_t *> place{nullptr};
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        std::atomic<std::uint64_t> above = 0;
        alignas(kPage) std::uint8_t array[kBytes];
        fill(array, kBytes, 5);
        place.store(array);
        std::uint64_t rounds = 0;
        while (!is_over.load()) {
            ++above;
            ++rounds;
            EXPECT_TRUE(recurse(8));
        }
        EXPECT_EQ(above, rounds);
        EXPECT_TRUE(holds(array, kBytes, 5));
    });
    while (place.load() == nullptr)
        std::this_thread::yield();
    for (int i = 0; i < 200; ++i)
        ASSERT_EQ(ask(place.load(), kBytes), Refusal::none);
    is_over.store(true);
    other.join();
}

// Broken by a child that shares the array with its parent.
TEST_F(AdoptStack, a_child_has_its_own_copy_of_an_array) {
    alignas(kPage) std::uint8_t array[kBytes];
    fill(array, kBytes, 6);
    Adoption adoption;
    ASSERT_EQ(ask(array, kBytes, &adoption), Refusal::none);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool is_same = holds(array, kBytes, 6) && is_private(array);
        fill(array, kBytes, 7);
        _exit(is_same ? 0 : 1);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    EXPECT_TRUE(holds(array, kBytes, 6));
    EXPECT_FALSE(is_private(array));
    end(adoption);
    EXPECT_TRUE(holds(array, kBytes, 6));
}

namespace {

// Forks in a frame inside [low, high).
[[gnu::noinline]] int fork_inside(std::uint64_t low, std::uint64_t high) {
    const std::uint64_t here = number(__builtin_frame_address(0));
    if (here >= high - kPage) {
        auto *const room = static_cast<std::atomic<char> *>(alloca(here - high + 2 * kPage));
        room[0] = 1;
        const int how = fork_inside(low, high);
        return room[0] == 1 ? how : -1;
    }
    EXPECT_GT(here, low + 2 * kPage);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int how = 0;
    return waitpid(child, &how, 0) == child ? how : -1;
}

}  // namespace

// Broken by a parent and a child that run in one shared frame and change each other's words. If a
// function runs on registered pages, or its array is still registered after its return, the child
// of a fork ends and the parent continues.
TEST_F(AdoptStack, a_fork_on_a_registered_stack_ends_the_child_and_not_the_parent) {
    // Pages below this thread's frames, like those of an array whose function has returned.
    EXPECT_TRUE(recurse(64));
    const std::uint64_t here = number(__builtin_frame_address(0));
    auto *const array = reinterpret_cast<std::uint8_t *>((here / kPage - 40) * kPage);
    Adoption adoption;
    // Another thread registers the pages below this thread's frames.
    std::thread([&] { ASSERT_EQ(ask(array, kBytes, &adoption), Refusal::none); }).join();
    array[0] = 9;
    const int how = fork_inside(number(array), number(array) + kBytes);
    EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGSEGV) << how;
    // A thread whose frames are elsewhere forks as usual.
    std::thread([&] {
        const pid_t child = fork();
        if (child == 0) _exit(array[0] == 9 ? 0 : 1);
        int after = 0;
        ASSERT_EQ(waitpid(child, &after, 0), child);
        EXPECT_TRUE(WIFEXITED(after) && WEXITSTATUS(after) == 0) << after;
    }).join();
    std::thread([&] { end(adoption); }).join();
    EXPECT_TRUE(recurse(64));
    const pid_t child = fork();
    if (child == 0) _exit(recurse(64) ? 0 : 1);
    int after = 0;
    ASSERT_EQ(waitpid(child, &after, 0), child);
    EXPECT_TRUE(WIFEXITED(after) && WEXITSTATUS(after) == 0);
}
