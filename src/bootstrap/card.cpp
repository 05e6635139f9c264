// SPDX-License-Identifier: BSD-3-Clause
// Identity of node and process. Ranks are on one node if they have the same kernel (boot id), the
// same abstract sockets (network namespace) and the same SENNIT_NODE.
#include "bootstrap/card.hpp"

#include <sched.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/hash.hpp"
#include "base/knobs.hpp"
#include "base/process_age.hpp"
#include "base/system_file.hpp"
#include "rank/process.hpp"

namespace sennit::runtime {
namespace {

struct Machine {
    char boot_id[64] = "";
    ino_t network = 0;  // namespace
};

Machine this_machine() {
    Machine machine;
    if (!read_system_file("/proc/sys/kernel/random/boot_id", machine.boot_id,
                          sizeof machine.boot_id))
        (void)gethostname(machine.boot_id, sizeof machine.boot_id);
    struct stat space {};
    (void)stat("/proc/self/ns/net", &space);
    machine.network = space.st_ino;
    return machine;
}

std::uint64_t kernel_hash(const Machine &machine, unsigned seed) {
    return hash_on(kHashOfNothing ^ seed, machine.boot_id, sizeof machine.boot_id);
}

std::uint64_t machine_hash(const Machine &machine, unsigned seed) {
    const std::uint64_t kernel = kernel_hash(machine, seed);
    return hash_on(kHashOfNothing ^ kernel, &machine.network, sizeof machine.network);
}

void fill_node(const Machine &machine, std::uint64_t node[2]) {
    const char *name = knobs().node.text;
    for (unsigned i = 0; i < 2; ++i)
        node[i] = hash_on(kHashOfNothing ^ machine_hash(machine, i), name, std::strlen(name));
}

std::atomic<std::uint64_t> processors_of_ranks[kCpuWords];

void fill_processors(std::uint64_t words[kCpuWords]) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    for (unsigned cpu = 0; cpu < kCpuWords * 64 && cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) words[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
}

}  // namespace

std::uint64_t machine_word() {
    return machine_hash(this_machine(), 0);
}

sennit_status card_fill(Card *card, const Listener &listener) {
    card->magic = kCardMagic;
    card->version = kLayoutVersion;
    card->process_id = getpid();
    card->start_ticks = process_start_ticks(card->process_id);
    unsigned cpu = 0;
    unsigned numa = 0;
    card->numa = getcpu(&cpu, &numa) == 0 ? static_cast<std::int32_t>(numa) : -1;
    const Machine machine = this_machine();
    fill_node(machine, card->node);
    card->kernel = kernel_hash(machine, 0);
    card->process_cookie = process_cookie();
    if (getrandom(&card->job_cookie, sizeof card->job_cookie, 0) !=
        static_cast<ssize_t>(sizeof card->job_cookie))
        return fail_os(SENNIT_ERR_OS, errno, "getrandom");
    std::memcpy(card->socket_name, listener.name, sizeof card->socket_name);
    fill_processors(card->processors);
    return SENNIT_OK;
}

sennit_status cards_check(const Card *cards, int size, std::size_t stride) {
    for (int rank = 0; rank < size; ++rank) {
        const Card &card = card_at(cards, stride, rank);
        if (card.magic != kCardMagic || card.version != kLayoutVersion)
            return fail_peer(SENNIT_ERR_BOOTSTRAP, rank, "",
                             "rank %d runs another version of Sennit (layout %u, here %u)", rank,
                             card.version, kLayoutVersion);
        if (card.rank != rank || card.size != size)
            return fail_peer(SENNIT_ERR_BOOTSTRAP, rank, "",
                             "the launcher gave card %d of %d at the place of rank %d of %d",
                             card.rank, card.size, rank, size);
    }
    return SENNIT_OK;
}

bool cards_oversubscribed(const Card *cards, int size, std::size_t stride, int self) {
    const Card &mine = card_at(cards, stride, self);
    int processors = 0;
    for (const std::uint64_t word : mine.processors)
        processors += __builtin_popcountll(word);
    int ranks = 0;
    for (int rank = 0; rank < size; ++rank) {
        const Card &theirs = card_at(cards, stride, rank);
        if (theirs.kernel != mine.kernel) continue;
        std::uint64_t shared = 0;
        for (std::size_t i = 0; i < kCpuWords; ++i)
            shared |= mine.processors[i] & theirs.processors[i];
        ranks += shared != 0 ? 1 : 0;
    }
    return ranks > processors;
}

void cards_note_processors(const Card *cards, int size, std::size_t stride, int self) {
    const Card &mine = card_at(cards, stride, self);
    for (int rank = 0; rank < size; ++rank) {
        const Card &theirs = card_at(cards, stride, rank);
        for (std::size_t i = 0; i < kCpuWords && theirs.kernel == mine.kernel; ++i)
            // relaxed: each bit stands alone and is only ever set.
            processors_of_ranks[i].fetch_or(theirs.processors[i], std::memory_order_relaxed);
    }
}

bool is_processor_of_ranks(unsigned processor) {
    // relaxed: each bit stands alone.
    return (processors_of_ranks[processor / 64].load(std::memory_order_relaxed) >> processor % 64 &
            1) != 0;
}

}  // namespace sennit::runtime
