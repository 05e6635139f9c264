// The actor of a segment's words, as its owner's record names it (docs/design/atomics.md), and the
// kind of its memory. No call makes a segment with the network card as actor yet, or memory
// outside the host, so the test changes the record before a peer attaches the segment. Broken by
// two actors on a word, which lose each other's updates, and by a copy to memory that this process
// cannot address.
#include <sennit/sennit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "../engine/job.hpp"
#include "memory/entry.hpp"

namespace sennit::test {
namespace {

constexpr std::uint64_t kWord = 41;
constexpr std::size_t kBytes = 64;

// The owner's record of one of its allocations.
SegmentRecord &record_of(sennit_gptr gptr) {
    return current_rank()->control->records[memory::index_of(gptr.segment)];
}

class Peer {
  public:
    Peer(Job &job, sennit_gptr there) : job_(job), there_(there) {}

    void is_refused(sennit_status status, const char *call) {
        if (status != SENNIT_ERR_UNSUPPORTED)
            return job_.note(std::string(call) + " gives " + sennit_status_string(status));
        const std::string text = sennit_last_error()->text;
        if (text.find("network card") == std::string::npos)
            job_.note(std::string(call) + " says: " + text);
    }
    void atomics_are_refused() {
        std::uint64_t word = 7;
        std::uint32_t half = 7;
        double number = 7;
        sennit_request request = SENNIT_REQUEST_NULL;
        is_refused(sennit_atomic_set_u64(there_, 1), "set");
        is_refused(sennit_atomic_fetch_u64(there_, &word), "fetch");
        is_refused(sennit_atomic_add_u32(there_, 1), "add");
        is_refused(sennit_atomic_fetch_add_u32(there_, 1, &half), "fetch_add");
        is_refused(sennit_atomic_fetch_add_u64_nb(there_, 1, &word, &request), "fetch_add_nb");
        is_refused(sennit_atomic_swap_f64(there_, 1.0, &number), "swap");
        is_refused(sennit_atomic_compare_swap_u64(there_, kWord, 1, &word), "compare_swap");
        is_refused(sennit_accumulate(there_, &word, 1, SENNIT_UINT64, SENNIT_SUM), "accumulate");
        if (word != 7 || half != 7 || number != 7 || request.handle != 0)
            job_.note("a call that was refused wrote its result");
    }
    void transfers_go_on() {
        std::uint64_t word = 0;
        job_.expect(sennit_get(&word, there_, sizeof word), "get");
        if (word != kWord) job_.note("a call that was refused changed the word");
        job_.expect(sennit_put(sennit_gptr_add(there_, 8), &word, sizeof word), "put");
        job_.expect(sennit_get(&word, sennit_gptr_add(there_, 8), sizeof word), "get");
        if (word != kWord) job_.note("a get does not return what was put");
    }

  private:
    Job &job_;
    sennit_gptr there_;
};

// Rank 0 allocates and sets the actor; rank 1 uses the memory.
std::string use_memory_of(AtomicsActor actor, const std::string &paths) {
    Job job(2, paths);
    sennit_gptr shared = SENNIT_GPTR_NULL;
    job.run([&](int rank) {
        if (rank == 0) {
            job.expect(sennit_alloc_local(kBytes, 0, 0, &shared), "alloc_local");
            std::memcpy(sennit_ptr(shared), &kWord, sizeof kWord);
            record_of(shared).actor = actor;
        }
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        if (rank == 1) {
            Peer peer(job, shared);
            if (actor == AtomicsActor::network_card) {
                peer.atomics_are_refused();
                peer.transfers_go_on();
                peer.atomics_are_refused();  // again, with the cached entry
            } else {
                std::uint64_t old = 0;
                job.expect(sennit_atomic_fetch_add_u64(shared, 1, &old), "fetch_add");
                if (old != kWord) job.note("fetch_add returned another value");
            }
        }
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    });
    return job.fault;
}

// Broken by a look-up on the quick path, or on the path of messages, that does not check the
// actor.
TEST(actor, every_path_refuses_words_of_the_network_card_to_the_processors) {
    for (const char *paths : {"inproc", "mapped", "sim:lockstep=1"})
        EXPECT_EQ(use_memory_of(AtomicsActor::network_card, paths), "") << paths;
}

TEST(actor, every_path_gives_words_of_the_processors_to_them) {
    for (const char *paths : {"inproc", "mapped", "sim:lockstep=1"})
        EXPECT_EQ(use_memory_of(AtomicsActor::processor, paths), "") << paths;
}

// Broken by a path that attaches memory it cannot reach.
TEST(memory_kind, every_path_refuses_memory_that_is_not_of_the_host) {
    for (const char *paths : {"inproc", "mapped", "cma", "sim:lockstep=1"}) {
        Job job(2, paths);
        sennit_gptr shared = SENNIT_GPTR_NULL;
        job.run([&](int rank) {
            if (rank == 0) {
                job.expect(sennit_alloc_local(kBytes, 0, 0, &shared), "alloc_local");
                record_of(shared).memory = static_cast<MemoryKind>(1);
            }
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            std::uint64_t word = 7;
            if (rank == 1 && (sennit_get(&word, shared, 8) != SENNIT_ERR_UNSUPPORTED ||
                              sennit_put(shared, &word, 8) != SENNIT_ERR_UNSUPPORTED || word != 7))
                job.note("the memory is used");
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        });
        EXPECT_EQ(job.fault, "") << paths;
    }
}

// A program's memory has the default actor of its record.
TEST(actor, every_segment_is_published_with_the_processors_as_its_actor) {
    Job job(1, "inproc");
    job.run([&](int) {
        static std::uint64_t existing[8];
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        sennit_region region = SENNIT_REGION_NULL;
        job.expect(sennit_alloc_local(kBytes, 0, 0, &gptr), "alloc_local");
        if (record_of(gptr).actor != AtomicsActor::processor)
            job.note("wrong actor of an allocation");
        job.expect(sennit_register(existing, sizeof existing, 0, &region), "register");
        if (record_of(region.gptr).actor != AtomicsActor::processor)
            job.note("wrong actor of a region");
        job.expect(sennit_deregister(region), "deregister");
        job.expect(sennit_free(gptr), "free");
    });
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
