// A piece of raw memory has the control words, one line for the flag of each writer, and the
// payload.
#include "worker/job.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sennit/sennit.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "worker/check.hpp"
#include "worker/spin.hpp"

namespace sennit::bench {

namespace {

constexpr int kMaxRanks = 256;
constexpr std::size_t kFlagsOffset = 4096;
constexpr std::size_t kPayloadOffset = kFlagsOffset + kMaxRanks * kLineBytes;
static_assert(kPayloadOffset % 4096 == 0);

// Not an atomic: ranks read it between two barriers.
struct Where {
    cpu_set_t allowed;
    int cpu;
};

// Binds the rank to its own core. False if there are fewer cores than ranks.
bool bind_to_own_core(int rank, int size) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) < size) return false;
    for (int cpu = 0, left = rank; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        return sched_setaffinity(0, sizeof own, &own) == 0;
    }
    return false;
}

}  // namespace

struct Job::Control {
    Interval interval;
    Where where;
};

Job::Job(std::string name, std::size_t payload_bytes)
    : m_name(std::move(name)), m_rank(sennit_rank()), m_size(sennit_size()) {
    static_assert(sizeof(Control) <= kFlagsOffset);
    if (m_size > kMaxRanks) {
        throw std::runtime_error(fmt::format("at most {} ranks can measure together", kMaxRanks));
    }
    // All nodes have the same number of ranks.
    int here = 0;
    check(sennit_team_size(SENNIT_TEAM_NODE, &here), "sennit_team_size");
    int place = 0;
    check(sennit_team_rank(SENNIT_TEAM_NODE, &place), "sennit_team_rank");
    m_hosts = m_size / here;
    // Launchers treat each host as a separate machine. If hosts share cores, they would bind ranks
    // of different hosts to the same core.
    if (spans_nodes() && !bind_to_own_core(m_rank, m_size)) bind_to_own_core(place, here);
    find_rails();
    m_memory = std::make_unique<RawMemory>(m_rank, m_size, kPayloadOffset + payload_bytes);
    Where where{};
    sched_getaffinity(0, sizeof where.allowed, &where.allowed);
    where.cpu = sched_getcpu();
    control(m_rank)->where = where;
    barrier();
    m_oversubscribed = find_oversubscription();
    barrier();
}

Job::Control *Job::control(int owner) const {
    return reinterpret_cast<Control *>(m_memory->piece(owner));
}

bool Job::find_oversubscription() const {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int rank = 0; rank < m_size; ++rank) {
        CPU_OR(&all, &all, &control(rank)->where.allowed);
    }
    return m_size > CPU_COUNT(&all);
}

// Uses the rails to the first rank on another node.
void Job::find_rails() {
    for (int peer = 0; peer < m_size && m_rails.empty(); ++peer) {
        sennit_rail rail{};
        std::map<int, std::string> found;
        for (int i = 0; sennit_peer_rail(peer, i, &rail) == SENNIT_OK; ++i) {
            if (rail.is_used == 0) continue;
            found[rail.number] = rail.address;
            m_provider = rail.provider;
            m_level = rail.level;
        }
        for (const auto &[number, address] : found)
            m_rails.push_back(address);
    }
}

std::string Job::describe_binding() const {
    const std::string ranks = m_size == 1 ? "1 rank" : fmt::format("{} ranks", m_size);
    std::string text = fmt::format("{} on cpus", ranks);
    for (int rank = 0; rank < m_size; ++rank) {
        const Where &where = control(rank)->where;
        if (CPU_COUNT(&where.allowed) != 1) {
            return fmt::format("{}, not bound to one cpu each", ranks);
        }
        text += fmt::format(" {}", where.cpu);
    }
    return text;
}

void Job::barrier() const {
    check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
}

double Job::span_over_ranks(const Interval &mine) const {
    control(m_rank)->interval = mine;
    barrier();
    double start = std::numeric_limits<double>::infinity();
    double end = 0.0;
    for (int rank = 0; rank < m_size; ++rank) {
        const Interval interval = control(rank)->interval;
        if (interval.end_ns >= interval.start_ns) {
            start = std::min(start, interval.start_ns);
            end = std::max(end, interval.end_ns);
        }
    }
    barrier();
    if (end < start) {
        throw std::runtime_error("no rank measured anything");
    }
    return end - start;
}

std::uint64_t *Job::raw_flag(int owner, int writer) const {
    std::byte *flags = m_memory->piece(owner) + kFlagsOffset;
    return reinterpret_cast<std::uint64_t *>(flags + static_cast<std::size_t>(writer) * kLineBytes);
}

std::byte *Job::raw_payload(int owner) const {
    return m_memory->piece(owner) + kPayloadOffset;
}

}  // namespace sennit::bench
