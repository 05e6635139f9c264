// SPDX-License-Identifier: BSD-3-Clause
// What every rank tells all others before any path exists: who it is, where it runs, how to reach
// it. Exchanged once through the bootstrap. Fixed layout; every rank checks the others' version.
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
    std::int32_t numa;          // domain of the processor it started on, -1 unknown
    std::uint32_t start_ticks;  // of the process, as process_start_ticks() has it; 0 unknown
    std::uint64_t node[2];      // identity of the node: equal words, same node
    std::uint64_t kernel;       // equal words: the same processors, also of made-up nodes
    std::uint64_t process_cookie;
    std::uint64_t job_cookie;  // rank 0's counts
    std::uint8_t socket_name[kSocketNameBytes];
    std::uint64_t processors[kCpuWords];  // that it may run on
};
static_assert(sizeof(Card) == 216);

// Equal where boot id and network namespace are the same, so that two nodes of SENNIT_NODE have
// one.
std::uint64_t machine_word();

// Fills everything about this process and machine. Errors: OS.
sennit_status card_fill(Card *card, const Listener &listener);

// Are all cards of one job? Errors: BOOTSTRAP, naming the rank.
sennit_status cards_check(const Card *cards, int size, std::size_t stride);

// Does this rank share its processors with more ranks of its machine than there are processors?
bool cards_oversubscribed(const Card *cards, int size, std::size_t stride, int self);

// Notes on which processors the ranks of this one's machine may run, also those of other nodes of
// it: for the whole process, whose ranks share a thread for progress, and for good.
void cards_note_processors(const Card *cards, int size, std::size_t stride, int self);
bool is_processor_of_ranks(unsigned processor);

inline const Card &card_at(const Card *cards, std::size_t stride, int rank) {
    return *reinterpret_cast<const Card *>(reinterpret_cast<const char *>(cards) +
                                           stride * static_cast<std::size_t>(rank));
}

}  // namespace sennit::runtime
