// `sennit map`: many transfers at once. Each core has a rank, which copies from the memory of
// another rank and owns memory from which another one copies.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "worker/map.hpp"
#include "worker/map_source.hpp"
#include "worker/private_buffer.hpp"

namespace sennit::bench {

namespace {

// The numbers of transfers to measure: all small ones, some larger ones, and `most`, which is first
// in case the time budget ends.
std::vector<int> numbers_of_transfers(int most) {
    std::vector<int> numbers;
    for (int number = 1; number < most; number += std::max(1, number / 8))
        numbers.push_back(number);
    numbers.insert(numbers.begin(), most);
    return numbers;
}

// A time at which all ranks start; they spin until then. Collective.
double common_start(const Job &job) {
    // Time for the last rank to return from the barrier.
    constexpr double kLead = 50e3;
    constexpr double kLeadOfRank = 5e3;
    std::uint64_t *const word = job.raw_flag(0, 0);
    const double ready = now_ns();
    // Otherwise a rank without a transfer would set the time while others still warm up.
    job.barrier();
    if (job.rank() == 0)
        post_flag(word, static_cast<std::uint64_t>(now_ns() + kLead + kLeadOfRank * job.size()));
    job.barrier();
    // relaxed: the barrier has ordered it.
    const auto start = static_cast<double>(Flag(*word).load(std::memory_order_relaxed));
    if (start < ready) throw std::runtime_error("the common start was before all were ready");
    while (now_ns() < start)
        cpu_pause();
    return start;
}

// All transfers of a group with one size of buffer.
class AtOnce {
  public:
    AtOnce(const Run &run, const MapGroup &group, std::uint64_t bytes);
    bool has_ways() const { return !m_sources.empty(); }
    void measure(int transfers, const Limits &limits);
    // Checks all copies, and ends the use of the memory. Collective.
    void leave();

  private:
    struct One {
        std::string way;
        std::unique_ptr<MapSource> source;
    };
    int rank_on(int processor) const;
    void check_copies() const;
    Subject subject(const One &one, bool active, bool is_fresh);
    void copy_next(const MapSource &source, bool is_fresh);

    const Run &m_run;
    const Job &m_job;
    const MapGroup &m_group;
    std::uint64_t m_bytes;
    std::uint64_t m_buffers;   // in the pool
    std::uint64_t m_next = 0;  // number of the next buffer
    MapRole m_role;
    int m_number = -1;  // number of this rank's transfer
    std::unique_ptr<PrivateBuffer> m_here;
    std::vector<One> m_sources;
};

int AtOnce::rank_on(int processor) const {
    const std::vector<int> &cores = m_run.map->cores;
    return static_cast<int>(std::find(cores.begin(), cores.end(), processor) - cores.begin());
}

// The number of fresh buffers: enough for all copies of the group, or more than fit into the
// caches.
std::uint64_t pool_of(const Run &run, const MapGroup &group, std::uint64_t bytes) {
    constexpr std::uint64_t kPerRound = 2;    // with the warm-up
    constexpr std::uint64_t kMoreRounds = 4;  // of find_batch(), before the measured rounds
    const std::uint64_t cases =
        numbers_of_transfers(static_cast<int>(group.transfers.size())).size() *
        run.map->ways.size();
    const std::uint64_t copies = cases * kPerRound * (run.limits.rounds + kMoreRounds);
    return std::max<std::uint64_t>(2, std::min(copies, (run.map->pool_bytes + bytes - 1) / bytes));
}

AtOnce::AtOnce(const Run &run, const MapGroup &group, std::uint64_t bytes)
    : m_run(run),
      m_job(run.job),
      m_group(group),
      m_bytes(bytes),
      m_buffers(pool_of(run, group, bytes)) {
    m_role.are_threads = run.map->are_threads;
    for (std::size_t i = 0; i < group.transfers.size(); ++i) {
        const MapTransfer &transfer = group.transfers[i];
        m_role.is_read |= rank_on(transfer.from) == m_job.rank();
        if (rank_on(transfer.to) != m_job.rank()) continue;
        m_role.owner = rank_on(transfer.from);
        m_role.owner_processor = transfer.from;
        m_number = static_cast<int>(i);
    }
    m_here = std::make_unique<PrivateBuffer>(m_role.owner < 0 ? 0 : m_buffers * bytes, 0);
    for (const std::string &way : run.map->ways) {
        MadeSource made = make_source(m_job, way, m_role, m_buffers * bytes);
        if (made.source == nullptr)
            print_left_out(m_job, way + ", at once", made.reason);
        else
            m_sources.push_back({way, std::move(made.source)});
    }
    check_copies();
}

void AtOnce::check_copies() const {
    for (const One &one : m_sources)
        for (std::uint64_t i = 0; m_role.owner >= 0 && i < m_buffers; ++i)
            check_copy(*one.source, one.way, m_role, m_here->data() + i * m_bytes, i * m_bytes,
                       m_bytes);
}

void AtOnce::copy_next(const MapSource &source, bool is_fresh) {
    const std::uint64_t offset = is_fresh ? m_next * m_bytes : 0;
    m_next = (m_next + 1) % m_buffers;
    source.copy(m_here->data() + offset, offset, m_bytes);
}

Subject AtOnce::subject(const One &one, bool active, bool is_fresh) {
    return {one.way, [this, source = one.source.get(), active, is_fresh](std::size_t operations) {
                for (std::size_t i = warm_up_operations(operations); active && i > 0; --i)
                    copy_next(*source, is_fresh);
                const double start = common_start(m_job);
                if (!active) return kNotTimed;
                for (std::size_t i = 0; i < operations; ++i)
                    copy_next(*source, is_fresh);
                return Interval{start, now_ns()};
            }};
}

void AtOnce::measure(int transfers, const Limits &limits) {
    std::vector<Subject> subjects;
    std::vector<MapFigure> figures;
    for (const bool is_fresh : {false, true}) {
        for (const One &one : m_sources) {
            const bool active = m_number >= 0 && m_number < transfers;
            subjects.push_back(subject(one, active, is_fresh));
            const MapTransfer &first = m_group.transfers.front();
            figures.push_back({"at-once", one.way, first.from, first.to, m_bytes, transfers,
                               m_group.name, is_fresh});
        }
    }
    const auto samples = sample_in_turn(m_job, subjects, limits);
    for (std::size_t i = 0; i < figures.size(); ++i) {
        figures[i].time_ns = summarise(samples[i]);
        print_figure(m_job, figures[i]);
    }
}

void AtOnce::leave() {
    check_copies();
    for (const One &one : m_sources)
        one.source->leave();
    m_job.barrier();
}

}  // namespace

void run_map_at_once(const Run &run) {
    const MapOptions &options = *run.map;
    if (run.job.size() != static_cast<int>(options.cores.size()))
        throw std::runtime_error("many transfers at once need a rank on each core");
    bind_to(options.cores[static_cast<std::size_t>(run.job.rank())]);
    std::size_t cases = 0;
    for (const MapGroup &group : options.groups)
        cases += numbers_of_transfers(static_cast<int>(group.transfers.size())).size();
    cases *= run.sizes.size();
    Budget budget(options.seconds, cases);
    for (const MapGroup &group : options.groups) {
        for (const std::uint64_t bytes : run.sizes) {
            if (budget.is_over()) break;
            AtOnce at_once(run, group, bytes);
            if (!at_once.has_ways()) return;
            for (const int transfers :
                 numbers_of_transfers(static_cast<int>(group.transfers.size()))) {
                at_once.measure(transfers, budget.next(run.limits.rounds));
                --cases;
                if (budget.is_over()) break;
            }
            at_once.leave();
        }
    }
    if (cases > 0)
        print_left_out(run.job,
                       fmt::format("{} numbers of transfers at once by {}", cases,
                                   fmt::join(options.ways, ", ")),
                       kOverBudget);
}

}  // namespace sennit::bench
