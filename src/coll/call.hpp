// SPDX-License-Identifier: BSD-3-Clause
// A collective call with checked arguments, and the blocks that move between its members. Nothing
// here communicates.
#pragma once

#include <sennit/coll.h>

#include <cstddef>
#include <cstdint>

#include "base/combine.hpp"
#include "team/long_wait.hpp"
#include "team/team.hpp"

namespace sennit::coll {

enum class Kind : std::uint8_t {
    barrier = 1,
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
    scan,
    scan_exclusive,
};

// Blocks of a buffer, one per member. `bytes` null: all have `each` bytes. `offsets` null: each
// block starts where the block before it ends.
struct Blocks {
    std::byte *memory = nullptr;
    const std::size_t *bytes = nullptr;
    const std::size_t *offsets = nullptr;
    std::size_t each = 0;
};

// Must not grow: each call fills it, and compilers clear a larger struct by a loop.
struct Call {
    Kind kind = Kind::barrier;
    bool in_place = false;
    std::uint32_t root = 0;
    Blocks source;  // only read; a single block unless has_own_blocks()
    Blocks destination;
    std::size_t bytes = 0;  // of a single block; with `counts`: of all elements together
    // Reductions.
    std::size_t element_bytes = 1;
    sennit_type type = SENNIT_UINT8;
    sennit_operator op = SENNIT_SUM;
    Kernel kernel = nullptr;  // null: the program's `combine` is the operator
    sennit_combine combine = nullptr;
    void *context = nullptr;
    // For reduce_scatter with blocks of several sizes: the sizes in elements. Then
    // destination.offsets may have the first element of each block (add_offsets()).
    const std::size_t *counts = nullptr;
};

static_assert(sizeof(Call) == 128);

struct Block {
    std::byte *memory;
    std::size_t bytes;
};

// Whether each receiver gets its own block. Otherwise all receivers get the same bytes.
constexpr bool has_own_blocks(Kind kind) {
    return kind == Kind::scatter || kind == Kind::alltoall || kind == Kind::scatterv ||
           kind == Kind::alltoallv || kind == Kind::reduce_scatter;
}
constexpr bool has_sizes(Kind kind) {
    return kind == Kind::scatterv || kind == Kind::gatherv || kind == Kind::allgatherv ||
           kind == Kind::alltoallv;
}
constexpr bool folds(Kind kind) {
    return kind >= Kind::reduce;
}
constexpr bool from_root(Kind kind) {
    return kind == Kind::broadcast || kind == Kind::scatter || kind == Kind::scatterv;
}
constexpr bool to_root(Kind kind) {
    return kind == Kind::gather || kind == Kind::gatherv || kind == Kind::reduce;
}

// Whether the members may divide work that one of them could do alone.
constexpr bool can_be_divided(Kind kind) {
    return kind == Kind::broadcast || kind == Kind::scatter || kind == Kind::gather ||
           kind == Kind::reduce || kind == Kind::allreduce;
}
// In a call that can be divided: whether `member` gets a result, so that others must be able to
// write into its destination.
inline bool gets_result(const Call &call, std::uint32_t member) {
    if (from_root(call.kind)) return member != call.root;
    return !to_root(call.kind) || member == call.root;
}

// Whether other members read the post of `member`.
inline bool is_read(const Call &call, const team::Team &team, std::uint32_t member) {
    if (team.size == 1) return false;
    if (from_root(call.kind)) return member == call.root;
    if (to_root(call.kind)) return member != call.root;
    return true;
}

// Whether `member` reads the post of `source`.
inline bool reads(const Call &call, std::uint32_t member, std::uint32_t source) {
    if (from_root(call.kind)) return source == call.root;
    if (to_root(call.kind)) return member == call.root;
    if (call.kind == Kind::scan) return source <= member;
    if (call.kind == Kind::scan_exclusive) return source < member;
    return true;
}

// block_for() is the block that this rank sends to `member`. block_from() is the place for the
// block from `member`; in a reduction it is the place for the result.
Block block_for(const Call &call, const team::Team &team, std::uint32_t member);
Block block_from(const Call &call, const team::Team &team, std::uint32_t member);

// For contiguous blocks of several sizes: computes the start of each block once. Otherwise
// block_for() and block_from() add up all earlier sizes at each use. `offsets` has room for two per
// member and lives as long as the call.
bool needs_offsets(const Call &call, const team::Team &team);
void add_offsets(Call &call, const team::Team &team, std::size_t offsets[]);

// The first element of a member's block, if the call has counts.
std::size_t first_of(const Call &call, std::uint32_t member);

// The size of the largest block that this rank sends. Peers may not know it.
std::size_t most_bytes(const Call &call, const team::Team &team);

// Equal on all members of the same call.
inline std::uint64_t signature_of(const Call &call) {
    const auto kind = static_cast<std::uint64_t>(call.kind);
    if (!folds(call.kind)) return kind | static_cast<std::uint64_t>(call.root) << 32;
    return kind | static_cast<std::uint64_t>(call.type) << 8 |
           static_cast<std::uint64_t>(call.op) << 16 | static_cast<std::uint64_t>(call.root) << 32;
}

// The signature plus the size, for tiny slots, which have one word for both.
inline constexpr unsigned kTinySizeShift = 24;
inline constexpr std::uint64_t kTinySizeMask = UINT64_C(0xff) << kTinySizeShift;
inline std::uint64_t tiny_signature_of(const Call &call) {
    return signature_of(call) | static_cast<std::uint64_t>(call.bytes) << kTinySizeShift;
}

inline std::uint64_t common_bytes(const Call &call) {
    return has_sizes(call.kind) ? 0 : call.bytes;
}

// Whether `b` repeats the call `a`.
bool is_same(const Call &a, const Call &b);

// Errors: ARG (an operator of the program threw an exception).
sennit_status call_operator(const Call &call, const void *left, const void *right, void *result,
                            std::size_t count);

// result = left op right, `bytes` of whole elements. Errors: those of call_operator().
inline sennit_status fold(const Call &call, const void *left, const void *right, void *result,
                          std::size_t bytes) {
    const std::size_t count = bytes / call.element_bytes;
    if (call.kernel == nullptr) return call_operator(call, left, right, result, count);
    call.kernel(left, right, result, count);
    return SENNIT_OK;
}

constexpr std::uint8_t call_of(Kind kind) {
    return static_cast<std::uint8_t>(team::kFirstPosted + static_cast<unsigned>(kind));
}
inline const char *name_of(Kind kind) {
    return team::call_name(call_of(kind));
}

}  // namespace sennit::coll
