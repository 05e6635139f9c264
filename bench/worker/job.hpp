// The job of the measuring ranks: their numbers and processors, barriers and times. One object
// per rank, made by main.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "worker/raw_memory.hpp"

namespace sennit::bench {

// A time interval on the clock of the node. Empty on ranks that do not measure time.
struct Interval {
    double start_ns;
    double end_ns;
};
inline constexpr Interval kNotTimed{0.0, -1.0};

class Job {
  public:
    // Collective, after Sennit was started. `name` is the launcher of the ranks: sennit, openmpi,
    // mpich. Each rank has `payload_bytes` of raw memory at raw_payload().
    Job(std::string name, std::size_t payload_bytes);

    const std::string &name() const { return m_name; }
    int rank() const { return m_rank; }
    int size() const { return m_size; }

    // More ranks than cores that they may use: waits yield the core.
    bool is_oversubscribed() const { return m_oversubscribed; }

    // Some rank is on another node. These nodes are hosts of tools/cluster on one machine, so all
    // ranks still share raw memory and clock.
    bool spans_nodes() const { return m_hosts > 1; }
    int hosts() const { return m_hosts; }

    // The provider by which Sennit reaches ranks of other nodes, and the number of rails.
    const std::string &provider() const { return m_provider; }
    int rails() const { return static_cast<int>(m_rails.size()); }
    // The addresses of this rank on the rails, in the order of their numbers.
    const std::vector<std::string> &rail_addresses() const { return m_rails; }
    int level() const { return m_level; }  // support level of notified operations by the rails

    // Text such as "2 ranks on cpus 0 1", or that the ranks are not bound.
    std::string describe_binding() const;

    void barrier() const;

    // Nanoseconds from the first start to the last end of all ranks that measured time. This is the
    // time of the whole job, even if some ranks had to wait for a core before they began. The same
    // on every rank. Collective.
    double span_over_ranks(const Interval &mine) const;

    // Words and payload for the raw subjects.
    std::uint64_t *raw_flag(int owner, int writer) const;
    std::byte *raw_payload(int owner) const;

  private:
    struct Control;
    Control *control(int owner) const;
    bool find_oversubscription() const;
    void find_rails();

    std::string m_name;
    int m_rank;
    int m_size;
    std::unique_ptr<RawMemory> m_memory;
    bool m_oversubscribed = false;
    int m_hosts = 1;
    std::string m_provider;
    std::vector<std::string> m_rails;
    int m_level = 0;
};

}  // namespace sennit::bench
