// One rank of a job whose ranks register arrays that move only if a flag consents. `stack`: arrays
// on the stacks of the first thread and another thread. `pages`: an array that shares its first and
// last page with other data, in a process with threads and without userfaultfd.
// Broken by an array that moves without the flag or stays with it; wrong bytes at a peer; a reason
// that only the owner knows.
#include <sennit/sennit.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../support/rank_checks.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = 4 * kPage;

int next_rank() {
    return (sennit_rank() + 1) % sennit_size();
}

int previous_rank() {
    return (sennit_rank() + sennit_size() - 1) % sennit_size();
}

void barrier() {
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
}

// Registers this rank's array and returns the next rank's region. `why`: the reason why neither is
// adopted, or "taken".
sennit_region share(void *memory, std::size_t bytes, unsigned flags, const std::string &why,
                    sennit_region *mine) {
    expect(sennit_register(memory, bytes, flags, mine), SENNIT_OK, "register");
    std::vector<sennit_region> all(static_cast<std::size_t>(sennit_size()));
    expect(sennit_region_attach(SENNIT_TEAM_WORLD, *mine, all.data()), SENNIT_OK, "attach");
    const sennit_region theirs = all[static_cast<std::size_t>(next_rank())];
    for (const sennit_region &region : {*mine, theirs}) {
        char text[300] = "";
        expect(sennit_region_reason(region, SENNIT_MECHANISM_ADOPT, text, sizeof text), SENNIT_OK,
               "reason");
        require(std::string(text).find(why) != std::string::npos,
                "the reason is: " + why + ", and not: " + text);
    }
    return theirs;
}

// Put and get reach the next rank's array in every case.
void copy_there_and_back(sennit_region theirs, std::size_t bytes) {
    std::vector<char> got(bytes);
    expect(sennit_get(got.data(), theirs.gptr, bytes), SENNIT_OK, "get");
    require(got[bytes - 1] == next_rank() + 1, "a get returns the next rank's bytes");
    barrier();
    const auto value = static_cast<char>(sennit_rank() + 50);
    expect(sennit_put(theirs.gptr, &value, 1), SENNIT_OK, "put");
    barrier();
}

void use_stack() {
    alignas(kPage) char array[kBytes];
    const int previous = previous_rank();
    std::memset(array, sennit_rank() + 1, kBytes);
    sennit_region mine = SENNIT_REGION_NULL;
    sennit_region theirs = share(array, kBytes, 0, "SENNIT_REGISTER_STACK consents", &mine);
    require(sennit_ptr(theirs.gptr) == nullptr, "memory that is copied has no pointer");
    copy_there_and_back(theirs, kBytes);
    require(array[0] == previous + 50, "the put has arrived");
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");

    theirs = share(array + 8, kPage, SENNIT_REGISTER_STACK, "first or last page", &mine);
    copy_there_and_back(theirs, kPage);
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");

    theirs = share(array, kBytes, SENNIT_REGISTER_STACK, "taken", &mine);
    copy_there_and_back(theirs, kBytes);
    auto *const there = static_cast<char *>(sennit_ptr(theirs.gptr));
    require(there != nullptr, "adopted memory has a pointer");
    there[kBytes - 1] = static_cast<char>(sennit_rank() + 90);
    barrier();
    require(array[0] == previous + 50 && array[kBytes - 1] == previous + 90, "stores arrive");
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");
    require(array[0] == previous + 50 && array[kBytes - 1] == previous + 90, "stores stay");
    barrier();
}

struct Neighbours {
    alignas(kPage) char before[64];
    char array[kBytes];
    char after[64];
};

void use_shared_pages() {
    static Neighbours data;
    const int previous = previous_rank();
    std::memset(&data, sennit_rank() + 1, sizeof data);
    sennit_region mine = SENNIT_REGION_NULL;
    sennit_region theirs =
        share(data.array, kBytes, 0, "SENNIT_REGISTER_SHARED_PAGES consents", &mine);
    require(sennit_ptr(theirs.gptr) == nullptr, "memory that is copied has no pointer");
    copy_there_and_back(theirs, kBytes);
    require(data.array[0] == previous + 50, "the put has arrived");
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");

    theirs = share(data.array, kBytes, SENNIT_REGISTER_SHARED_PAGES, "taken", &mine);
    auto *const there = static_cast<char *>(sennit_ptr(theirs.gptr));
    require(there != nullptr, "adopted memory has a pointer");
    there[kBytes - 1] = static_cast<char>(sennit_rank() + 90);
    barrier();
    require(data.array[kBytes - 1] == previous + 90, "stores arrive");
    expect(sennit_deregister(mine), SENNIT_OK, "deregister");
    for (const char *other : {data.before, data.after})
        for (int i = 0; i < 64; ++i)
            require(other[i] == sennit_rank() + 1, "data beside the array is as before");
    barrier();
}

}  // namespace

int main(int, char **arguments) {
    const bool on_stack = std::strcmp(arguments[1], "stack") == 0;
    std::atomic<bool> is_over{false};
    std::thread other;
    if (!on_stack)
        other = std::thread([&] {
            while (!is_over.load(std::memory_order_relaxed))
                sennit::test::sleep_ms(1);
        });
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    for (int round = 0; round < 2; ++round) {
        if (!on_stack) use_shared_pages();
        if (on_stack) use_stack();
        if (on_stack) std::thread(use_stack).join();
    }
    is_over.store(true, std::memory_order_relaxed);
    if (other.joinable()) other.join();
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
