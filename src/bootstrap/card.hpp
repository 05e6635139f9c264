// SPDX-License-Identifier: BSD-3-Clause
// The data that each rank gives to all others before any path exists: its number, its place, and
// how to reach it. Exchanged once through the bootstrap. Fixed layout; every rank checks the
// version of the others.
#pragma once

#include <cstdint>

#include "base/fail.hpp"
#include "bootstrap/node_exchange.hpp"
#include "rank/control_block.hpp"

namespace sennit::runtime {

inline constexpr std::uint64_t kCardMagic = 0x31445243544E4E53;  // "SNNTCRD1", little endian

struct Card {
    std::uint64_t magic;
    std::uint32_t version;  // kLayoutVersion
    std::int32_t rank;
    std::int32_t size;
    std::int32_t process_id;
    std::int32_t numa;          // NUMA domain of the processor at its start, -1 unknown
    std::uint32_t start_ticks;  // of the process, from process_start_ticks(); 0 unknown
    std::uint64_t node[2];      // identity of the node: equal words mean the same node
    std::uint64_t kernel;       // equal words mean the same kernel, whatever SENNIT_NODE is
    std::uint64_t process_cookie;
    std::uint64_t job_cookie;  // all ranks use that of rank 0
    std::uint8_t socket_name[kSocketNameBytes];
    std::uint64_t processors[kCpuWords];  // bits of the processors on which the rank may run
};
static_assert(sizeof(Card) == 216);

// A hash of boot id and network namespace: the same for nodes that only SENNIT_NODE separates.
std::uint64_t machine_word();

// Fills in everything about this process and machine. Errors: OS.
sennit_status card_fill(Card *card, const Listener &listener);

// Checks that all ranks run this version of Sennit, and that each card is at the place of its rank.
// Errors: BOOTSTRAP, naming the rank.
sennit_status cards_check(const Card *cards, int size, std::size_t stride);

// Whether the ranks of this machine that may run on a processor of this rank, this rank included,
// are more than this rank's processors.
bool cards_oversubscribed(const Card *cards, int size, std::size_t stride, int self);

// Records the processors on which ranks of this machine may run. With SENNIT_NODE a machine has
// several nodes; the ranks of all of them count. The record is permanent and belongs to the
// process, because its ranks share a progress thread.
void cards_note_processors(const Card *cards, int size, std::size_t stride, int self);
bool is_processor_of_ranks(unsigned processor);

inline const Card &card_at(const Card *cards, std::size_t stride, int rank) {
    return *reinterpret_cast<const Card *>(reinterpret_cast<const char *>(cards) +
                                           stride * static_cast<std::size_t>(rank));
}

}  // namespace sennit::runtime
