// SPDX-License-Identifier: BSD-3-Clause
// Reductions in place. Loads read the operands where they are. Operands that loads do not reach are
// fetched in chunks. Fetches and puts by messages overlap the work: while a chunk is folded, the
// next one is fetched and the previous result is put.
#include <algorithm>
#include <cstring>

#include "base/copy.hpp"
#include "base/fail.hpp"
#include "coll/buffers.hpp"
#include "coll/state.hpp"
#include "op/rma.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"

namespace sennit::coll {
namespace {

// Bytes of each operand per step if loads reach all operands. Two operands and the result then stay
// in the level-1 cache, and the result fits into half of the scratch.
constexpr std::size_t kFoldBytes = 8192;
static_assert(kFoldBytes <= kScratchBytes);

// Fetched chunks take up to 4 MiB: in each of two halves, one per member and one for the result. A
// chunk that messages fetch has at most 512 KiB.
constexpr std::size_t kFetchedBytes = std::size_t{4} << 20;
constexpr std::size_t kMostByMessage = std::size_t{512} << 10;

struct Operands {
    Buffers *of;       // by member, in the scratch
    std::size_t step;  // bytes of each operand at a time
    // Not null if an operand must be fetched. `fetched` has two chunks of each member and of the
    // result; `gets` has the pending requests by half and member, `puts` by member.
    std::byte *fetched = nullptr;
    sennit_request *gets = nullptr;
    sennit_request *puts = nullptr;
};

// A part of the vector, in bytes.
struct FoldChunk {
    std::size_t begin;
    std::size_t end;
    unsigned half;  // of `fetched`
    std::size_t bytes() const { return end - begin; }
};

std::byte *stage_of(const TeamState &state, const Operands &operands, std::uint32_t member,
                    unsigned half) {
    return operands.fetched + (std::size_t{half} * (state.size + 1) + member) * operands.step;
}

// Room for a result that cannot be computed in its place.
std::byte *aside_of(TeamState &state, const Operands &operands, unsigned half) {
    return operands.fetched == nullptr ? scratch_of(state)
                                       : stage_of(state, operands, state.size, half);
}

// Makes room for chunks. It stays for the team's next reduction, since its size depends only on the
// team.
sennit_status make_stages(TeamState &state, std::size_t unit, Operands *out) {
    const std::size_t rows = 2 * (std::size_t{state.size} + 1);
    const std::size_t most = state.kernel_copies ? kStageBytes : kMostByMessage;
    const std::size_t each =
        std::clamp(kFetchedBytes / rows, kScratchBytes, most) & ~(kLineBytes - 1);
    const std::size_t requests = 3 * std::size_t{state.size} * sizeof(sennit_request);
    std::byte *const memory = operands_of(state, rows * each + requests);
    if (memory == nullptr) return SENNIT_ERR_NOMEM;
    out->step = std::max(each / unit, std::size_t{1}) * unit;
    out->fetched = memory;
    out->gets = reinterpret_cast<sennit_request *>(memory + rows * each);
    out->puts = out->gets + 2 * std::size_t{state.size};
    std::fill_n(out->gets, 3 * std::size_t{state.size}, SENNIT_REQUEST_NULL);
    return SENNIT_OK;
}

sennit_status find_operands(TeamState &state, OpenCall &operation, Operands *out) {
    const Call &call = operation.call;
    const team::Team &team = *state.team;
    std::byte *scratch = scratch_of(state);
    if (scratch == nullptr) return SENNIT_ERR_NOMEM;
    out->of = reinterpret_cast<Buffers *>(scratch + kScratchBytes);
    bool all_here = true;
    for (std::uint32_t member = 0; member < team.size; ++member) {
        Buffers &buffers = out->of[member];
        if (member == team.rank) {
            buffers.source.address = block_for(call, team, member).memory;
            buffers.destination.address = call.destination.memory;
            continue;
        }
        std::uint64_t offset = 0;
        sennit_status status = buffers_of(state, operation, member, &buffers);
        if (status == SENNIT_OK) status = source_offset(state, operation, member, &offset);
        if (status == SENNIT_OK) status = find_address(*state.rank, &buffers.source);
        if (status == SENNIT_OK) status = find_address(*state.rank, &buffers.destination);
        if (status != SENNIT_OK) return status;
        buffers.source.place.offset += offset;
        if (buffers.source.address != nullptr) buffers.source.address += offset;
        all_here &= buffers.source.address != nullptr;
    }
    const std::size_t unit = call.element_bytes;
    out->step = std::max(kFoldBytes / unit, std::size_t{1}) * unit;
    return all_here ? SENNIT_OK : make_stages(state, unit, out);
}

// Starts to fetch the chunk from all sources that `reader` reads and loads do not reach.
sennit_status start_fetch(TeamState &state, const Call &call, std::uint32_t reader,
                          const Operands &operands, const FoldChunk &chunk) {
    for (std::uint32_t member = 0; member < state.size; ++member) {
        const Where &source = operands.of[member].source;
        if (source.address != nullptr || !reads(call, reader, member)) continue;
        sennit_request *const request = &operands.gets[chunk.half * state.size + member];
        const sennit_status status =
            op::transfer(*state.rank, op::Direction::get,
                         sennit_gptr_add(source.place, static_cast<std::int64_t>(chunk.begin)),
                         stage_of(state, operands, member, chunk.half), chunk.bytes(),
                         {op::Completion::Mode::request, request});
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// Folds the chunk of all sources that `reader` reads, in the members' order.
sennit_status fold_chunk(TeamState &state, const Call &call, std::uint32_t reader,
                         const Operands &operands, const FoldChunk &chunk, std::byte *into) {
    const std::byte *left = nullptr;
    for (std::uint32_t member = 0; member < state.size; ++member) {
        if (!reads(call, reader, member)) continue;
        const std::byte *const source = operands.of[member].source.address;
        const std::byte *const right = source != nullptr
                                           ? source + chunk.begin
                                           : stage_of(state, operands, member, chunk.half);
        if (left == nullptr) {
            left = right;
            continue;
        }
        const sennit_status status = fold(call, left, right, into, chunk.bytes());
        if (status != SENNIT_OK) return status;
        left = into;
    }
    if (left != nullptr && left != into) copy_bytes(into, left, chunk.bytes());
    return SENNIT_OK;
}

// Starts to put the result to all members that get it. `result` must not change until the call for
// the next chunk returns, because that call waits for these puts.
sennit_status start_results(TeamState &state, const Call &call, const Operands &operands,
                            const FoldChunk &chunk, std::byte *result) {
    for (std::uint32_t member = 0; member < state.size; ++member) {
        if (member == state.team->rank || !gets_result(call, member)) continue;
        const Where &to = operands.of[member].destination;
        if (to.address != nullptr || operands.puts == nullptr) {
            const sennit_status status =
                copy(*state.rank, op::Direction::put, to, chunk.begin, result, chunk.bytes());
            if (status != SENNIT_OK) return status;
            continue;
        }
        sennit_request *const request = &operands.puts[member];
        sennit_status status = request::wait(*state.rank, request, default_deadline());
        if (status == SENNIT_OK)
            status = op::transfer(*state.rank, op::Direction::put,
                                  sennit_gptr_add(to.place, static_cast<std::int64_t>(chunk.begin)),
                                  result, chunk.bytes(), {op::Completion::Mode::request, request});
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// The part of a vector of `bytes` bytes that this rank folds.
FoldChunk own_part(const TeamState &state, const OpenCall &operation, std::size_t bytes) {
    if (!operation.divided) return {0, bytes, 0};
    const std::size_t unit = operation.call.element_bytes;
    const std::uint32_t own = state.team->rank;
    // A multiple of 64 elements, so that the ranks write on different lines.
    const std::size_t share = (bytes / unit / state.size / 64 + 1) * 64 * unit;
    const std::size_t first = std::min(bytes, share * own);
    return {first, own + 1 == state.size ? bytes : std::min(bytes, first + share), 0};
}

// Folds all chunks. The caller waits for the requests that are still pending.
sennit_status fold_part(TeamState &state, OpenCall &operation, const Operands &operands,
                        const FoldChunk &part) {
    const Call &call = operation.call;
    const std::uint32_t own = state.team->rank;
    const std::uint32_t reader = call.kind == Kind::reduce ? call.root : own;
    const bool has_destination = call.kind != Kind::reduce || own == call.root;
    // With a single buffer this rank's elements are in the place of the result. If they are not one
    // of the first two operands, an earlier result would overwrite them.
    const bool aside = !has_destination || (call.in_place && own > 1);
    const auto chunk_at = [&](std::size_t begin) {
        const std::size_t number = (begin - part.begin) / operands.step;
        return FoldChunk{begin, std::min(part.end, begin + operands.step),
                         static_cast<unsigned>(number % 2)};
    };
    sennit_status status = SENNIT_OK;
    if (operands.gets != nullptr && part.begin < part.end)
        status = start_fetch(state, call, reader, operands, chunk_at(part.begin));
    for (std::size_t begin = part.begin; begin < part.end; begin += operands.step) {
        const FoldChunk chunk = chunk_at(begin);
        if (operands.gets != nullptr && status == SENNIT_OK)
            status = request::wait_all(*state.rank, state.size,
                                       &operands.gets[chunk.half * state.size], default_deadline());
        if (operands.gets != nullptr && status == SENNIT_OK && chunk.end < part.end)
            status = start_fetch(state, call, reader, operands, chunk_at(chunk.end));
        if (status != SENNIT_OK) return status;
        std::byte *const result = call.destination.memory + begin;
        std::byte *const into = aside ? aside_of(state, operands, chunk.half) : result;
        status = fold_chunk(state, call, reader, operands, chunk, into);
        if (status == SENNIT_OK && aside && has_destination)
            copy_bytes(result, into, chunk.bytes());
        if (status == SENNIT_OK && operation.divided)
            status = start_results(state, call, operands, chunk, has_destination ? result : into);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

}  // namespace

sennit_status fold_in_place(TeamState &state, OpenCall &operation) {
    const Call &call = operation.call;
    Operands operands{};
    sennit_status status = find_operands(state, operation, &operands);
    if (status != SENNIT_OK) return status;
    const std::size_t bytes = call.kind == Kind::reduce
                                  ? call.bytes
                                  : block_from(call, *state.team, state.team->rank).bytes;
    status = fold_part(state, operation, operands, own_part(state, operation, bytes));
    if (operands.gets == nullptr) return status;
    const std::size_t requests = 3 * std::size_t{state.size};
    const sennit_error error = *thread_error();
    const sennit_status rest =
        request::wait_all(*state.rank, requests, operands.gets, default_deadline());
    if (status != SENNIT_OK) *thread_error() = error;
    if (rest != SENNIT_ERR_TIMEOUT) return status == SENNIT_OK ? rest : status;
    // Unfinished transfers may still write into this memory: do not use it again.
    for (std::size_t i = 0; i < requests; ++i)
        op::engine_abandon(*state.rank, operands.gets[i], op::Abandoned::library_s);
    state.operands = nullptr;
    return status == SENNIT_OK ? rest : status;
}

}  // namespace sennit::coll
