// Adoption in one process: which memory moves, that no store is lost, and which memory comes back.
#include "adopt_fixture.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

using namespace adopt_test;

namespace {

std::uint8_t static_zeros[70000];
std::uint8_t static_data[70000] = {1, 2, 3};

bool under_sanitizer() {
    return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
           dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

// Broken by the error text of a full table, which would make the user search for too many
// registrations.
TEST_F(Adopt, a_missing_descriptor_for_the_file_of_a_rank_is_reported) {
    sennit::Rank other;
    sennit::memory::LocalSegments other_segments;
    ASSERT_EQ(sennit::memory::file_create(&other.memory_file), SENNIT_OK);
    other.segments = &other_segments;
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(4096, 4096));
    fill(memory, 4096, 2);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    // One descriptor stays free, for the kernel's record of the mappings.
    const int lowest_free = fcntl(other.memory_file, F_DUPFD_CLOEXEC, 0);
    ASSERT_EQ(close(lowest_free), 0);
    rlimit one = before;
    one.rlim_cur = static_cast<rlim_t>(lowest_free) + 1;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one), 0);
    Adoption none;
    const Refused refused = adopt(other, AdoptionArgs{number(memory), 4096, false}, &none);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(refused.code, Refusal::no_descriptor);
    EXPECT_EQ(refused.detail, EMFILE);
    EXPECT_TRUE(is_private(memory));
    ASSERT_EQ(close(other.memory_file), 0);
    std::free(memory);
}

}  // namespace

// Broken by pages copied from the wrong place, wrong bytes at the edges of a buffer, a peer with
// another page, or a return after which the buffer is still shared.
TEST_F(Adopt, every_kind_of_private_memory_is_shared_and_becomes_private_again) {
    for (const std::size_t bytes : {1, 8, 100, 4095, 5000, 70000, 100000}) {
        SCOPED_TRACE(bytes);
        const std::unique_ptr<std::uint8_t[]> heap(new std::uint8_t[bytes]);
        use(heap.get(), bytes);
    }
    // Pieces of 2 MiB and a remainder: fewer pieces, and more, than one kernel call makes huge.
    for (const std::size_t bytes : {std::size_t{5} << 20, (std::size_t{37} << 20) + 12345}) {
        SCOPED_TRACE(bytes);
        const auto large = std::make_unique<std::uint8_t[]>(bytes);
        use(large.get(), bytes);
    }
    void *const aligned = std::aligned_alloc(4096, 8 * 4096);
    use(aligned, 8 * 4096);
    std::free(aligned);
    use(static_zeros, sizeof static_zeros);
    use(static_data, sizeof static_data);
    // With a second thread, a page shared with other data moves only if its writers can be held
    // off.
    if (!WriteGuard().open()) return;
    std::thread([this] {
        // The first page of a thread's arena is refused.
        const auto first = std::make_unique<std::uint8_t[]>(8192);
        const auto arena = std::make_unique<std::uint8_t[]>(50000);
        use(arena.get(), 50000);
    }).join();
}

// Broken by a fault in the code for kernels before 6.11 (no ioctl for a mapping) or before 6.4 (no
// write protection of unused pages).
TEST_F(Adopt, adoption_works_on_older_kernels) {
    leave_out_without_guard();
    KernelRecord::set_text_only(true);
    WriteGuard::set_mode(WriteGuard::Mode::older);
    const auto small = std::make_unique<std::uint8_t[]>(5000);
    use(small.get(), 5000);
    const auto large = std::make_unique<std::uint8_t[]>(5 << 20);
    use(large.get(), 5 << 20);
    auto *const fresh = static_cast<std::uint64_t *>(
        mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Stranger stranger(fresh + 3);
    for (int i = 0; i < 200; ++i)
        end(take(fresh + 100, 100000));
    EXPECT_EQ(stranger.stop(), 0u);
    ASSERT_EQ(munmap(fresh, 1 << 20), 0);
    WriteGuard::set_mode(WriteGuard::Mode::best);
    KernelRecord::set_text_only(false);
}

// Broken by a swap that does not hold off a writer of the same page. Runs in the modes that the
// kernel grants with and without privileges.
TEST_F(Adopt, no_store_of_another_thread_is_lost_in_ten_thousand_adoptions) {
    leave_out_without_guard();
    for (const auto mode : {WriteGuard::Mode::best, WriteGuard::Mode::user_only}) {
        WriteGuard::set_mode(mode);
        const auto page = std::unique_ptr<std::uint64_t, decltype(&std::free)>(
            static_cast<std::uint64_t *>(std::aligned_alloc(4096, 4096)), &std::free);
        std::memset(page.get(), 0, 4096);
        Stranger stranger(page.get());
        std::uint64_t *const buffer = page.get() + 100;
        for (int i = 0; i < 5000; ++i) {
            const Adoption adoption = take(buffer, 8);
            ASSERT_EQ(adoption.count, 1u);
            end(adoption);
        }
        EXPECT_EQ(stranger.stop(), 0u);
        EXPECT_GT(stranger.made(), 10000u);
    }
    WriteGuard::set_mode(WriteGuard::Mode::best);
}

// Stores in the middle of a large buffer, whose pages move in pieces of up to 2 MiB, and first
// stores to unused pages.
TEST_F(Adopt, no_store_inside_a_large_buffer_is_lost) {
    leave_out_without_guard();
    constexpr std::size_t kBytes = std::size_t{6} << 20;
    for (int round = 0; round < 40; ++round) {
        auto *const memory = static_cast<std::uint64_t *>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        // In every second round all pages have been used before.
        if (round % 2 == 0) fill(memory, kBytes, 3);
        memory[kBytes / 16 + 3] = 0;
        Stranger stranger(memory + kBytes / 16 + 3);
        std::atomic<bool> is_over{false};
        std::thread first_user([&] {
            // One word of each page, in the opposite order to the move.
            for (std::size_t page = kBytes / 4096; page-- > 0 && !is_over.load();)
                memory[page * 512 + 5] = page;
        });
        const Adoption adoption = take(reinterpret_cast<char *>(memory) + 100, kBytes - 200);
        first_user.join();
        is_over.store(true);
        end(adoption);
        EXPECT_EQ(stranger.stop(), 0u);
        for (std::size_t page = 0; page < kBytes / 4096; ++page)
            ASSERT_EQ(memory[page * 512 + 5], page);
        ASSERT_EQ(munmap(memory, kBytes), 0);
    }
}

// Broken by bytes that another thread's system call writes to a moving page and that are lost, or
// by a system call that fails although this process may hold off stores of the kernel.
TEST_F(Adopt, bytes_read_into_an_edge_page_are_never_lost) {
    leave_out_without_guard();
    const long full = syscall(SYS_userfaultfd, O_CLOEXEC);
    for (const auto mode : {WriteGuard::Mode::best, WriteGuard::Mode::user_only}) {
        const bool may_fail = mode == WriteGuard::Mode::user_only || full < 0;
        WriteGuard::set_mode(mode);
        auto *const page = static_cast<std::uint64_t *>(std::aligned_alloc(4096, 4096));
        std::memset(page, 0, 4096);
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        std::atomic<bool> is_over{false};
        std::atomic<std::uint64_t> wrong{0};
        std::atomic<std::uint64_t> failed{0};
        std::thread reader([&] {
            for (std::uint64_t number = 1; !is_over.load(); ++number) {
                if (write(ends[1], &number, sizeof number) != sizeof number) ++wrong;
                while (read(ends[0], page, sizeof *page) != sizeof *page)
                    ++failed;
                if (*page != number) ++wrong;
            }
        });
        for (int i = 0; i < 1500; ++i)
            end(take(page + 100, 8));
        is_over.store(true);
        reader.join();
        EXPECT_EQ(wrong.load(), 0u);
        if (!may_fail) {
            EXPECT_EQ(failed.load(), 0u);
        }
        (void)close(ends[0]);
        (void)close(ends[1]);
        std::free(page);
    }
    if (full >= 0) (void)close(static_cast<int>(full));
    WriteGuard::set_mode(WriteGuard::Mode::best);
}

// Broken by a forked child whose arena differs from its parent's because the page was copied while
// a thread allocated from it.
TEST_F(Adopt, the_first_page_of_an_arena_is_refused_unless_the_buffer_fills_it) {
    constexpr std::uint64_t kArena = std::uint64_t{64} << 20;
    auto *const room =
        static_cast<std::uint8_t *>(mmap(nullptr, 2 * kArena, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(room, MAP_FAILED);
    std::uint8_t *const begin = room + (kArena - number(room) % kArena) % kArena;
    // As in glibc, the first word points to the arena's state, which follows close behind.
    const std::uint64_t state = number(begin) + 48;
    std::memcpy(begin, &state, sizeof state);
    EXPECT_EQ(refusal(begin + 2000, 100), Refusal::arena_start);
    EXPECT_EQ(refusal(begin + 10, 5000), Refusal::arena_start);
    EXPECT_EQ(refusal(begin + 4096, 4096), Refusal::none);
    EXPECT_EQ(refusal(begin, 4096), Refusal::none);
    ASSERT_EQ(munmap(room, 2 * kArena), 0);
    // The real glibc, in a thread with its own arena. Sanitizers have their own allocator.
    if (under_sanitizer()) return;
    std::thread([this] {
        const auto small = std::make_unique<std::uint8_t[]>(100);
        auto *const heap = reinterpret_cast<std::uint8_t *>(number(small.get()) / kArena * kArena);
        EXPECT_EQ(refusal(heap + 3000, 100), Refusal::arena_start);
    }).join();
}

// Broken by a moment in which the page shows other bytes.
TEST_F(Adopt, a_reader_sees_the_same_bytes_during_a_move) {
    leave_out_without_guard();
    constexpr std::size_t kBytes = std::size_t{5} << 20;
    const auto memory = std::make_unique<std::uint8_t[]>(kBytes);
    fill(memory.get(), kBytes, 9);
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> wrong{0};
    std::thread reader([&] {
        for (std::size_t at = 0; !is_over.load(std::memory_order_relaxed);
             at = (at + 4093) % kBytes)
            if (memory[at] != byte_of(9, at)) ++wrong;
    });
    for (int i = 0; i < 20; ++i)
        end(take(memory.get(), kBytes));
    is_over.store(true);
    reader.join();
    EXPECT_EQ(wrong.load(), 0u);
}

// Broken by a registration that ends another one on the same pages, or moves pages twice.
TEST_F(Adopt, overlapping_nested_and_repeated_registrations_share_their_pages) {
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(4096, 10 * 4096));
    fill(memory, 10 * 4096, 4);
    const Adoption middle = take(memory + 2 * 4096, 3 * 4096);
    const Adoption whole = take(memory + 10, 9 * 4096);
    EXPECT_EQ(whole.count, 3u);
    EXPECT_EQ(whole.extents[1].file_offset, middle.extents[0].file_offset);
    const Adoption inner = take(memory + 3 * 4096 + 5, 1);
    EXPECT_EQ(inner.extents[0].file_offset, middle.extents[0].file_offset + 4096);
    const Adoption again = take(memory + 2 * 4096, 3 * 4096);
    EXPECT_EQ(again.extents[0].run, middle.extents[0].run);
    end(middle);
    end(inner);
    EXPECT_FALSE(is_private(memory + 3 * 4096));
    const View view(rank.memory_file, whole.extents[1]);
    view.pages()[0] = 55;
    EXPECT_EQ(memory[2 * 4096], 55);
    memory[2 * 4096] = byte_of(4, 2 * 4096);
    end(whole);
    EXPECT_TRUE(is_private(memory));
    EXPECT_FALSE(is_private(memory + 3 * 4096));
    end(again);
    EXPECT_TRUE(is_private(memory + 3 * 4096));
    EXPECT_TRUE(holds(memory, 10 * 4096, 4));
    std::free(memory);
}

// Broken by a page that moves once for each buffer on it, or a slot given to a neighbour.
TEST_F(Adopt, a_thousand_small_buffers_are_adopted_one_by_one) {
    std::vector<std::unique_ptr<std::uint8_t[]>> buffers;
    std::vector<Adoption> adoptions;
    const auto bytes_of = [](std::size_t i) { return i % 16 + 1; };
    for (std::size_t i = 0; i < 1000; ++i) {
        buffers.push_back(std::make_unique<std::uint8_t[]>(bytes_of(i)));
        fill(buffers[i].get(), bytes_of(i), i);
    }
    for (std::size_t i = 0; i < 1000; ++i)
        adoptions.push_back(take(buffers[i].get(), bytes_of(i)));
    for (std::size_t i = 0; i < 1000; ++i) {
        EXPECT_TRUE(holds(buffers[i].get(), bytes_of(i), i));
        const View view(rank.memory_file, adoptions[i].extents[0]);
        const auto head = number(buffers[i].get()) - adoptions[i].extents[0].address;
        EXPECT_EQ(view.pages()[head], byte_of(i, 0));
    }
    for (std::size_t i = 0; i < 1000; ++i)
        end(adoptions[(i * 7) % 1000]);
    for (std::size_t i = 0; i < 1000; ++i) {
        EXPECT_TRUE(holds(buffers[i].get(), bytes_of(i), i));
        EXPECT_TRUE(is_private(buffers[i].get()));
    }
}

// Broken by a table that keeps a run after it has gone back, or changes to the allocator's own
// fields when it reuses the memory at the same address.
TEST_F(Adopt, memory_that_malloc_gives_again_at_its_address_is_adopted_again) {
    if (under_sanitizer()) GTEST_SKIP() << "a sanitizer keeps what was freed";
    for (const std::size_t bytes : {24, 5000, 40000, 1 << 20}) {
        SCOPED_TRACE(bytes);
        void *memory = std::malloc(bytes);
        bool came_again = false;
        // A block that malloc mapped goes back to the kernel, and the next block may come from the
        // heap.
        for (int attempt = 0; attempt < 20 && !came_again; ++attempt) {
            use(memory, bytes);
            const std::uint64_t before = number(memory);
            std::free(memory);
            memory = std::malloc(bytes);
            came_again = number(memory) == before;
        }
        EXPECT_TRUE(came_again);
        use(memory, bytes);
        std::free(memory);
    }
}

// Broken by memory taken for pages that nobody used, or a huge buffer that is read as a whole.
TEST_F(Adopt, pages_that_were_never_used_take_no_memory) {
    constexpr std::size_t kBytes = std::size_t{1} << 30;
    auto *const memory =
        static_cast<std::uint8_t *>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    // Where transparent huge pages are always on, each used page would otherwise take 2 MiB.
    (void)madvise(memory, kBytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < kBytes; at += kBytes / 64)
        memory[at + 17] = static_cast<std::uint8_t>(at / (kBytes / 64) + 1);
    const Adoption adoption = take(memory, kBytes);
    struct stat identity {};
    ASSERT_EQ(fstat(rank.memory_file, &identity), 0);
    EXPECT_LE(identity.st_blocks * 512, 70 * 4096);
    for (std::size_t at = 0; at < kBytes; at += kBytes / 64)
        EXPECT_EQ(memory[at + 17], at / (kBytes / 64) + 1);
    EXPECT_EQ(memory[5000], 0);
    end(adoption);
    for (std::size_t at = 0; at < kBytes; at += kBytes / 64)
        EXPECT_EQ(memory[at + 17], at / (kBytes / 64) + 1);
    ASSERT_EQ(munmap(memory, kBytes), 0);
}

// Broken by a move of memory that is shared, or not ordinary.
TEST_F(Adopt, unmovable_memory_is_refused_with_its_reason_and_stays) {
    // A sanitizer keeps local variables elsewhere, but the frame itself is on the stack.
    EXPECT_EQ(refusal(__builtin_frame_address(0), 8), Refusal::stack);
    const auto map = [](int protection, int flags, int file = -1) {
        return static_cast<std::uint8_t *>(mmap(nullptr, 16384, protection, flags, file, 0));
    };
    constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
    constexpr int kBoth = PROT_READ | PROT_WRITE;
    EXPECT_EQ(refusal(map(PROT_READ, kPrivate), 16384), Refusal::read_only);
    EXPECT_EQ(refusal(map(PROT_NONE, kPrivate), 16384), Refusal::read_only);
    EXPECT_EQ(refusal(map(kBoth | PROT_EXEC, kPrivate), 16384), Refusal::executable);
    EXPECT_EQ(refusal(map(kBoth, MAP_SHARED | MAP_ANONYMOUS), 16384), Refusal::shared);
    void *const large_pages = mmap(nullptr, 2 << 20, kBoth, kPrivate | MAP_HUGETLB, -1, 0);
    // Most machines have no reserved huge pages.
    if (large_pages != MAP_FAILED) {
        EXPECT_NE(refusal(large_pages, 2 << 20), Refusal::none);
    }
    std::FILE *const file = std::tmpfile();
    ASSERT_EQ(ftruncate(fileno(file), 16384), 0);
    EXPECT_EQ(refusal(map(kBoth, MAP_SHARED, fileno(file)), 16384), Refusal::shared);
    EXPECT_EQ(refusal(map(kBoth, MAP_PRIVATE, fileno(file)), 16384), Refusal::file);
    std::uint8_t *const hole = map(kBoth, kPrivate);
    ASSERT_EQ(munmap(hole + 4096, 4096), 0);
    EXPECT_EQ(refusal(hole, 16384), Refusal::not_mapped);
    {
        WriteGuard other;
        std::uint8_t *const guarded = map(kBoth, kPrivate);
        if (other.open() && other.cover(number(guarded), 16384)) {
            EXPECT_EQ(refusal(guarded, 100), Refusal::kernel_failed);
        }
    }
    std::uint8_t *const locked = map(kBoth, kPrivate);
    // Not mlock(): sanitizers do nothing for it.
    if (syscall(SYS_mlock, locked, 16384) == 0) {
        EXPECT_EQ(refusal(locked, 100), Refusal::locked);
        std::uint8_t *const pinned = map(kBoth, kPrivate);
        ASSERT_EQ(madvise(pinned, 16384, MADV_DONTFORK), 0);
        EXPECT_EQ(refusal(pinned, 100), Refusal::not_copied_by_fork);
        const auto free_memory = std::make_unique<std::uint8_t[]>(1000);
        EXPECT_EQ(refusal(free_memory.get(), 1000), Refusal::none);
        ASSERT_EQ(syscall(SYS_munlock, locked, 16384), 0);
    }
    std::fclose(file);
}

// Broken by a swap under a thread's own frames or of its control block, which ends the program.
TEST_F(Adopt, stacks_and_thread_storage_of_other_threads_are_refused) {
    static thread_local std::uint64_t own_word = 3;
    EXPECT_EQ(refusal(&own_word, 8), Refusal::thread_stack);
    std::atomic<void *> words[2] = {nullptr, nullptr};
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        words[0].store(__builtin_frame_address(0));
        words[1].store(&own_word);
        while (!is_over.load())
            std::this_thread::yield();
    });
    while (words[1].load() == nullptr)
        std::this_thread::yield();
    EXPECT_EQ(refusal(words[0].load(), 8), Refusal::thread_stack);
    EXPECT_EQ(refusal(words[1].load(), 8), Refusal::thread_stack);
    is_over.store(true);
    other.join();
}

// Broken by a move of pages that also hold other data when their writers cannot be held off.
TEST_F(Adopt, without_protection_shared_pages_need_consent_and_whole_pages_do_not) {
    WriteGuard::set_mode(WriteGuard::Mode::refused);
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(4096, 8 * 4096));
    fill(memory, 8 * 4096, 6);
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        while (!is_over.load())
            std::this_thread::yield();
    });
    EXPECT_EQ(refusal(memory + 8, 5000), Refusal::other_writers);
    end(take(memory + 8, 5000, true));
    end(take(memory, 2 * 4096));
    is_over.store(true);
    other.join();
    // Sanitizers have their own threads.
    if (thread_count() == 1) end(take(memory + 8, 5000));
    EXPECT_TRUE(holds(memory, 8 * 4096, 6));
    WriteGuard::set_mode(WriteGuard::Mode::best);
    std::free(memory);
}

// Broken by a page that moves while the kernel copies a peer's data to it.
TEST_F(Adopt, pages_of_a_copied_region_neither_move_nor_go_back) {
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(4096, 4 * 4096));
    fill(memory, 4 * 4096, 8);
    hold(number(memory) + 100, 50);
    EXPECT_EQ(refusal(memory + 1000, 10), Refusal::held);
    EXPECT_EQ(refusal(memory + 4096, 4096), Refusal::none);
    const Adoption other = take(memory + 2 * 4096, 4096);
    hold(number(memory) + 2 * 4096 + 7, 1);
    end(other);
    EXPECT_FALSE(is_private(memory + 2 * 4096));
    let_go(number(memory) + 2 * 4096 + 7, 1);
    EXPECT_TRUE(is_private(memory + 2 * 4096));
    let_go(number(memory) + 100, 50);
    EXPECT_EQ(refusal(memory + 1000, 10), Refusal::none);
    EXPECT_TRUE(holds(memory, 4 * 4096, 8));
    std::free(memory);
}
