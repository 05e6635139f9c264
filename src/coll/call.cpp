// SPDX-License-Identifier: BSD-3-Clause
#include "coll/call.hpp"

#include <algorithm>

namespace sennit::coll {
namespace {

Block block_at(const Blocks &blocks, std::uint32_t member) {
    if (blocks.bytes == nullptr)
        return {blocks.memory == nullptr ? nullptr : blocks.memory + blocks.each * member,
                blocks.each};
    std::size_t offset = 0;
    if (blocks.offsets != nullptr) {
        offset = blocks.offsets[member];
    } else {
        for (std::uint32_t i = 0; i < member; ++i)
            offset += blocks.bytes[i];
    }
    return {blocks.memory == nullptr ? nullptr : blocks.memory + offset, blocks.bytes[member]};
}

// Whether the blocks have several sizes and no offsets. False on ranks without the blocks.
bool are_contiguous(const Call &call, const team::Team &team, const Blocks &blocks) {
    const bool has_blocks = !(from_root(call.kind) || to_root(call.kind)) || team.rank == call.root;
    return has_blocks && blocks.bytes != nullptr && blocks.offsets == nullptr;
}

void sum_up(const std::size_t sizes[], std::uint32_t count, std::size_t sums[]) {
    std::size_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        sums[i] = sum;
        sum += sizes[i];
    }
}

// This rank's elements of a reduction.
std::byte *elements_of(const Call &call) {
    return call.in_place ? call.destination.memory : call.source.memory;
}

Block reduced_block(const Call &call, std::byte *elements, std::uint32_t member) {
    if (call.counts == nullptr)
        return {elements == nullptr ? nullptr : elements + call.bytes * member, call.bytes};
    const std::size_t first = first_of(call, member);
    return {elements == nullptr ? nullptr : elements + first * call.element_bytes,
            call.counts[member] * call.element_bytes};
}

}  // namespace

bool needs_offsets(const Call &call, const team::Team &team) {
    return call.counts != nullptr || are_contiguous(call, team, call.source) ||
           are_contiguous(call, team, call.destination);
}

void add_offsets(Call &call, const team::Team &team, std::size_t offsets[]) {
    if (call.counts != nullptr) {
        sum_up(call.counts, team.size, offsets);
        call.destination.offsets = offsets;
        return;
    }
    for (Blocks *blocks : {&call.source, &call.destination}) {
        if (!are_contiguous(call, team, *blocks)) continue;
        sum_up(blocks->bytes, team.size, offsets);
        blocks->offsets = offsets;
        offsets += team.size;
    }
}

std::size_t first_of(const Call &call, std::uint32_t member) {
    if (call.destination.offsets != nullptr) return call.destination.offsets[member];
    std::size_t first = 0;
    for (std::uint32_t i = 0; i < member; ++i)
        first += call.counts[i];
    return first;
}

Block block_for(const Call &call, const team::Team &team, std::uint32_t member) {
    switch (call.kind) {
        case Kind::barrier:
            return {nullptr, 0};
        case Kind::broadcast:
            return {call.destination.memory, call.bytes};
        case Kind::scatter:
        case Kind::scatterv:
            return block_at(call.source, member);
        case Kind::alltoall:
        case Kind::alltoallv:
            return block_at(call.in_place ? call.destination : call.source, member);
        case Kind::gather:
        case Kind::gatherv:
        case Kind::allgather:
        case Kind::allgatherv:
            return call.in_place ? block_at(call.destination, team.rank)
                                 : Block{call.source.memory, call.bytes};
        case Kind::reduce_scatter:
            return reduced_block(call, elements_of(call), member);
        default:
            return {elements_of(call), call.bytes};
    }
}

Block block_from(const Call &call, const team::Team &team, std::uint32_t member) {
    switch (call.kind) {
        case Kind::barrier:
            return {nullptr, 0};
        case Kind::gather:
        case Kind::gatherv:
        case Kind::allgather:
        case Kind::allgatherv:
        case Kind::alltoall:
        case Kind::alltoallv:
            return block_at(call.destination, member);
        case Kind::reduce_scatter:
            return {call.destination.memory, reduced_block(call, nullptr, team.rank).bytes};
        default:
            return {call.destination.memory, call.bytes};
    }
}

std::size_t most_bytes(const Call &call, const team::Team &team) {
    if (from_root(call.kind) && team.rank != call.root) return 0;
    if (!has_own_blocks(call.kind)) return block_for(call, team, 0).bytes;
    std::size_t most = 0;
    for (std::uint32_t member = 0; member < team.size; ++member)
        most = std::max(most, block_for(call, team, member).bytes);
    return most;
}

bool is_same(const Call &a, const Call &b) {
    const auto same = [](const Blocks &x, const Blocks &y) {
        return x.memory == y.memory && x.bytes == y.bytes && x.offsets == y.offsets &&
               x.each == y.each;
    };
    return signature_of(a) == signature_of(b) && a.bytes == b.bytes && a.in_place == b.in_place &&
           same(a.source, b.source) && same(a.destination, b.destination) &&
           a.element_bytes == b.element_bytes && a.combine == b.combine && a.context == b.context &&
           a.counts == b.counts;
}

}  // namespace sennit::coll
