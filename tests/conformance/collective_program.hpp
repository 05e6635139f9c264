// Random collective calls, and a sequential oracle of what each gives. Every rank draws the same
// calls, and knows the input of every rank by its number, so it computes alone what it must get.
// Which buffer it uses, and how it waits, each rank draws for itself: that must not change
// anything.
//
// A failure names the step and can be shrunk (shrink.py).
#pragma once

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <type_traits>

#include "harness.hpp"

namespace conformance {

enum class CollKind : std::uint8_t {
    barrier,
    broadcast,
    scatter,
    gather,
    allgather,
    alltoall,
    scatterv,
    gatherv,
    allgatherv,
    alltoallv,
    reduce,
    allreduce,
    reduce_scatter,
    reduce_scatter_block,
    scan,
    scan_exclusive
};
inline constexpr int kCollKinds = 16;

using Bytes = std::vector<std::uint8_t>;

// A team as the oracle sees it.
struct Members {
    sennit_team team;
    int rank;
    int size;
};

// Where the buffers of a call lie: at each rank as it likes, or alike at all of them.
enum class CollMemory { mixed, segment, own };

// One call, the same on all ranks.
struct CollStep {
    CollKind kind = CollKind::barrier;
    int root = 0;
    std::size_t count = 0;  // of elements, or bytes of a block
    sennit_type type = SENNIT_UINT8;
    sennit_operator op = SENNIT_SUM;
    bool in_place = false;
    CollMemory memory = CollMemory::mixed;
    bool offsets = false;            // blocks with gaps, else packed
    std::vector<std::size_t> sizes;  // of blocks; alltoallv: [from * size + to]
    std::uint64_t salt = 0;
    std::uint64_t number = 0;
};

CollStep draw_step(Random &draw, const Members &members, std::size_t most_bytes);

// What one rank needs for the call, and must get.
struct CollBuffers {
    Bytes source;
    Bytes destination;  // before the call
    Bytes expected;     // the destination after it
    std::vector<std::size_t> source_sizes, source_offsets;
    std::vector<std::size_t> destination_sizes, destination_offsets;
    std::vector<std::size_t> counts;
};
CollBuffers make_buffers(const CollStep &step, const Members &members);

// With a request if there is one, else for so long at a time.
struct Form {
    sennit_request *request = nullptr;
    std::int64_t timeout_ns = SENNIT_FOREVER;
};
sennit_status call(const CollStep &step, const Members &members, const CollBuffers &buffers,
                   void *source, void *destination, const Form &form);

std::size_t element_bytes(sennit_type type);

// The rest of an element is padding. The long double of x86 has 10 bytes, that of Arm 16.
template <class T>
inline constexpr std::size_t kBytesThatCount =
    std::is_same_v<T, long double> &&std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T);
const char *name_of(CollKind kind);
bool reduces(CollKind kind);

// A request that one thread started and another waits for.
struct HandedOver {
    sennit_request request = SENNIT_REQUEST_NULL;
    std::atomic<bool> is_over{false};
    sennit_status status = SENNIT_OK;  // and the text, when it is over
    std::string text;
};

// The thread that waits for what others hand over. work() is its body and returns after end().
class RequestThread {
  public:
    void take(HandedOver &given);
    void work(Random draw);
    void end();

  private:
    bool collect(std::vector<HandedOver *> &open);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<HandedOver *> given_;
    bool ended_ = false;
};

// How a program runs its calls.
struct CollWays {
    std::size_t most_bytes = 2000;
    // A segment of the team or the world for buffers; none: the program allocates one over the
    // world, and all ranks of the world run a program.
    sennit_gptr arena = SENNIT_GPTR_NULL;
    RequestThread *waiter = nullptr;  // gets some of the requests
    // Threads below SENNIT_THREAD_MULTIPLE take turns by it: no call lasts while it is held.
    std::mutex *turns = nullptr;
};
inline constexpr std::size_t kArenaBytes = 4 << 20;

// The program: runs `steps` calls on the team, several at a time under way.
void run_collectives(Ranks &test, const Members &members, int steps, const CollWays &ways);

}  // namespace conformance
