// One rank of a job with an allocator from LD_PRELOAD, whose library's name contains the argument
// (`any`: a sanitizer's allocator, which may keep freed memory). Buffers of all sizes are
// registered, written by the next rank, deregistered and freed, while other threads allocate and
// free around them; some buffers come again at the address of an earlier one. Broken by changes to
// the allocator's own fields or to zeroed memory, a lost store on a shared page, memory that is
// never adopted.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

std::uint8_t byte_of(std::uint64_t salt, std::uint64_t index) {
    return static_cast<std::uint8_t>((index * 0x9E3779B97F4A7C15u + salt * 977) >> 40);
}

bool holds(const std::uint8_t *memory, std::size_t bytes, std::uint64_t salt) {
    for (std::size_t i = 0; i < bytes; ++i)
        if (memory[i] != byte_of(salt, i)) return false;
    return true;
}

// Allocates, fills, checks and frees blocks until `is_over`.
void churn(unsigned seed, const std::atomic<bool> &is_over, std::atomic<int> &wrong) {
    std::minstd_rand random(seed);
    struct Block {
        std::uint8_t *memory;
        std::size_t bytes;
    };
    std::vector<Block> blocks(200, Block{nullptr, 0});
    for (unsigned turn = 0; !is_over.load(std::memory_order_relaxed); ++turn) {
        // The ranks share processors.
        if (turn % 256 == 0) std::this_thread::yield();
        Block &block = blocks[random() % blocks.size()];
        for (std::size_t i = 0; i < block.bytes; ++i)
            if (block.memory[i] != byte_of(block.bytes, i)) ++wrong;
        std::free(block.memory);
        block.bytes = random() % 64 == 0 ? random() % 300000 : random() % 2000;
        const bool is_zeroed = random() % 4 == 0;
        block.memory = static_cast<std::uint8_t *>(is_zeroed ? std::calloc(block.bytes + 1, 1)
                                                             : std::malloc(block.bytes + 1));
        for (std::size_t i = 0; is_zeroed && i < block.bytes; ++i)
            if (block.memory[i] != 0) ++wrong;
        for (std::size_t i = 0; i < block.bytes; ++i)
            block.memory[i] = byte_of(block.bytes, i);
    }
    for (const Block &block : blocks)
        std::free(block.memory);
}

void barrier() {
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
}

struct Buffer {
    std::uint8_t *memory;
    std::size_t bytes;
    sennit_region region;
};

// Sizes are the same on all ranks.
std::size_t bytes_of(int round, int index) {
    const std::size_t kSizes[] = {1,    8,     17,    100,    1000,   4096,
                                  5000, 30000, 70000, 140000, 600000, (2u << 20) + 99};
    return kSizes[static_cast<std::size_t>(round * 5 + index) % 12];
}

int adopted_of(const sennit_region &region) {
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    expect(sennit_region_mechanism(region, &mechanism), SENNIT_OK, "mechanism");
    return mechanism == SENNIT_MECHANISM_ADOPT ? 1 : 0;
}

// Fails if LD_PRELOAD did not load the allocator: the loader itself only warns.
void check_allocator(const std::string &wanted) {
    Dl_info found{};
    require(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &found) != 0, "malloc comes from a library");
    require(std::string(found.dli_fname).find(wanted) != std::string::npos,
            std::string("malloc comes from ") + found.dli_fname);
}

}  // namespace

int main(int count, char **words) {
    require(count == 2, "the argument names the allocator");
    const std::string allocator = words[1];
    if (allocator != "any") check_allocator(allocator);
    sennit_options options = SENNIT_OPTIONS_INIT;
    expect(sennit_init(&options), SENNIT_OK, "init");
    const int rank = sennit_rank();
    const int size = sennit_size();
    constexpr int kRounds = 12;
    constexpr int kBuffers = 12;
    std::atomic<bool> is_over{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2; ++i)
        threads.emplace_back(
            [&, i] { churn(i + 10 * static_cast<unsigned>(rank), is_over, wrong); });
    int adopted = 0;
    std::set<std::uint8_t *> known;  // addresses of all registered buffers
    int came_again = 0;
    std::vector<sennit_region> all(static_cast<std::size_t>(size));
    for (int round = 0; round < kRounds; ++round) {
        Buffer buffers[kBuffers];
        for (int i = 0; i < kBuffers; ++i) {
            Buffer &buffer = buffers[i];
            buffer.bytes = bytes_of(round, i);
            buffer.memory = static_cast<std::uint8_t *>(i % 3 == 0 ? std::calloc(buffer.bytes, 1)
                                                                   : std::malloc(buffer.bytes));
            came_again += known.insert(buffer.memory).second ? 0 : 1;
            std::memset(buffer.memory, i, buffer.bytes);
            expect(sennit_register(buffer.memory, buffer.bytes, 0, &buffer.region), SENNIT_OK,
                   "register");
            adopted += adopted_of(buffer.region);
            expect(sennit_region_attach(SENNIT_TEAM_WORLD, buffer.region, all.data()), SENNIT_OK,
                   "attach");
            const sennit_region there = all[static_cast<std::size_t>((rank + 1) % size)];
            std::vector<std::uint8_t> data(buffer.bytes);
            for (std::size_t at = 0; at < buffer.bytes; ++at)
                data[at] = byte_of(static_cast<std::uint64_t>(rank + i), at);
            expect(sennit_put(there.gptr, data.data(), buffer.bytes), SENNIT_OK, "put");
        }
        barrier();
        for (int i = 0; i < kBuffers; ++i) {
            Buffer &buffer = buffers[i];
            // Every second buffer is deregistered first; content must be the same either way.
            if (i % 2 == 0) expect(sennit_deregister(buffer.region), SENNIT_OK, "deregister");
            const auto salt = static_cast<std::uint64_t>((rank + size - 1) % size + i);
            require(holds(buffer.memory, buffer.bytes, salt), "the buffer has the peer's data");
            if (i % 2 == 1) expect(sennit_deregister(buffer.region), SENNIT_OK, "deregister");
            if (i % 4 == 1) {
                auto *const grown =
                    static_cast<std::uint8_t *>(std::realloc(buffer.memory, buffer.bytes * 2));
                require(holds(grown, buffer.bytes, salt), "realloc keeps the content");
                buffer.memory = grown;
            }
            std::free(buffer.memory);
        }
        barrier();
    }
    is_over.store(true);
    for (std::thread &thread : threads)
        thread.join();
    require(wrong.load() == 0, "adoption changed memory of other threads");
    require(adopted > kRounds * kBuffers / 2, "most buffers are adopted, not " +
                                                  std::to_string(adopted) + " of " +
                                                  std::to_string(kRounds * kBuffers));
    require(came_again > 0 || allocator == "any",
            "no buffer came at the address of an earlier one");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
