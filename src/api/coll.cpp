// SPDX-License-Identifier: BSD-3-Clause
// Collective calls: checks the arguments and makes a coll::Call of them. A blocking call and its
// form with a request differ only in the last step.
#include <sennit/coll.h>

#include "api/call.hpp"
#include "coll/collectives.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

using coll::Kind;

// How the caller waits.
struct CallWait {
    sennit_request *request = nullptr;
    std::int64_t timeout_ns = 0;
    bool blocks = true;
};

CallWait until(std::int64_t timeout_ns) {
    return {nullptr, timeout_ns, true};
}
CallWait later(sennit_request *request) {
    return {request, 0, false};
}

// Checks the call's arguments on this team.
using ArgumentCheck = sennit_status (*)(const team::Team &team, coll::Call &call);

sennit_status check_wait(const CallWait &wait) {
    if (wait.blocks) return check_timeout(wait.timeout_ns);
    return wait.request != nullptr ? SENNIT_OK : null_argument("the request");
}

// SENNIT_IN_PLACE is not an address. It may be the destination at the root of a scatter, and at
// other ranks than the root of a gather or reduce, which have no destination.
sennit_status check_mark(const team::Team &team, const coll::Call &call) {
    if (call.destination.memory != SENNIT_IN_PLACE) return SENNIT_OK;
    const bool is_root = team.rank == call.root;
    if (is_root ? coll::from_root(call.kind) && call.kind != Kind::broadcast
                : coll::to_root(call.kind))
        return SENNIT_OK;
    return fail(SENNIT_ERR_ARG,
                "SENNIT_IN_PLACE is the destination: pass it as the source (as the destination "
                "only at the root of scatter and scatterv)");
}

sennit_status run(const char *name, sennit_team team, coll::Call call, const CallWait &wait,
                  ArgumentCheck check) {
    return team_call(name, team, [&](Rank &rank, team::Team &found) {
        sennit_status status = check_wait(wait);
        if (status == SENNIT_OK && call.root >= found.size)
            status = fail(SENNIT_ERR_RANGE, "root %d is outside 0 to %u",
                          static_cast<int>(call.root), found.size - 1);
        if (status == SENNIT_OK && check != nullptr) status = check(found, call);
        if (status == SENNIT_OK) status = check_mark(found, call);
        if (status != SENNIT_OK) return status;
        const runtime::Observed observed(rank, name, runtime::kNobody, call.bytes);
        const team::CollectiveCall turn(found, team.handle);
        if (turn.status() != SENNIT_OK) return turn.status();
        return wait.blocks ? coll::run(rank, found, call, wait.timeout_ns)
                           : coll::start(rank, found, call, wait.request);
    });
}

sennit_status null_buffer(const char *which) {
    return fail(SENNIT_ERR_ARG, "the %s is null", which);
}

std::byte *bytes_of(const void *memory) {
    // A source is only read.
    return static_cast<std::byte *>(const_cast<void *>(memory));
}

// Marks a call as in place if its buffers say so.
void detect_in_place(coll::Call &call) {
    const bool replaces =
        coll::folds(call.kind) || call.kind == Kind::alltoall || call.kind == Kind::alltoallv;
    const bool is_same =
        call.source.memory != nullptr && call.source.memory == call.destination.memory;
    if (call.source.memory != SENNIT_IN_PLACE && !(replaces && is_same)) return;
    call.in_place = true;
    call.source = {};
}

// Blocks of the same size.
template <Kind kKind>
sennit_status check_blocks(const team::Team &team, coll::Call &call) {
    const bool is_root = team.rank == call.root;
    const bool sends = !coll::from_root(kKind) || is_root;
    const bool receives = !coll::to_root(kKind) || is_root;
    if (kKind == Kind::scatter && is_root && call.destination.memory == SENNIT_IN_PLACE)
        call.in_place = true;
    if (call.in_place && !is_root && (coll::from_root(kKind) || coll::to_root(kKind)))
        return fail(SENNIT_ERR_ARG, "only the root can work in place");
    std::size_t all_bytes = 0;
    if (__builtin_mul_overflow(call.bytes, std::size_t{team.size}, &all_bytes))
        return fail(SENNIT_ERR_ARG, "blocks of %zu bytes are more than the address space",
                    call.bytes);
    if (call.bytes == 0) return SENNIT_OK;
    const bool needs_source =
        sends && kKind != Kind::broadcast && (!call.in_place || kKind == Kind::scatter);
    if (needs_source && call.source.memory == nullptr) return null_buffer("source");
    if (receives && call.destination.memory == nullptr) return null_buffer("destination");
    return SENNIT_OK;
}

// The caller's arguments for blocks of the same size.
struct EqualBlocks {
    int root;
    const void *source;
    void *destination;
    std::size_t bytes;
};

template <Kind kKind>
sennit_status run_blocks(const char *name, sennit_team team, const EqualBlocks &given,
                         const CallWait &wait) {
    coll::Call call;
    call.kind = kKind;
    call.root = static_cast<std::uint32_t>(given.root);
    call.bytes = given.bytes;
    call.source = {bytes_of(given.source), nullptr, nullptr, given.bytes};
    call.destination = {bytes_of(given.destination), nullptr, nullptr, given.bytes};
    detect_in_place(call);
    return run(name, team, call, wait, check_blocks<kKind>);
}

sennit_status check_sizes_of(const team::Team &team, const coll::Blocks &blocks,
                             const char *which) {
    if (blocks.bytes == nullptr) return fail(SENNIT_ERR_ARG, "the %s's sizes are null", which);
    for (std::uint32_t member = 0; member < team.size; ++member)
        if (blocks.bytes[member] != 0 && blocks.memory == nullptr) return null_buffer(which);
    return SENNIT_OK;
}

// Blocks of several sizes.
sennit_status check_sized_blocks(const team::Team &team, coll::Call &call) {
    const bool is_root = team.rank == call.root;
    const bool rooted = coll::from_root(call.kind) || coll::to_root(call.kind);
    if (call.kind == Kind::scatterv && call.destination.memory == SENNIT_IN_PLACE)
        call.in_place = true;
    if (call.in_place && rooted && !is_root)
        return fail(SENNIT_ERR_ARG, "only the root can work in place");
    const bool source_blocks = call.kind == Kind::scatterv || call.kind == Kind::alltoallv;
    if (source_blocks && (is_root || !rooted) && !(call.in_place && call.kind != Kind::scatterv)) {
        const sennit_status status = check_sizes_of(team, call.source, "source");
        if (status != SENNIT_OK) return status;
    }
    if (call.kind != Kind::scatterv && (is_root || !rooted)) {
        const sennit_status status = check_sizes_of(team, call.destination, "destination");
        if (status != SENNIT_OK) return status;
    }
    if (call.bytes == 0 || call.in_place) return SENNIT_OK;
    if (call.kind == Kind::scatterv && call.destination.memory == nullptr)
        return null_buffer("destination");
    if (!source_blocks && call.source.memory == nullptr) return null_buffer("source");
    return SENNIT_OK;
}

coll::Blocks blocks_of(const sennit_vbuffer *blocks) {
    if (blocks == nullptr) return {};
    return {bytes_of(blocks->memory), blocks->bytes, blocks->offsets, 0};
}

coll::Blocks one_block(const void *memory) {
    return {bytes_of(memory), nullptr, nullptr, 0};
}

// The caller's arguments for blocks of several sizes.
struct SizedBlocks {
    int root;
    coll::Blocks source;
    coll::Blocks destination;
    std::size_t bytes = 0;
    bool in_place = false;  // also if the buffers do not say so
};

template <Kind kKind>
sennit_status run_sized(const char *name, sennit_team team, const SizedBlocks &given,
                        const CallWait &wait) {
    coll::Call call;
    call.kind = kKind;
    call.root = static_cast<std::uint32_t>(given.root);
    call.source = given.source;
    call.destination = given.destination;
    call.bytes = given.bytes;
    detect_in_place(call);
    call.in_place |= given.in_place;
    return run(name, team, call, wait, check_sized_blocks);
}

constexpr std::size_t kMostElementBytes = 4096;

sennit_status check_operator(coll::Call &call) {
    if (call.op == SENNIT_USER_OPERATOR) {
        if (call.combine == nullptr) return null_argument("the operator's function");
        if (call.element_bytes == 0 || call.element_bytes > kMostElementBytes)
            return fail(SENNIT_ERR_ARG, "elements of %zu bytes: 1 to %zu can be reduced",
                        call.element_bytes, kMostElementBytes);
        return SENNIT_OK;
    }
    call.element_bytes = type_bytes(call.type);
    call.kernel = find_kernel(call.type, call.op);
    if (call.kernel != nullptr) return SENNIT_OK;
    if (call.element_bytes == 0)
        return fail(SENNIT_ERR_ARG,
                    "there is no type %d (sennit_reduction_of takes count, type and operator)",
                    static_cast<int>(call.type));
    return fail(SENNIT_ERR_ARG,
                "there is no operator %d for elements of type %d (sennit_reduction_of takes count, "
                "type and operator; the bitwise ones are for integers, REPLACE and NO_OP are for "
                "accumulate)",
                static_cast<int>(call.op), static_cast<int>(call.type));
}

// `call.bytes` is a number of elements on entry.
sennit_status check_reduction(const team::Team &team, coll::Call &call) {
    sennit_status status = check_operator(call);
    if (status != SENNIT_OK) return status;
    std::size_t elements = call.bytes;
    if (call.counts != nullptr) {
        elements = 0;
        for (std::uint32_t member = 0; member < team.size; ++member)
            if (__builtin_add_overflow(elements, call.counts[member], &elements))
                return fail(SENNIT_ERR_ARG, "the elements exceed the address space");
    }
    if (__builtin_mul_overflow(elements, call.element_bytes, &call.bytes) ||
        call.bytes > SIZE_MAX / team.size)
        return fail(SENNIT_ERR_ARG,
                    "%zu elements (%lld as a signed number) exceed the address space", elements,
                    static_cast<long long>(elements));
    const bool has_result = call.kind != Kind::reduce || team.rank == call.root;
    if (call.in_place && !has_result)
        return fail(SENNIT_ERR_ARG, "only the root can work in place");
    if (elements == 0) return SENNIT_OK;
    if (!call.in_place && call.source.memory == nullptr) return null_buffer("source");
    const bool gets_none =
        !has_result || (call.counts != nullptr && call.counts[team.rank] == 0 && !call.in_place);
    return gets_none || call.destination.memory != nullptr ? SENNIT_OK : null_buffer("destination");
}

coll::Call reduction_call(Kind kind, int root, const void *source, void *destination,
                          const sennit_reduction &reduction) {
    coll::Call call;
    call.kind = kind;
    call.root = static_cast<std::uint32_t>(root);
    call.bytes = reduction.count;
    call.type = reduction.type;
    call.op = reduction.op;
    call.combine = reduction.combine;
    call.context = reduction.context;
    call.element_bytes = reduction.element_bytes;
    call.source.memory = bytes_of(source);
    call.destination.memory = bytes_of(destination);
    detect_in_place(call);
    return call;
}

sennit_status run_reduction(const char *name, sennit_team team, const coll::Call &call,
                            const CallWait &wait) {
    return run(name, team, call, wait, check_reduction);
}

sennit_status run_counts(const char *name, sennit_team team, coll::Call call,
                         const std::size_t counts[], const CallWait &wait) {
    call.counts = counts;
    if (caller() != nullptr && counts == nullptr)
        return fail_in(fail(SENNIT_ERR_ARG, "the counts are null"), name);
    return run_reduction(name, team, call, wait);
}

sennit_status barrier(Rank &rank, sennit_team team, std::int64_t timeout_ns) {
    team::Team *found = team::find(rank, team.handle);
    if (found == nullptr) return no_team(team.handle);
    sennit_status status = check_timeout(timeout_ns);
    if (status != SENNIT_OK) return status;
    const team::CollectiveCall turn(*found, team.handle);
    status = turn.status();
    if (status == SENNIT_OK) status = coll::check_no_unfinished(rank, *found);
    if (status != SENNIT_OK) return status;
    return team::barrier(rank, *found, Deadline::within(timeout_ns));
}

}  // namespace

extern "C" {

sennit_status sennit_barrier(sennit_team team, int64_t timeout_ns) {
    return noted_call(__func__, [=](Rank &rank) { return barrier(rank, team, timeout_ns); });
}

sennit_status sennit_barrier_nb(sennit_team team, sennit_request *request) {
    coll::Call call;
    call.kind = Kind::barrier;
    return run(__func__, team, call, later(request), nullptr);
}

// Each blocking call and its form with a request; they differ only in the last parameter.
#define SENNIT_LIST(...) __VA_ARGS__
#define SENNIT_DEFINE_CALL(NAME, PARAMETERS, RUN, ...)                                  \
    sennit_status sennit_##NAME(SENNIT_LIST PARAMETERS, int64_t timeout_ns) {           \
        return RUN(__func__, team, __VA_ARGS__, until(timeout_ns));                     \
    }                                                                                   \
    sennit_status sennit_##NAME##_nb(SENNIT_LIST PARAMETERS, sennit_request *request) { \
        return RUN(__func__, team, __VA_ARGS__, later(request));                        \
    }

SENNIT_DEFINE_CALL(broadcast, (sennit_team team, int root, void *buffer, size_t bytes),
                   run_blocks<Kind::broadcast>, {root, nullptr, buffer, bytes})
SENNIT_DEFINE_CALL(scatter,
                   (sennit_team team, int root, const void *source, void *destination,
                    size_t bytes),
                   run_blocks<Kind::scatter>, {root, source, destination, bytes})
SENNIT_DEFINE_CALL(gather,
                   (sennit_team team, int root, const void *source, void *destination,
                    size_t bytes),
                   run_blocks<Kind::gather>, {root, source, destination, bytes})
SENNIT_DEFINE_CALL(allgather,
                   (sennit_team team, const void *source, void *destination, size_t bytes),
                   run_blocks<Kind::allgather>, {0, source, destination, bytes})
SENNIT_DEFINE_CALL(alltoall,
                   (sennit_team team, const void *source, void *destination, size_t bytes),
                   run_blocks<Kind::alltoall>, {0, source, destination, bytes})

SENNIT_DEFINE_CALL(scatterv,
                   (sennit_team team, int root, const sennit_vbuffer *source, void *destination,
                    size_t bytes),
                   run_sized<Kind::scatterv>,
                   {root, blocks_of(source), one_block(destination), bytes})
SENNIT_DEFINE_CALL(gatherv,
                   (sennit_team team, int root, const void *source, size_t bytes,
                    const sennit_vbuffer *destination),
                   run_sized<Kind::gatherv>,
                   {root, one_block(source), blocks_of(destination), bytes})
SENNIT_DEFINE_CALL(allgatherv,
                   (sennit_team team, const void *source, size_t bytes,
                    const sennit_vbuffer *destination),
                   run_sized<Kind::allgatherv>,
                   {0, one_block(source), blocks_of(destination), bytes})
SENNIT_DEFINE_CALL(alltoallv,
                   (sennit_team team, const sennit_vbuffer *source,
                    const sennit_vbuffer *destination),
                   run_sized<Kind::alltoallv>,
                   {0, blocks_of(source), blocks_of(destination), 0, source == nullptr})

SENNIT_DEFINE_CALL(reduce,
                   (sennit_team team, int root, const void *source, void *destination,
                    sennit_reduction reduction),
                   run_reduction,
                   reduction_call(Kind::reduce, root, source, destination, reduction))
SENNIT_DEFINE_CALL(allreduce,
                   (sennit_team team, const void *source, void *destination,
                    sennit_reduction reduction),
                   run_reduction,
                   reduction_call(Kind::allreduce, 0, source, destination, reduction))
SENNIT_DEFINE_CALL(reduce_scatter,
                   (sennit_team team, const void *source, void *destination, const size_t counts[],
                    sennit_reduction reduction),
                   run_counts,
                   reduction_call(Kind::reduce_scatter, 0, source, destination, reduction), counts)
SENNIT_DEFINE_CALL(reduce_scatter_block,
                   (sennit_team team, const void *source, void *destination,
                    sennit_reduction reduction),
                   run_reduction,
                   reduction_call(Kind::reduce_scatter, 0, source, destination, reduction))
SENNIT_DEFINE_CALL(scan,
                   (sennit_team team, const void *source, void *destination,
                    sennit_reduction reduction),
                   run_reduction, reduction_call(Kind::scan, 0, source, destination, reduction))
SENNIT_DEFINE_CALL(scan_exclusive,
                   (sennit_team team, const void *source, void *destination,
                    sennit_reduction reduction),
                   run_reduction,
                   reduction_call(Kind::scan_exclusive, 0, source, destination, reduction))

}  // extern "C"
