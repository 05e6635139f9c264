// Programs fork, free, realloc and trim the heap while memory is adopted; huge pages stay huge.
// Everything must behave as with ordinary memory, and nothing may be lost.
#include "adopt_fixture.hpp"

#include <malloc.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "memory/adopt/placement.hpp"
#include "memory/adopt/table.hpp"
#include "memory/xpmem.hpp"

extern char **environ;

using namespace adopt_test;
using sennit::memory::xpmem_map;
using sennit::memory::xpmem_offer;
using sennit::memory::xpmem_replace;
using sennit::memory::xpmem_unmap;
using sennit::memory::xpmem_withdraw;
using sennit::memory::XpmemCalls;
using sennit::memory::XpmemPart;

namespace {

// Runs `child` in a forked process and returns its result: 0 means success.
template <class Child>
int in_child(Child child) {
    const pid_t made = fork();
    if (made == 0) _exit(child());
    int state = 0;
    EXPECT_EQ(waitpid(made, &state, 0), made);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 100 + WTERMSIG(state);
}

std::uint8_t *fresh_pages(std::size_t bytes) {
    return static_cast<std::uint8_t *>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

}  // namespace

// Broken by a child that stores into its parent's memory, or sees later stores of its parent.
TEST_F(Adopt, parent_and_child_of_a_fork_each_have_their_own_copy) {
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{70000}, std::size_t{5} << 20}) {
        const auto memory = std::make_unique<std::uint8_t[]>(bytes);
        fill(memory.get(), bytes, 2);
        const Adoption adoption = take(memory.get(), bytes);
        int to_child[2];
        ASSERT_EQ(pipe(to_child), 0);
        const pid_t made = fork();
        if (made == 0) {
            char go = 0;
            if (read(to_child[0], &go, 1) != 1) _exit(1);
            if (!holds(memory.get(), bytes, 2)) _exit(2);
            fill(memory.get(), bytes, 5);
            _exit(holds(memory.get(), bytes, 5) && is_private(memory.get()) ? 0 : 3);
        }
        fill(memory.get(), bytes, 6);
        EXPECT_EQ(write(to_child[1], "g", 1), 1);
        int state = 0;
        ASSERT_EQ(waitpid(made, &state, 0), made);
        EXPECT_EQ(state, 0);
        EXPECT_TRUE(holds(memory.get(), bytes, 6));
        EXPECT_FALSE(is_private(memory.get()));
        end(adoption);
        EXPECT_TRUE(holds(memory.get(), bytes, 6));
        (void)close(to_child[0]);
        (void)close(to_child[1]);
    }
}

// Broken by a grandchild that shares memory with its parent or grandparent, or an unusable heap.
TEST_F(Adopt, a_child_allocates_and_forks_on) {
    const auto memory = std::make_unique<std::uint8_t[]>(30000);
    fill(memory.get(), 30000, 2);
    const Adoption adoption = take(memory.get(), 30000);
    const int code = in_child([&] {
        std::vector<std::unique_ptr<char[]>> more;
        for (std::size_t i = 1; i < 2000; ++i)
            more.push_back(std::make_unique<char[]>(i));
        const std::uint8_t before = memory[6];
        const int inner = in_child([&] {
            memory[5] = 1;
            return memory[6] == before ? 0 : 1;
        });
        return inner == 0 && holds(memory.get(), 30000, 2) ? 0 : 4;
    });
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(holds(memory.get(), 30000, 2));
    end(adoption);
}

// Broken by a fork that deadlocks with registrations in other threads.
TEST_F(Adopt, forks_and_registrations_of_threads_do_not_wait_for_each_other) {
    leave_out_without_guard();
    std::atomic<bool> is_over{false};
    std::thread registers([&] {
        const auto first = std::make_unique<std::uint8_t[]>(8192);  // the start of the arena
        const auto memory = std::make_unique<std::uint8_t[]>(20000);
        while (!is_over.load())
            end(take(memory.get(), 20000));
    });
    std::thread allocates([&] {
        while (!is_over.load())
            std::free(std::malloc(1000));
    });
    for (int i = 0; i < 200; ++i)
        EXPECT_EQ(in_child([] { return 0; }), 0);
    is_over.store(true);
    registers.join();
    allocates.join();
}

// Broken by posix_spawn treated as a fork, or a file descriptor that the new program inherits.
TEST_F(Adopt, a_spawned_program_changes_nothing) {
    const auto memory = std::make_unique<std::uint8_t[]>(30000);
    fill(memory.get(), 30000, 2);
    const Adoption adoption = take(memory.get(), 30000);
    char name[] = "true";
    char *words[] = {name, nullptr};
    pid_t made = 0;
    ASSERT_EQ(posix_spawnp(&made, "true", nullptr, nullptr, words, environ), 0);
    int state = 0;
    ASSERT_EQ(waitpid(made, &state, 0), made);
    EXPECT_EQ(state, 0);
    EXPECT_EQ(std::system("true"), 0);
    EXPECT_TRUE(holds(memory.get(), 30000, 2));
    EXPECT_FALSE(is_private(memory.get()));
    end(adoption);
}

// Broken by a table that mistakes new memory at an old address for the memory that was there
// before.
TEST_F(Adopt, new_memory_at_an_adopted_address_is_adopted_anew) {
    constexpr std::size_t kBytes = 1 << 20;
    auto *const memory = fresh_pages(kBytes);
    fill(memory, kBytes, 1);
    const Adoption old = take(memory, kBytes);
    ASSERT_EQ(munmap(memory, kBytes), 0);
    ASSERT_EQ(mmap(memory, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                   -1, 0),
              memory);
    fill(memory, kBytes, 2);
    const Adoption anew = take(memory + 5, kBytes - 5);
    EXPECT_NE(anew.extents[0].file_offset, old.extents[0].file_offset);
    {
        const View late(rank.memory_file, old.extents[0]);
        late.pages()[0] = 99;
    }
    end(old);
    EXPECT_FALSE(is_private(memory));
    EXPECT_TRUE(holds(memory, kBytes, 2));
    end(anew);
    EXPECT_TRUE(is_private(memory));
    EXPECT_TRUE(holds(memory, kBytes, 2));
    ASSERT_EQ(munmap(memory, kBytes), 0);
}

// Broken by a return that replaces pages which now belong to someone else.
TEST_F(Adopt, a_replaced_half_of_a_run_is_left_alone) {
    constexpr std::size_t kBytes = 64 * 4096;
    auto *const memory = fresh_pages(kBytes);
    fill(memory, kBytes, 1);
    const Adoption adoption = take(memory, kBytes);
    ASSERT_EQ(mmap(memory, kBytes / 2, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              memory);
    fill(memory, kBytes / 2, 7);
    end(adoption);
    EXPECT_TRUE(holds(memory, kBytes / 2, 7));
    for (std::size_t i = kBytes / 2; i < kBytes; ++i)
        ASSERT_EQ(memory[i], byte_of(1, i));
    EXPECT_TRUE(is_private(memory + kBytes - 1));
    ASSERT_EQ(munmap(memory, kBytes), 0);
}

// Broken by a return that makes read-only pages writable again, or loses them.
TEST_F(Adopt, adopted_pages_that_became_read_only_stay_as_they_are) {
    constexpr std::size_t kBytes = 64 * 4096;
    auto *const memory = fresh_pages(kBytes);
    fill(memory, kBytes, 1);
    const Adoption adoption = take(memory, kBytes);
    ASSERT_EQ(mprotect(memory, kBytes / 2, PROT_READ), 0);
    end(adoption);
    EXPECT_TRUE(holds(memory, kBytes, 1));
    KernelRecord record;
    Mapping mapping;
    ASSERT_TRUE(record.find(number(memory), &mapping));
    EXPECT_FALSE(mapping.writable);
    EXPECT_TRUE(is_private(memory + kBytes - 1));
    ASSERT_EQ(munmap(memory, kBytes), 0);
}

// Broken by a run that is considered lost because the kernel's record could not be read; its part
// of the file would be emptied while the program uses it.
TEST_F(Adopt, without_a_descriptor_nothing_moves_and_nothing_is_lost) {
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(4096, 8 * 4096));
    fill(memory, 8 * 4096, 2);
    const Adoption adoption = take(memory, 4 * 4096);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const Refusal found = refusal(memory, 8 * 4096);
    const int code = in_child([&] {
        fill(memory, 8 * 4096, 3);
        return holds(memory, 8 * 4096, 3) ? 0 : 1;
    });
    const bool kept = holds(memory, 8 * 4096, 2);
    end(adoption);
    const bool kept_after = holds(memory, 8 * 4096, 2);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(found, Refusal::no_record);
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(kept) << "the child stored into its parent";
    EXPECT_TRUE(kept_after) << "the pages were emptied";
    EXPECT_EQ(in_child([&] {
                  fill(memory, 8 * 4096, 3);
                  return 0;
              }),
              0);
    // The pages that had to stay in the file go back at the next registration.
    end(take(memory, 4 * 4096));
    EXPECT_TRUE(is_private(memory));
    EXPECT_TRUE(holds(memory, 8 * 4096, 2));
    std::free(memory);
}

// Broken by two ranks of one process that both take a page for one of their own file.
TEST_F(Adopt, a_page_in_the_file_of_another_rank_of_the_process_is_refused) {
    sennit::Rank other;
    sennit::memory::LocalSegments other_segments;
    ASSERT_EQ(sennit::memory::file_create(&other.memory_file), SENNIT_OK);
    other.segments = &other_segments;
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(4096, 2 * 4096));
    fill(memory, 2 * 4096, 2);
    const Adoption adoption = take(memory, 4096);
    Adoption none;
    const Refused refused = adopt(other, AdoptionArgs{number(memory) + 100, 4096, false}, &none);
    EXPECT_EQ(refused.code, Refusal::other_rank);
    EXPECT_TRUE(is_private(memory + 4096)) << "the page moved for the refused buffer stays shared";
    end(adoption);
    ASSERT_TRUE(adopt(other, AdoptionArgs{number(memory) + 100, 4096, false}, &none).is_none());
    end(none);
    EXPECT_TRUE(holds(memory, 2 * 4096, 2));
    detach(other);
    (void)close(other.memory_file);
    std::free(memory);
}

// Broken by a file that ends at the end of the run (SIGBUS), or growth into a neighbour's slot.
TEST_F(Adopt, a_buffer_that_realloc_lengthens_keeps_its_content_and_disturbs_no_other) {
    constexpr std::size_t kBytes = std::size_t{4} << 20;
    constexpr std::size_t kMore = std::size_t{64} << 20;
    auto *memory = static_cast<std::uint8_t *>(std::malloc(kBytes));
    auto *const neighbour = static_cast<std::uint8_t *>(std::malloc(kBytes));
    fill(memory, kBytes, 1);
    fill(neighbour, kBytes, 2);
    const Adoption first = take(memory, kBytes);
    const Adoption second = take(neighbour, kBytes);
    memory = static_cast<std::uint8_t *>(std::realloc(memory, kMore));
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(holds(memory, kBytes, 1));
    for (std::size_t i = kBytes; i < kMore; i += 4096)
        ASSERT_EQ(memory[i], 0) << i;
    fill(memory, kMore, 3);
    EXPECT_TRUE(holds(neighbour, kBytes, 2));
    EXPECT_EQ(in_child([&] {
                  fill(memory, kMore, 4);
                  return holds(memory, kMore, 4) ? 0 : 1;
              }),
              0);
    end(first);
    EXPECT_TRUE(holds(memory, kMore, 3));
    end(second);
    EXPECT_TRUE(holds(neighbour, kBytes, 2));
    EXPECT_TRUE(holds(memory, kMore, 3));
    EXPECT_EQ(in_child([&] {
                  fill(memory, kMore, 4);
                  return 0;
              }),
              0);
    EXPECT_TRUE(holds(memory, kMore, 3)) << "the child stored into its parent";
    memory = static_cast<std::uint8_t *>(std::realloc(memory, kBytes));
    EXPECT_TRUE(holds(memory, kBytes, 3));
    std::free(memory);
    std::free(neighbour);
}

// Broken by changes to the allocator's own fields.
TEST_F(Adopt, the_heap_grows_and_is_trimmed_over_adopted_buffers) {
    std::vector<std::unique_ptr<std::uint8_t[]>> buffers;
    std::vector<Adoption> adoptions;
    for (std::size_t i = 0; i < 200; ++i) {
        buffers.push_back(std::make_unique<std::uint8_t[]>(20000));
        fill(buffers[i].get(), 20000, i);
        if (i % 3 == 0) adoptions.push_back(take(buffers[i].get(), 20000));
    }
    for (std::size_t i = 1; i < 200; i += 3)
        buffers[i].reset();
    (void)malloc_trim(0);
    for (std::size_t i = 1; i < 200; i += 3)
        buffers[i] = std::make_unique<std::uint8_t[]>(15000 + i);
    for (std::size_t i = 0; i < 200; ++i)
        EXPECT_TRUE(i % 3 == 1 || holds(buffers[i].get(), 20000, i)) << i;
    for (const Adoption &adoption : adoptions)
        end(adoption);
    for (std::size_t i = 0; i < 200; ++i)
        EXPECT_TRUE(i % 3 == 1 || holds(buffers[i].get(), 20000, i)) << i;
    buffers.clear();
    (void)malloc_trim(0);
    const auto zeros = std::unique_ptr<std::uint8_t, decltype(&std::free)>(
        static_cast<std::uint8_t *>(std::calloc(100000, 1)), &std::free);
    for (std::size_t i = 0; i < 100000; ++i)
        ASSERT_EQ(zeros.get()[i], 0);
}

namespace {

// Private memory, every page in use, with as many huge pages as the kernel gives at that moment.
class HugeMemory {
  public:
    explicit HugeMemory(std::size_t bytes) : bytes_(bytes), space_(fresh_pages(room())) {
        (void)madvise(data(), bytes, MADV_HUGEPAGE);
        fill(data(), bytes, 1);
    }
    ~HugeMemory() { (void)munmap(space_, room()); }
    HugeMemory(const HugeMemory &) = delete;
    HugeMemory &operator=(const HugeMemory &) = delete;

    std::uint8_t *data() const {
        return space_ + (kHugePageBytes - number(space_) % kHugePageBytes) % kHugePageBytes;
    }
    std::uint64_t huge_kb(const char *field = "AnonHugePages") const {
        return smaps_kb(data(), bytes_, field);
    }

  private:
    std::size_t room() const { return bytes_ + kHugePageBytes; }

    std::size_t bytes_;
    std::uint8_t *space_;
};

}  // namespace

// Broken by small pages in place of huge ones, in the file or after the return. When memory is
// fragmented, the kernel may have too few huge pages for a move: the test asks for as many just
// before and just after, and expects 90 % of the smallest number that it got.
TEST_F(Adopt, huge_pages_stay_huge_in_adoption_and_return) {
    leave_out_without_guard();
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    const HugeMemory memory(kBytes);
    const std::uint64_t given = std::min(memory.huge_kb(), HugeMemory(kBytes).huge_kb());
    if (given == 0) GTEST_SKIP() << "the kernel gives private memory no huge page now";
    const Adoption adoption = take(memory.data(), kBytes);
    const std::uint64_t in_file = memory.huge_kb("ShmemPmdMapped");
    EXPECT_TRUE(holds(memory.data(), kBytes, 1));
    end(adoption);
    const std::uint64_t after = memory.huge_kb();
    const std::uint64_t least = std::min(given, HugeMemory(kBytes).huge_kb()) * 9 / 10;
    EXPECT_GE(in_file, least);
    EXPECT_GE(after, least);
    EXPECT_TRUE(holds(memory.data(), kBytes, 1));
}

// Broken by a reader of /proc/self/maps that differs from the kernel's ioctl.
TEST_F(Adopt, text_and_ioctl_of_the_kernels_record_agree) {
    KernelRecord by_ioctl;
    KernelRecord::set_text_only(true);
    KernelRecord by_text;
    KernelRecord::set_text_only(false);
    std::uint64_t seen = 0;
    Mapping one;
    for (std::uint64_t at = 0; by_ioctl.find(at, &one); at = one.end) {
        Mapping other;
        ASSERT_TRUE(by_text.find(at, &other));
        EXPECT_EQ(one.begin, other.begin);
        EXPECT_EQ(one.end, other.end);
        EXPECT_EQ(one.inode, other.inode);
        EXPECT_EQ(one.device, other.device);
        EXPECT_EQ(one.file_offset, other.file_offset);
        EXPECT_EQ(one.name, other.name);
        EXPECT_EQ(one.shared, other.shared);
        EXPECT_EQ(one.writable, other.writable);
        ++seen;
    }
    EXPECT_GT(seen, 10u);
}

// Broken by a descriptor or a mapping left behind by each registration.
TEST_F(Adopt, ten_thousand_registrations_leave_nothing_behind) {
    const auto count = [] {
        KernelRecord record;
        Mapping mapping;
        int mappings = 0;
        for (std::uint64_t at = 0; record.find(at, &mapping); at = mapping.end)
            ++mappings;
        return mappings;
    };
    const auto memory = std::make_unique<std::uint8_t[]>(50000);
    end(take(memory.get(), 50000));
    const int before = count();
    const int file = dup(0);
    (void)close(file);
    for (int i = 0; i < 10000; ++i)
        end(take(memory.get() + i, 1000));
    EXPECT_LE(count(), before + 30);
    const int later = dup(0);
    EXPECT_EQ(later, file);
    (void)close(later);
    struct stat identity {};
    ASSERT_EQ(fstat(rank.memory_file, &identity), 0);
    EXPECT_EQ(identity.st_blocks, 0);
}

// Broken by a slot that is reused while it is still mapped, or a file that is full after many
// registrations.
TEST_F(Adopt, slots_are_reused_when_the_file_is_full) {
    constexpr std::uint64_t kEnd = std::uint64_t{64} << 20;
    struct ShortFile {
        Table *table = table_open();
        ShortFile() { table->file_end = kEnd; }
        ~ShortFile() { table->file_end = kFileEnd; }
    } const short_file;
    // Static memory cannot grow, so its slots are short.
    static std::uint8_t memory[5000];
    fill(memory, sizeof memory, 1);
    std::set<std::uint64_t> offsets;
    for (int i = 0; i < 500; ++i) {
        const Adoption adoption = take(memory, sizeof memory, true);
        ASSERT_EQ(adoption.count, 1u);
        offsets.insert(adoption.extents[0].file_offset);
        end(adoption);
    }
    EXPECT_GT(offsets.size(), 20u);
    EXPECT_LE(offsets.size(), 32u);
    // Slots that the process still maps are not reused; this view maps all of them.
    void *const view = mmap(nullptr, kEnd, PROT_READ, MAP_SHARED, rank.memory_file, 0);
    EXPECT_EQ(refusal(memory, sizeof memory, true), Refusal::no_room);
    ASSERT_EQ(munmap(view, kEnd), 0);
    EXPECT_EQ(refusal(memory, sizeof memory, true), Refusal::none);
    EXPECT_TRUE(holds(memory, sizeof memory, 1));
}

namespace {

// A fake XPMEM that knows one segment at a time, in this process.
struct FakeXpmem {
    void *address = nullptr;
    std::size_t bytes = 0;
    int attached = 0;
    int made = 0;
    bool refuses = false;
};
FakeXpmem fake;

constexpr XpmemCalls kFakeCalls{
    [] { return 0x26003; },
    [](void *address, std::size_t bytes, int, void *) -> std::int64_t {
        fake.address = address;
        fake.bytes = bytes;
        if (fake.refuses) errno = EPERM;
        return fake.refuses ? -1 : ++fake.made;
    },
    [](std::int64_t) {
        fake.address = nullptr;
        return 0;
    },
    [](std::int64_t segment, int flags, int, void *) -> std::int64_t {
        return flags == 2 && segment == fake.made && fake.address != nullptr ? 0 : -1;
    },
    [](std::int64_t) { return 0; },
    [](XpmemCalls::Address from, std::size_t bytes, void *) -> void * {
        if (from.offset != 0 || bytes != fake.bytes) return reinterpret_cast<void *>(-1L);
        ++fake.attached;
        return fake.address;
    },
    [](void *at) {
        EXPECT_EQ(at, fake.address);
        --fake.attached;
        return 0;
    },
};

}  // namespace

// Broken by the start of a page mistaken for the start of the buffer, or a permit that is not
// released.
TEST_F(Adopt, xpmem_offers_whole_pages_and_attaches_exact_bytes) {
    xpmem_replace(&kFakeCalls);
    alignas(4096) static std::uint8_t pages[3 * 4096];
    XpmemPart part{};
    ASSERT_TRUE(xpmem_offer(number(pages) + 100, 5000, &part).is_none());
    EXPECT_EQ(fake.address, pages);
    EXPECT_EQ(part.bytes, 2 * 4096u);
    EXPECT_EQ(part.head_bytes, 100u);
    sennit::SegmentRecord record{};
    record.mechanism = sennit::Mechanism::xpmem;
    record.mapped_bytes = part.bytes;
    record.head_bytes = part.head_bytes;
    record.mapping_inode = static_cast<std::uint64_t>(part.segment);
    std::byte *pointer = nullptr;
    std::uint64_t permit = 0;
    ASSERT_EQ(xpmem_map(record, &pointer, &permit), SENNIT_OK);
    EXPECT_EQ(reinterpret_cast<std::uint8_t *>(pointer), pages + 100);
    xpmem_unmap(pointer, permit);
    EXPECT_EQ(fake.attached, 0);
    xpmem_withdraw(part.segment);
    EXPECT_EQ(xpmem_map(record, &pointer, &permit), SENNIT_ERR_UNSUPPORTED);
    fake.refuses = true;
    EXPECT_EQ(xpmem_offer(number(pages), 1, &part).code, Refusal::no_device);
    xpmem_replace(nullptr);
}

namespace {

// A fake machine with two NUMA nodes: pages with odd numbers are on the second one.
struct FakeNodes {
    std::vector<int> preferred;
    int saved = 0;
    int restored = 0;
};
FakeNodes nodes;

constexpr PlacementCalls kTwoNodes{
    [] { return 2u; },
    [](std::size_t count, void *const *pages, int *where) {
        for (std::size_t i = 0; i < count; ++i)
            where[i] = static_cast<int>(number(pages[i]) / 4096 % 2);
        return true;
    },
    [](int node) { nodes.preferred.push_back(node); },
    [](void *) { ++nodes.saved; },
    [](const void *) { ++nodes.restored; },
};

}  // namespace

// Broken by pages from the NUMA node of the registering thread instead of their own, or by a
// changed memory policy of that thread. Test machines have one NUMA node, so the kernel is a fake.
TEST_F(Adopt, pages_are_requested_from_their_old_node) {
    leave_out_without_guard();
    placement_replace(&kTwoNodes);
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(4096, 4 * 4096));
    fill(memory, 4 * 4096, 3);
    const int first = static_cast<int>(number(memory) / 4096 % 2);
    const Adoption adoption = take(memory, 4 * 4096);
    EXPECT_EQ(nodes.preferred, (std::vector<int>{first, 1 - first, first, 1 - first}));
    EXPECT_EQ(nodes.saved, 1);
    EXPECT_EQ(nodes.restored, 1);
    end(adoption);
    EXPECT_EQ(nodes.preferred.size(), 8u);
    EXPECT_EQ(nodes.restored, 2);
    EXPECT_TRUE(holds(memory, 4 * 4096, 3));
    placement_replace(nullptr);
    std::free(memory);
}

// Broken by lengths kept in 32 bits.
TEST_F(Adopt, four_gib_are_adopted) {
    constexpr std::size_t kBytes = (std::size_t{4} << 30) + 12345;
    auto *const memory = fresh_pages(kBytes);
    ASSERT_NE(memory, MAP_FAILED);
    for (std::size_t at = 0; at < kBytes; at += 65536)
        memory[at] = static_cast<std::uint8_t>(at >> 16);
    const Adoption adoption = take(memory, kBytes);
    ASSERT_EQ(adoption.count, 1u);
    {
        const View view(rank.memory_file, adoption.extents[0]);
        for (std::size_t at = 0; at < kBytes; at += 65536)
            ASSERT_EQ(view.pages()[at], static_cast<std::uint8_t>(at >> 16)) << at;
    }
    end(adoption);
    for (std::size_t at = 0; at < kBytes; at += 65536)
        ASSERT_EQ(memory[at], static_cast<std::uint8_t>(at >> 16)) << at;
    ASSERT_EQ(munmap(memory, kBytes), 0);
}
