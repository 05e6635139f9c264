// Collective calls of teams. Each makes one or two of Sennit's collective calls.
#include "coll.hpp"

#include <memory>

namespace shmem {
namespace {

constexpr int kWrong = -1;  // result of a call with a wrong argument if checks are off

// The data of every call. If `team` is null, the call must return at once.
struct Call {
    const char *name;
    Team *team;
    std::size_t pes = 0;

    Call(const char *call, shmem_team_t handle) : name(call), team(team_of(handle)) {
        if (team == nullptr)
            wrong(call, "argument team: it is SHMEM_TEAM_INVALID");
        else
            pes = static_cast<std::size_t>(team->pes);
    }
};

int broadcast(const Call &call, void *dest, const void *source, std::size_t bytes, int root) {
    if (root < 0 || root >= call.team->pes) {
        wrong(call.name, "argument PE_root: there is no PE %d in a team of %d", root,
              call.team->pes);
        return kWrong;
    }
    const bool is_root = root == call.team->me;
    must(call.name,
         sennit_broadcast(call.team->core, root, is_root ? const_cast<void *>(source) : dest, bytes,
                          state.limit_ns));
    if (is_root && dest != source) std::memmove(dest, source, bytes);
    return 0;
}

int fcollect(const Call &call, void *dest, const void *source, std::size_t bytes) {
    must(call.name, sennit_allgather(call.team->core, source, dest, bytes, state.limit_ns));
    return 0;
}

int collect(const Call &call, void *dest, const void *source, std::size_t bytes) {
    const auto all = std::make_unique<std::size_t[]>(call.pes);
    must(call.name,
         sennit_allgather(call.team->core, &bytes, all.get(), sizeof bytes, state.limit_ns));
    const sennit_vbuffer blocks{dest, all.get(), nullptr};
    must(call.name, sennit_allgatherv(call.team->core, source, bytes, &blocks, state.limit_ns));
    return 0;
}

int alltoall(const Call &call, void *dest, const void *source, std::size_t bytes) {
    must(call.name, sennit_alltoall(call.team->core, source, dest, bytes, state.limit_ns));
    return 0;
}

// Strides count elements. Strided data is packed before the collective call and unpacked after it.
struct Strides {
    std::ptrdiff_t dst, sst;
    std::size_t element;
};

int alltoalls(const Call &call, void *dest, const void *source, const Strides &strides,
              std::size_t nelems) {
    if (strides.dst < 1 || strides.sst < 1) {
        wrong(call.name, "arguments dst and sst: %td and %td are not 1 or more", strides.dst,
              strides.sst);
        return kWrong;
    }
    const std::size_t count = nelems * call.pes;
    const auto packed = std::make_unique<char[]>(count * strides.element * 2 + 1);
    char *const arrived = packed.get() + count * strides.element;
    const auto element = static_cast<std::ptrdiff_t>(strides.element);
    gather_elements(packed.get(), static_cast<const char *>(source), strides.element, count,
                    strides.sst * element);
    must(call.name, sennit_alltoall(call.team->core, packed.get(), arrived,
                                    nelems * strides.element, state.limit_ns));
    scatter_elements(static_cast<char *>(dest), arrived, strides.element, count,
                     strides.dst * element);
    return 0;
}

template <class T, Fold kFold>
int reduce(const Call &call, T *dest, const T *source, std::size_t count) {
    must(call.name, sennit_allreduce(call.team->core, source, dest, reduction_of<T, kFold>(count),
                                     state.limit_ns));
    return 0;
}

template <class T>
int scan(const Call &call, T *dest, const T *source, std::size_t count, bool is_exclusive) {
    const void *const from = dest == source ? SENNIT_IN_PLACE : source;
    const sennit_reduction sum = reduction_of<T, Fold::sum>(count);
    if (!is_exclusive) {
        must(call.name, sennit_scan(call.team->core, from, dest, sum, state.limit_ns));
        return 0;
    }
    must(call.name, sennit_scan_exclusive(call.team->core, from, dest, sum, state.limit_ns));
    if (call.team->me == 0) std::memset(dest, 0, count * sizeof(T));
    return 0;
}

}  // namespace

#define SHMEM_TEAM_BODY(NAME, ARGUMENTS, ...)    \
    SHMEM_DEFINE(int, NAME, ARGUMENTS) {         \
        const Call call(#NAME, team);            \
        if (call.team == nullptr) return kWrong; \
        return __VA_ARGS__;                      \
    }
#define SHMEM_BLOCK_ARGUMENTS(T) (shmem_team_t team, T * dest, const T *source, size_t nelems)
#define SHMEM_COLLECTIVES(T, N, Z, SIZE)                                                         \
    SHMEM_TEAM_BODY(shmem_##N##broadcast##Z,                                                     \
                    (shmem_team_t team, T * dest, const T *source, size_t nelems, int PE_root),  \
                    broadcast(call, dest, source, nelems *(SIZE), PE_root))                      \
    SHMEM_TEAM_BODY(shmem_##N##collect##Z, SHMEM_BLOCK_ARGUMENTS(T),                             \
                    collect(call, dest, source, nelems *(SIZE)))                                 \
    SHMEM_TEAM_BODY(shmem_##N##fcollect##Z, SHMEM_BLOCK_ARGUMENTS(T),                            \
                    fcollect(call, dest, source, nelems *(SIZE)))                                \
    SHMEM_TEAM_BODY(shmem_##N##alltoall##Z, SHMEM_BLOCK_ARGUMENTS(T),                            \
                    alltoall(call, dest, source, nelems *(SIZE)))                                \
    SHMEM_TEAM_BODY(shmem_##N##alltoalls##Z,                                                     \
                    (shmem_team_t team, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
                     size_t nelems),                                                             \
                    alltoalls(call, dest, source, {dst, sst, SIZE}, nelems))
#define SHMEM_REDUCE(T, N, V, FOLD)                                  \
    SHMEM_TEAM_BODY(shmem_##N##V##_reduce, SHMEM_BLOCK_ARGUMENTS(T), \
                    reduce<T, Fold::FOLD>(call, dest, source, nelems))

#define SHMEM_TYPED(T, N, ...)              \
    SHMEM_COLLECTIVES(T, N##_, , sizeof(T)) \
    SHMEM_REDUCE(T, N, _max, maximum)       \
    SHMEM_REDUCE(T, N, _min, minimum)
#define SHMEM_BITS(T, N, ...)         \
    SHMEM_REDUCE(T, N, _and, bit_and) \
    SHMEM_REDUCE(T, N, _or, bit_or)   \
    SHMEM_REDUCE(T, N, _xor, bit_xor)
#define SHMEM_SUM(T, N, ...)                                          \
    SHMEM_REDUCE(T, N, _sum, sum)                                     \
    SHMEM_REDUCE(T, N, _prod, product)                                \
    SHMEM_TEAM_BODY(shmem_##N##_sum_inscan, SHMEM_BLOCK_ARGUMENTS(T), \
                    scan<T>(call, dest, source, nelems, false))       \
    SHMEM_TEAM_BODY(shmem_##N##_sum_exscan, SHMEM_BLOCK_ARGUMENTS(T), \
                    scan<T>(call, dest, source, nelems, true))

SENNIT_SHMEM_RMA(SHMEM_TYPED, )
SHMEM_COLLECTIVES(void, , mem, 1)
SENNIT_SHMEM_REDUCE_BITS(SHMEM_BITS, )
SENNIT_SHMEM_REDUCE_SUM(SHMEM_SUM, )

}  // namespace shmem
