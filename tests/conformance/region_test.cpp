// Registered memory: existing memory of the program, reached by other ranks.
#include <sys/mman.h>

#include <memory>
#include <set>

#include "harness.hpp"

using namespace conformance;

namespace {

std::uint8_t static_memory[30000];

// True if the ranks of this run reach each other's private memory: a machine may forbid it to
// processes. Checks the stack and static variables, because Sennit may move the pages of one of
// them to a memory file; under the address sanitizer local variables are not on the stack. The same
// answer on all ranks. Collective.
bool private_memory_is_reached(Ranks &test) {
    std::uint64_t word = 5;
    bool reached = true;
    for (void *memory : {static_cast<void *>(&word), static_cast<void *>(static_memory)}) {
        sennit_region mine = SENNIT_REGION_NULL;
        test.ok(sennit_register(memory, sizeof word, 0, &mine));
        const auto all = test.tell_all(mine);
        std::uint64_t got = 0;
        sennit_status status = SENNIT_OK;
        for (const sennit_region &region : all) {
            const sennit_status one = sennit_get(&got, region.gptr, sizeof got);
            if (one != SENNIT_OK) status = one;
        }
        for (const sennit_status theirs : test.tell_all(status)) {
            if (theirs != SENNIT_OK) test.is(theirs, SENNIT_ERR_UNSUPPORTED);
            reached &= theirs == SENNIT_OK;
        }
        test.ok(sennit_deregister(mine));
    }
    if (!reached && test.rank == 0)
        std::fprintf(stderr, "left out: this machine forbids copies between processes\n");
    return reached;
}

// Memory between two inaccessible pages.
class Pages {
  public:
    explicit Pages(std::size_t pages) : bytes_((pages + 2) * kPage) {
        whole_ = static_cast<std::uint8_t *>(
            mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        (void)mprotect(begin(), pages * kPage, PROT_READ | PROT_WRITE);
    }
    ~Pages() { (void)munmap(whole_, bytes_); }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    std::uint8_t *begin() const { return whole_ + kPage; }

    static constexpr std::size_t kPage = 4096;

  private:
    std::size_t bytes_;
    std::uint8_t *whole_;
};

// The next rank writes all of it and reads it back, with several forms of put and get.
void use_region(Ranks &test, std::uint8_t *memory, std::size_t bytes, std::uint64_t salt) {
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory, bytes, 0, &mine));
    test.equal(mine.bytes, bytes);
    const auto all = test.tell_all(mine);
    const auto theirs = all[static_cast<std::size_t>(test.previous())];
    std::vector<std::uint8_t> data(bytes + 1, 0xAA);
    fill(data.data(), bytes, salt + static_cast<std::uint64_t>(test.rank));
    const std::size_t half = bytes / 2;
    test.ok(sennit_put(theirs.gptr, data.data(), half));
    sennit_request request = SENNIT_REQUEST_NULL;
    const sennit_gptr middle = sennit_gptr_add(theirs.gptr, static_cast<int64_t>(half));
    test.ok(sennit_put_nb(middle, data.data() + half, bytes - half, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    test.barrier();
    check_pattern(test, memory, bytes, salt + static_cast<std::uint64_t>(test.next()));
    std::vector<std::uint8_t> back(bytes + 1, 0xBB);
    test.ok(sennit_get(back.data(), theirs.gptr, half));
    test.ok(sennit_get_nbi(back.data() + half, middle, bytes - half));
    test.ok(sennit_flush(theirs.gptr.rank, SENNIT_FOREVER));
    check_pattern(test, back.data(), bytes, salt + static_cast<std::uint64_t>(test.rank));
    test.equal(back[bytes], 0xBB);
    const sennit_gptr end = sennit_gptr_add(theirs.gptr, static_cast<int64_t>(bytes));
    test.is(sennit_put(end, data.data(), 1), SENNIT_ERR_RANGE);
    test.barrier();
    test.ok(sennit_deregister(mine));
    test.barrier();
}

// Heap memory at an odd address. In a process of several ranks it shares no page with other data: a
// page moves to one rank's file, and another rank's bytes on it could only be copied by the kernel,
// which not every path can use.
class Heap {
  public:
    Heap(const Ranks &test, std::size_t bytes)
        : lead_(test.one_process ? Pages::kPage + 3 : 3),
          memory_(std::make_unique<std::uint8_t[]>(bytes + 2 * lead_)) {}
    std::uint8_t *begin() const { return memory_.get() + lead_; }

  private:
    std::size_t lead_;
    std::unique_ptr<std::uint8_t[]> memory_;
};

}  // namespace

// Broken by a wrong address, a lost byte at the edge of a page, or unreachable kinds of memory.
RANK_TEST(region, memory_of_any_kind_is_read_and_written_by_others, kAnything) {
    if (!private_memory_is_reached(test)) return;
    std::uint8_t on_stack[9000];
    const std::size_t most = test.quick ? 70000 : std::size_t{3} << 20;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{7}, std::size_t{8},
                                    std::size_t{4095}, std::size_t{4097}, most + 3}) {
        const Heap heap(test, bytes);
        use_region(test, heap.begin(), bytes, bytes);
    }
    // Ranks of one process share it.
    if (!test.one_process) use_region(test, static_memory + 1, 4096, 11);
    use_region(test, on_stack, sizeof on_stack, 12);
    const Pages pages(3);
    use_region(test, pages.begin(), 3 * Pages::kPage, 13);
}

// Broken by registrations that share a count or a slot, or end each other.
RANK_TEST(region, overlapping_and_repeated_registrations_live_by_themselves, kAnything) {
    if (!private_memory_is_reached(test)) return;
    std::uint64_t words[64] = {};
    sennit_region regions[3];
    test.ok(sennit_register(words, sizeof words, 0, &regions[0]));
    test.ok(sennit_register(words, sizeof words, 0, &regions[1]));
    test.ok(sennit_register(words + 8, 64, 0, &regions[2]));
    struct Three {
        sennit_region regions[3];
    };
    Three mine{};
    std::memcpy(mine.regions, regions, sizeof regions);
    const Three theirs = test.tell_all(mine)[static_cast<std::size_t>(test.next())];
    const std::uint64_t value = 100 + static_cast<std::uint64_t>(test.rank);
    test.ok(sennit_put(sennit_gptr_add(theirs.regions[0].gptr, 64), &value, sizeof value));
    std::uint64_t got = 0;
    test.ok(sennit_get(&got, sennit_gptr_add(theirs.regions[1].gptr, 64), sizeof got));
    test.equal(got, value);
    test.ok(sennit_get(&got, theirs.regions[2].gptr, sizeof got));
    test.equal(got, value);
    test.barrier();
    test.equal(words[8], 100 + static_cast<std::uint64_t>(test.previous()));
    test.ok(sennit_deregister(regions[0]));
    test.barrier();
    test.is(sennit_get(&got, theirs.regions[0].gptr, sizeof got), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_get(&got, sennit_gptr_add(theirs.regions[1].gptr, 64), sizeof got));
    test.ok(sennit_get(&got, theirs.regions[2].gptr, sizeof got));
    test.barrier();
    test.ok(sennit_deregister(regions[2]));
    test.ok(sennit_deregister(regions[1]));
    test.is(sennit_deregister(regions[1]), SENNIT_ERR_NOT_REGISTERED);
}

// Broken by a stale pointer that is used, or one that reaches the next registration in its slot.
RANK_TEST(region, deregistered_memory_is_refused, kAnything) {
    if (!private_memory_is_reached(test)) return;
    std::vector<std::uint64_t> memory(100, 7);
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory.data(), 800, 0, &mine));
    test.is(sennit_free(mine.gptr), SENNIT_ERR_ARG);
    const auto all = test.tell_all(mine);
    const sennit_region theirs = all[static_cast<std::size_t>(test.next())];
    std::uint64_t word = 9;
    test.ok(sennit_put(theirs.gptr, &word, sizeof word));
    if (test.size > 1) test.ok(sennit_region_detach(theirs));
    if (test.size > 1) test.is(sennit_region_detach(theirs), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_region_detach(mine), SENNIT_ERR_ARG);
    test.ok(sennit_get(&word, theirs.gptr, sizeof word));
    test.equal(word, 9u);
    test.barrier();
    test.ok(sennit_deregister(mine));
    test.is(sennit_deregister(mine), SENNIT_ERR_NOT_REGISTERED);
    sennit_region other = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory.data(), 800, 0, &other));
    test.require(other.gptr.segment != mine.gptr.segment, "the id is another one");
    test.barrier();
    test.is(sennit_put(theirs.gptr, &word, sizeof word), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_get(&word, theirs.gptr, sizeof word), SENNIT_ERR_NOT_REGISTERED);
    sennit_status status = sennit_put_nbi(theirs.gptr, &word, sizeof word);
    // On a network the target notices it, and flush reports it.
    if (status == SENNIT_OK && !test.loads_from(theirs.gptr.rank))
        status = sennit_flush(theirs.gptr.rank, SENNIT_FOREVER);
    test.is(status, SENNIT_ERR_NOT_REGISTERED);
    test.barrier();
    test.ok(sennit_deregister(other));
}

// Broken by arithmetic with a length of 0, or by an empty region that accepts a byte.
RANK_TEST(region, a_region_of_no_bytes_is_legal_and_empty, kAnything) {
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(nullptr, 0, 0, &mine));
    std::uint8_t byte = 0;
    test.ok(sennit_put(mine.gptr, &byte, 0));
    test.is(sennit_put(mine.gptr, &byte, 1), SENNIT_ERR_RANGE);
    std::size_t bytes = 1;
    test.ok(sennit_segment_bytes(mine.gptr, &bytes));
    test.equal(bytes, 0u);
    test.ok(sennit_deregister(mine));
}

// Broken by registered memory that bypasses the segment it is in: others would copy by system call
// instead of loads.
RANK_TEST(region, memory_in_a_segment_is_reached_through_the_segment, kAnything) {
    const sennit_gptr segment = test.allocate(1000);
    auto *const own = static_cast<std::uint8_t *>(sennit_ptr(segment));
    sennit_region region = SENNIT_REGION_NULL;
    test.ok(sennit_register(own + 100, 50, 0, &region));
    test.equal(region.gptr.rank, test.rank);
    test.equal(region.gptr.segment, segment.segment);
    test.equal(region.gptr.offset, 100u);
    test.equal(region.bytes, 50u);
    test.is(sennit_register(own + 990, 50, 0, &region), SENNIT_ERR_RANGE);
    test.is(sennit_register(own - 10, 50, 0, &region), SENNIT_ERR_RANGE);
    const auto theirs = test.tell_all(region)[static_cast<std::size_t>(test.next())];
    test.equal(sennit_ptr(theirs.gptr) != nullptr, test.loads_from(theirs.gptr.rank));
    test.ok(sennit_deregister(region));
    test.barrier();
    std::uint8_t byte = 0;
    test.ok(sennit_get(&byte, theirs.gptr, 1));
    if (auto *there =
            static_cast<std::uint8_t *>(sennit_ptr(sennit_gptr_at(segment, test.next())))) {
        test.ok(sennit_register(there + 8, 8, 0, &region));
        test.equal(region.gptr.rank, test.next());
        test.equal(region.gptr.segment, segment.segment);
        test.equal(region.gptr.offset, 8u);
        test.ok(sennit_deregister(region));
    }
    test.barrier();
    test.free(segment);
    test.is(sennit_deregister(region), SENNIT_ERR_NOT_REGISTERED);
}

// Broken by an abort, or by an error that does not say whose memory it was.
RANK_TEST(region, unmapped_memory_is_an_error, kProcesses | kTwoRanks) {
    if (!private_memory_is_reached(test)) return;
    // The provider reports a missing page to neither side: docs/design/fabric.md.
    if (test.by_network) return;
    constexpr std::size_t kPage = Pages::kPage;
    const Pages pages(4);
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(pages.begin(), 4 * kPage, 0, &mine));
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    test.ok(sennit_region_mechanism(mine, &mechanism));
    // Mapped memory stays valid for peers: adopted_test.cpp.
    if (mechanism != SENNIT_MECHANISM_CMA) return test.ok(sennit_deregister(mine));
    const auto theirs = test.tell_all(mine)[static_cast<std::size_t>(test.next())];
    std::vector<std::uint8_t> data(4 * kPage, 3);
    test.ok(sennit_put(theirs.gptr, data.data(), data.size()));
    test.barrier();
    // The second page is unmapped, the third is read-only.
    test.require(munmap(pages.begin() + kPage, kPage) == 0, "munmap works");
    test.require(mprotect(pages.begin() + 2 * kPage, kPage, PROT_READ) == 0, "mprotect works");
    test.barrier();
    const auto at = [&](std::size_t page) {
        return sennit_gptr_add(theirs.gptr, static_cast<int64_t>(page * kPage));
    };
    test.is(sennit_get(data.data(), at(1), 8), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_put(at(1), data.data(), 8), SENNIT_ERR_NOT_REGISTERED);
    test.equal(sennit_last_error()->peer, test.next());
    test.is(sennit_get(data.data(), theirs.gptr, data.size()), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_get(data.data(), at(2), kPage));
    test.is(sennit_put(at(2), data.data(), 1), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_put(at(3), data.data(), kPage));
    // The kernel also checks the caller's buffer. Other paths give the caller a SIGSEGV.
    if (!test.sends_to(test.next())) {
        test.is(sennit_get(pages.begin() + kPage, at(3), kPage), SENNIT_ERR_ARG);
        test.is(sennit_put(at(3), pages.begin() + kPage, kPage), SENNIT_ERR_ARG);
    }
    test.barrier();
    test.ok(sennit_deregister(mine));
    test.is(sennit_register(pages.begin(), 2 * kPage, 0, &mine), SENNIT_ERR_ARG);
}

// Broken by a pointer into another process's memory.
RANK_TEST(region, a_pointer_is_given_where_memory_is_mapped_or_in_one_process, kTwoRanks) {
    if (!private_memory_is_reached(test)) return;
    std::uint64_t word = static_cast<std::uint64_t>(test.rank);
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(&word, sizeof word, 0, &mine));
    test.require(sennit_ptr(mine.gptr) == &word, "the owner's pointer is the memory itself");
    const auto theirs = test.tell_all(mine)[static_cast<std::size_t>(test.next())];
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    test.ok(sennit_region_mechanism(theirs, &mechanism));
    auto *there = static_cast<std::uint64_t *>(sennit_ptr(theirs.gptr));
    if (test.one_process && test.load_store) {
        sennit_path path = SENNIT_PATH_NONE;
        test.ok(sennit_peer_path(test.next(), &path));
        if (path == SENNIT_PATH_INPROC) test.equal(*there, static_cast<std::uint64_t>(test.next()));
    } else if (mechanism == SENNIT_MECHANISM_ADOPT && test.loads_from(test.next())) {
        // Under a sanitizer, which keeps variables outside the stack.
        test.require(there != nullptr, "there is a pointer");
    } else {
        test.require(there == nullptr, "there is no pointer");
        test.is(sennit_last_error()->status, SENNIT_ERR_UNSUPPORTED);
        test.equal(sennit_last_error()->peer, test.next());
    }
    test.barrier();
    test.ok(sennit_deregister(mine));
}

// Broken by an exchange that assumes equal sizes, loses an empty region, or leaves ranks in
// different states when one of them gives an invalid region.
RANK_TEST(region, regions_of_different_sizes_are_exchanged, kAnything) {
    if (!private_memory_is_reached(test)) return;
    // Rank 1 has an empty region.
    const auto bytes_of = [](int rank) { return static_cast<std::size_t>(100 + 1000 * rank); };
    const std::size_t bytes = bytes_of(test.rank);
    const Heap memory(test, bytes);
    sennit_region mine = SENNIT_REGION_NULL;
    if (test.rank != 1) test.ok(sennit_register(memory.begin(), bytes, 0, &mine));
    std::vector<sennit_region> all(static_cast<std::size_t>(test.size));
    test.ok(sennit_region_attach(SENNIT_TEAM_WORLD, mine, all.data()));
    for (int peer = 0; peer < test.size; ++peer) {
        const sennit_region &theirs = all[static_cast<std::size_t>(peer)];
        if (peer == 1) {
            test.require(sennit_gptr_is_null(theirs.gptr), "rank 1 gives no region");
            continue;
        }
        test.equal(theirs.gptr.rank, peer);
        test.equal(theirs.bytes, bytes_of(peer));
        const std::uint8_t byte = static_cast<std::uint8_t>(test.rank + 1);
        const auto last = static_cast<std::int64_t>(bytes_of(peer)) - 1 - test.rank;
        test.ok(sennit_put(sennit_gptr_add(theirs.gptr, last), &byte, 1));
    }
    test.barrier();
    for (int peer = 0; peer < test.size && test.rank != 1; ++peer)
        test.equal(memory.begin()[bytes - 1 - static_cast<std::size_t>(peer)], peer + 1);
    if (test.rank != 1) test.ok(sennit_deregister(mine));
    // A deregistered region.
    const sennit_region wrong = test.rank == 0 ? mine : SENNIT_REGION_NULL;
    test.is(sennit_region_attach(SENNIT_TEAM_WORLD, wrong, all.data()), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_region_attach(SENNIT_TEAM_WORLD, SENNIT_REGION_NULL, all.data()));
}

// Broken by slots that are not given back, or ids that are reused too early.
RANK_TEST(region, thousands_of_registrations_come_and_go, kOnce) {
    const std::size_t count = test.quick ? 300 : 2000;
    std::vector<std::uint64_t> memory(count);
    std::vector<sennit_region> regions(count);
    std::set<std::uint32_t> ids;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < count; ++i) {
            test.ok(sennit_register(&memory[i], 8, 0, &regions[i]));
            ids.insert(regions[i].gptr.segment);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t word = i * 3;
            test.ok(sennit_put(regions[i].gptr, &word, sizeof word));
            test.equal(memory[i], word);
        }
        for (const sennit_region &region : regions)
            test.ok(sennit_deregister(region));
    }
    test.equal(ids.size(), 3 * count);
    std::uint64_t word = 0;
    for (const sennit_region &region : regions)
        test.is(sennit_get(&word, region.gptr, sizeof word), SENNIT_ERR_NOT_REGISTERED);
}
