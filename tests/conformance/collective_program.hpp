// Random collective calls with a sequential oracle of their results. Every rank draws the same
// calls and can compute the input of any rank from that rank's number, so it computes its own
// result alone. Each rank draws its own buffers and its own way to wait: they must not change the
// result.
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

// A team, as the oracle knows it.
struct Members {
    sennit_team team;
    int rank;
    int size;
};

// The memory of a call's buffers: drawn by each rank, or the same kind on all ranks.
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
    bool offsets = false;            // blocks with gaps; false: packed
    std::vector<std::size_t> sizes;  // of blocks; alltoallv: [from * size + to]
    std::uint64_t salt = 0;
    std::uint64_t number = 0;
};

CollStep draw_step(Random &draw, const Members &members, std::size_t most_bytes);

// The buffers of one rank for the call, and the expected result.
struct CollBuffers {
    Bytes source;
    Bytes destination;  // before the call
    Bytes expected;     // the destination after it
    std::vector<std::size_t> source_sizes, source_offsets;
    std::vector<std::size_t> destination_sizes, destination_offsets;
    std::vector<std::size_t> counts;
};
CollBuffers make_buffers(const CollStep &step, const Members &members);

// Non-blocking with `request`; otherwise blocking, with this timeout for each attempt.
struct Form {
    sennit_request *request = nullptr;
    std::int64_t timeout_ns = SENNIT_FOREVER;
};
sennit_status call(const CollStep &step, const Members &members, const CollBuffers &buffers,
                   void *source, void *destination, const Form &form);

std::size_t element_bytes(sennit_type type);

// The significant bytes of an element; the rest is padding. x86 has 10 bytes in a long double, Arm
// 16.
template <class T>
inline constexpr std::size_t kBytesThatCount =
    std::is_same_v<T, long double> &&std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T);
const char *name_of(CollKind kind);
bool reduces(CollKind kind);

// A request that one thread starts and another waits for.
struct HandedOver {
    sennit_request request = SENNIT_REQUEST_NULL;
    std::atomic<bool> is_over{false};
    sennit_status status = SENNIT_OK;  // this and the text: when it is over
    std::string text;
};

// The thread that waits for requests of others. work() is its body; it returns after end().
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

// Settings for the calls of a program.
struct CollWays {
    std::size_t most_bytes = 2000;
    // A segment of the team or the world for buffers. None: the program allocates one over the
    // world, and then all ranks of the world must run a program.
    sennit_gptr arena = SENNIT_GPTR_NULL;
    RequestThread *waiter = nullptr;  // gets some of the requests
    // Below SENNIT_THREAD_MULTIPLE threads take turns by this lock: no thread waits for other ranks
    // while it holds the lock.
    std::mutex *turns = nullptr;
};
inline constexpr std::size_t kArenaBytes = 4 << 20;

// Runs a program of `steps` calls on the team, with several pending at a time.
void run_collectives(Ranks &test, const Members &members, int steps, const CollWays &ways);

}  // namespace conformance
