// SPDX-License-Identifier: BSD-3-Clause
#include "memory/control_map.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "base/fail.hpp"
#include "memory/segments.hpp"
#include "memory/space.hpp"

namespace sennit::memory {
namespace {

constexpr std::uint64_t kHeadBytes = offsetof(ControlBlock, more_teams);

std::uint64_t tables_bytes(std::uint64_t size) {
    return round_up(offers_and_watch_bytes(size), kLargestSmallPage);
}

// Reports the exceeded limit, and that a control block needed the memory. The text is short,
// because the errors of other ranks quote it.
sennit_status no_view(std::uint64_t bytes, int reason) {
    (void)no_address_space(bytes, reason);
    const sennit_error error = *thread_error();
    (void)fail(SENNIT_ERR_NOMEM,
               "%.150s (for a control block; a rank maps one of each rank of its node)",
               error.text);
    thread_error()->os_errno = reason;
    return SENNIT_ERR_NOMEM;
}

sennit_status map_chunk(ControlBlock &control, int file, std::uint32_t chunk,
                        std::uint64_t offset) {
    auto *place = reinterpret_cast<std::byte *>(&control.more_teams[chunk * kTeamsPerChunk]);
    if (space_map(place, file, offset, kTeamChunkBytes)) return SENNIT_OK;
    return no_address_space(kTeamChunkBytes, errno);
}

}  // namespace

std::uint64_t control_view_bytes(std::uint64_t size) {
    return sizeof(ControlBlock) + tables_bytes(size);
}

std::uint64_t control_file_bytes(std::uint64_t size) {
    return kHeadBytes + tables_bytes(size);
}

sennit_status control_map(int file, std::uint64_t size, ControlBlock **control) {
    const std::uint64_t bytes = control_view_bytes(size);
    void *const view =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (view == MAP_FAILED) return no_view(bytes, errno);
    (void)madvise(view, bytes, MADV_DONTFORK);
    auto *const begin = static_cast<std::byte *>(view);
    if (!space_map(begin, file, 0, kHeadBytes) ||
        !space_map(begin + sizeof(ControlBlock), file, kHeadBytes, tables_bytes(size))) {
        const int reason = errno;
        (void)munmap(view, bytes);
        return no_view(bytes, reason);
    }
    *control = reinterpret_cast<ControlBlock *>(begin);
    return SENNIT_OK;
}

void control_unmap(ControlBlock *control, std::uint64_t size) {
    file_unmap(reinterpret_cast<std::byte *>(control), control_view_bytes(size));
}

std::uint32_t control_chunks(const ControlBlock &control) {
    std::uint32_t chunks = 0;
    // relaxed: the owner calls this with its cold mutex held, under which it makes chunks.
    while (chunks < kTeamChunks &&
           control.chunk_offsets[chunks].load(std::memory_order_relaxed) != 0)
        ++chunks;
    return chunks;
}

sennit_status control_grow(Rank &rank, std::uint32_t chunks) {
    LocalSegments &own = *rank.segments;
    for (std::uint32_t chunk = control_chunks(*rank.control); chunk < chunks; ++chunk) {
        const std::uint64_t begin = round_up(own.file_end, kLargestSmallPage);
        sennit_status status = file_grow(rank.memory_file, begin + kTeamChunkBytes);
        if (status != SENNIT_OK) return status;
        status = map_chunk(*rank.control, rank.memory_file, chunk, begin);
        if (status != SENNIT_OK) return status;
        own.file_end = begin + kTeamChunkBytes;
        // SYNC team-chunk: pairs with the acquire in control_reach(); the growth of the file comes
        // before.
        rank.control->chunk_offsets[chunk].store(begin, std::memory_order_release);
    }
    return SENNIT_OK;
}

sennit_status control_reach(Rank &rank, int peer, std::uint32_t team_slot) {
    Peer &owner = rank.peers[peer];
    if (team_slot <= kFirstTeams || owner.control == nullptr || peer == rank.world_rank)
        return SENNIT_OK;
    const auto chunk = static_cast<std::uint32_t>((team_slot - 1 - kFirstTeams) / kTeamsPerChunk);
    if ((owner.team_chunks >> chunk & 1) != 0) return SENNIT_OK;
    // SYNC team-chunk: pairs with the release in control_grow().
    const std::uint64_t offset =
        owner.control->chunk_offsets[chunk].load(std::memory_order_acquire);
    const sennit_status status = map_chunk(*owner.control, owner.memory_file, chunk, offset);
    if (status == SENNIT_OK) owner.team_chunks |= std::uint64_t{1} << chunk;
    return status;
}

}  // namespace sennit::memory
