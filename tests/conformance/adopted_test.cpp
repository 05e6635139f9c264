// Registered memory whose pages were moved to a file that peers map. In runs with other mechanisms
// (other paths, SENNIT_REGISTER) the tests check only what holds there too.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "harness.hpp"

using namespace conformance;

namespace {

bool is_adopted(Ranks &test, sennit_region region) {
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    test.ok(sennit_region_mechanism(region, &mechanism));
    char text[200] = "";
    test.ok(sennit_region_reason(region, SENNIT_MECHANISM_ADOPT, text, sizeof text));
    test.equal(std::strcmp(text, "taken") == 0, mechanism == SENNIT_MECHANISM_ADOPT);
    // Each better mechanism has a reason why it was not taken.
    for (int better = SENNIT_MECHANISM_INPROC; better < static_cast<int>(mechanism); ++better) {
        test.ok(
            sennit_region_reason(region, static_cast<sennit_mechanism>(better), text, sizeof text));
        test.require(std::strstr(text, "a better one was taken") == nullptr,
                     "the reason is not that a better one was taken");
    }
    return mechanism == SENNIT_MECHANISM_ADOPT;
}

// The same answer on all ranks. Collective.
bool all_adopted(Ranks &test, sennit_region mine) {
    bool all = true;
    for (const int one : test.tell_all(is_adopted(test, mine) ? 1 : 0))
        all &= one != 0;
    return all;
}

struct Freed {
    void operator()(void *memory) const { std::free(memory); }
};
using Bytes = std::unique_ptr<std::uint8_t, Freed>;

Bytes allocate_bytes(std::size_t bytes) {
    return Bytes(static_cast<std::uint8_t *>(std::malloc(bytes)));
}

constexpr std::size_t kPage = 4096;

// Kilobytes mapped by huge pages in the mapping that contains the address.
std::uint64_t mapped_huge_kib(const void *place) {
    std::ifstream file("/proc/self/smaps");
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    std::uint64_t found = 0;
    bool is_it = false;
    for (std::string line; std::getline(file, line);) {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
            is_it = begin <= address && address < end;
        } else if (is_it && (line.rfind("ShmemPmdMapped:", 0) == 0 ||
                             line.rfind("AnonHugePages:", 0) == 0)) {
            found += std::stoull(line.substr(line.find(':') + 1));
        }
    }
    return found;
}

}  // namespace

// Broken by a pointer to the page instead of the buffer, bounds in pages instead of bytes, or
// operations that do not reach the same word.
RANK_TEST(region, a_peer_has_the_exact_start_of_an_adopted_buffer_and_its_bounds, kTwoRanks) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}, std::size_t{3} << 20}) {
        const Bytes memory = allocate_bytes(bytes + 8);
        fill(memory.get(), bytes, static_cast<std::uint64_t>(test.rank));
        sennit_region mine = SENNIT_REGION_NULL;
        test.ok(sennit_register(memory.get(), bytes, 0, &mine));
        // Each rank's own allocator places its buffer, so one may be adopted and another not. The
        // owner and a peer report the same mechanism.
        const auto next = static_cast<std::size_t>(test.next());
        const auto theirs = test.tell_all(mine)[next];
        const bool adopted = test.tell_all(is_adopted(test, mine) ? 1 : 0)[next] != 0;
        test.equal(is_adopted(test, theirs), adopted);
        auto *const there = static_cast<std::uint8_t *>(sennit_ptr(theirs.gptr));
        if (adopted) {
            const auto end = static_cast<std::int64_t>(bytes);
            test.equal(there != nullptr, test.loads_from(test.next()));
            if (there != nullptr) {
                check_pattern(test, there, bytes, static_cast<std::uint64_t>(test.next()));
                test.require(sennit_ptr(sennit_gptr_add(theirs.gptr, end - 1)) == there + bytes - 1,
                             "the last byte has a pointer");
            }
            std::uint8_t byte = 0;
            test.is(sennit_get(&byte, sennit_gptr_add(theirs.gptr, end), 1), SENNIT_ERR_RANGE);
            test.is(sennit_put(sennit_gptr_add(theirs.gptr, -1), &byte, 1), SENNIT_ERR_RANGE);
        }
        test.barrier();
        test.ok(sennit_deregister(mine));
        check_pattern(test, memory.get(), bytes, static_cast<std::uint64_t>(test.rank));
        test.barrier();
        std::uint8_t byte = 0;
        test.is(sennit_get(&byte, theirs.gptr, 1), SENNIT_ERR_NOT_REGISTERED);
        test.barrier();
    }
}

// Broken by atomic operations of different processes on different copies.
RANK_TEST(region, all_ranks_count_in_one_adopted_word, kTwoRanks) {
    const Bytes memory = allocate_bytes(64);
    auto *const word = reinterpret_cast<std::int64_t *>(memory.get());
    *word = 0;
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(word, sizeof *word, 0, &mine));
    const bool adopted = all_adopted(test, mine);
    const sennit_region first = test.tell_all(mine)[0];
    constexpr std::int64_t kTimes = 2000;
    if (adopted) {
        for (std::int64_t i = 0; i < kTimes; ++i)
            test.ok(sennit_atomic_add_i64(first.gptr, 1));
    }
    test.barrier();
    if (adopted && test.rank == 0) test.equal(*word, kTimes * test.size);
    test.barrier();
    test.ok(sennit_deregister(mine));
    if (adopted && test.rank == 0) test.equal(*word, kTimes * test.size);
}

// Broken by pieces in another order or with gaps at a peer, and by a deregistration that ends the
// memory of another region.
RANK_TEST(region, overlapping_buffers_are_each_seen_as_one_piece, kTwoRanks) {
    auto *const memory = static_cast<std::uint8_t *>(std::aligned_alloc(kPage, 12 * kPage));
    fill(memory, 12 * kPage, static_cast<std::uint64_t>(test.rank));
    sennit_region regions[3];
    test.ok(sennit_register(memory + 2 * kPage, 3 * kPage, 0, &regions[0]));
    test.ok(sennit_register(memory + 7 * kPage + 1, 1, 0, &regions[1]));
    test.ok(sennit_register(memory + 100, 11 * kPage, 0, &regions[2]));
    const sennit_region theirs = test.tell_all(regions[2])[static_cast<std::size_t>(test.next())];
    test.ok(sennit_deregister(regions[0]));
    test.ok(sennit_deregister(regions[1]));
    test.barrier();
    std::vector<std::uint8_t> got(11 * kPage);
    test.ok(sennit_get(got.data(), theirs.gptr, got.size()));
    std::vector<std::uint8_t> wanted(12 * kPage);
    fill(wanted.data(), wanted.size(), static_cast<std::uint64_t>(test.next()));
    test.require(std::memcmp(got.data(), wanted.data() + 100, got.size()) == 0, "all bytes arrive");
    test.barrier();
    const std::vector<std::uint8_t> zeros(11 * kPage, 0);
    test.ok(sennit_put(theirs.gptr, zeros.data(), zeros.size()));
    test.barrier();
    test.ok(sennit_deregister(regions[2]));
    fill(wanted.data(), wanted.size(), static_cast<std::uint64_t>(test.rank));
    std::memset(wanted.data() + 100, 0, 11 * kPage);
    test.require(std::memcmp(memory, wanted.data(), wanted.size()) == 0, "no other byte changes");
    std::free(memory);
    test.barrier();
}

// Broken by a stale table entry: memory that was freed and allocated again is new memory.
RANK_TEST(region, memory_that_comes_again_at_its_address_is_registered_anew, kAnything) {
    std::uintptr_t last = 0;
    int came_again = 0;
    for (int round = 0; round < 20; ++round) {
        const std::size_t bytes = round < 10 ? 40000 : std::size_t{1} << 20;
        const Bytes memory = allocate_bytes(bytes);
        const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
        if (address == last) ++came_again;
        last = address;
        fill(memory.get(), bytes, static_cast<std::uint64_t>(round));
        sennit_region mine = SENNIT_REGION_NULL;
        test.ok(sennit_register(memory.get(), bytes, 0, &mine));
        const bool adopted = all_adopted(test, mine);
        if (!adopted && !test.one_process) return test.ok(sennit_deregister(mine));
        const auto theirs = test.tell_all(mine)[static_cast<std::size_t>(test.next())];
        std::vector<std::uint8_t> got(bytes);
        test.ok(sennit_get(got.data(), theirs.gptr, bytes));
        check_pattern(test, got.data(), bytes, static_cast<std::uint64_t>(round));
        test.barrier();
        test.ok(sennit_deregister(mine));
        test.barrier();
    }
    // Sanitizers keep freed memory.
    test.require(came_again > 0 || under_sanitizer(), "malloc has given the same memory again");
}

// Broken by an attachment that belongs to one team: here two teams attach the same region.
RANK_TEST(region, two_teams_use_one_buffer, kTwoRanks) {
    const Bytes memory = allocate_bytes(10000);
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory.get(), 10000, 0, &mine));
    const bool adopted = all_adopted(test, mine);
    if (!adopted) return test.ok(sennit_deregister(mine));
    sennit_team odd_even;
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, test.rank % 2, 0, &odd_even));
    std::vector<sennit_region> world(static_cast<std::size_t>(test.size));
    std::vector<sennit_region> half(static_cast<std::size_t>(test.size));
    test.ok(sennit_region_attach(SENNIT_TEAM_WORLD, mine, world.data()));
    test.ok(sennit_region_attach(odd_even, mine, half.data()));
    test.ok(sennit_team_destroy(odd_even));
    const auto value = static_cast<std::uint8_t>(test.rank + 1);
    test.ok(sennit_put(sennit_gptr_add(world[static_cast<std::size_t>(test.next())].gptr, 9999),
                       &value, 1));
    test.barrier();
    test.equal(memory.get()[9999], test.previous() + 1);
    // The next rank of this rank's half, cyclically; its region comes from that team's exchange.
    const int own_place = test.rank / 2;
    const int half_size = (test.size + 1 - test.rank % 2) / 2;
    const auto by_half = static_cast<std::size_t>((own_place + 1) % half_size);
    test.equal(half[by_half].gptr.rank, 2 * static_cast<int>(by_half) + test.rank % 2);
    test.ok(sennit_put(sennit_gptr_add(half[by_half].gptr, 5000), &value, 1));
    test.barrier();
    test.equal(memory.get()[5000],
               2 * ((own_place + half_size - 1) % half_size) + test.rank % 2 + 1);
    test.barrier();
    test.ok(sennit_deregister(mine));
}

// Broken by lengths or offsets that do not fit 32 bits.
RANK_TEST(large_region, four_gib_are_reached_by_peers, kTwoRanks | kOnlyNamed) {
    constexpr std::size_t kBytes = (std::size_t{4} << 30) + 12345;
    auto *const memory = static_cast<std::uint8_t *>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    test.require(memory != MAP_FAILED, "there is address space");
    const std::size_t places[] = {0, (std::size_t{2} << 30) + 5, (std::size_t{4} << 30) - 1,
                                  (std::size_t{4} << 30) + 7, kBytes - 1};
    for (const std::size_t place : places)
        memory[place] = static_cast<std::uint8_t>(place % 251 + static_cast<unsigned>(test.rank));
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory, kBytes, 0, &mine));
    const bool adopted = all_adopted(test, mine);
    const sennit_region theirs = test.tell_all(mine)[static_cast<std::size_t>(test.next())];
    for (const std::size_t place : places) {
        const sennit_gptr there = sennit_gptr_add(theirs.gptr, static_cast<std::int64_t>(place));
        const auto wanted =
            static_cast<std::uint8_t>(place % 251 + static_cast<unsigned>(test.next()));
        std::uint8_t byte = 0;
        test.ok(sennit_get(&byte, there, 1));
        test.equal(byte, wanted);
        if (adopted) test.equal(*static_cast<std::uint8_t *>(sennit_ptr(there)), wanted);
    }
    test.barrier();
    test.ok(sennit_deregister(mine));
    test.require(munmap(memory, kBytes) == 0, "munmap");
    test.barrier();
}

// Broken by a peer's view whose address differs from the file offset modulo 2 MiB: the kernel then
// maps small pages.
RANK_TEST(large_region, huge_pages_are_huge_at_the_peer_too, kTwoRanks | kOnlyNamed) {
    if (test.one_process) return;
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    const Bytes memory(
        static_cast<std::uint8_t *>(std::aligned_alloc(std::size_t{2} << 20, kBytes)));
    test.require(madvise(memory.get(), kBytes, MADV_HUGEPAGE) == 0, "madvise");
    fill(memory.get(), kBytes, static_cast<std::uint64_t>(test.rank));
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory.get(), kBytes, 0, &mine));
    const bool adopted = all_adopted(test, mine);
    const auto next = static_cast<std::size_t>(test.next());
    const sennit_region theirs = test.tell_all(mine)[next];
    const bool is_huge = test.tell_all(mapped_huge_kib(memory.get()))[next] >= kBytes / 1024;
    if (adopted && is_huge) {
        auto *const there = static_cast<std::uint8_t *>(sennit_ptr(theirs.gptr));
        check_pattern(test, there, kBytes, static_cast<std::uint64_t>(test.next()));
        test.equal(mapped_huge_kib(there), kBytes / 1024);
    } else {
        std::fprintf(stderr, "left out: not adopted, or the machine gives no huge pages now\n");
    }
    test.barrier();
    test.ok(sennit_deregister(mine));
    test.barrier();
}
