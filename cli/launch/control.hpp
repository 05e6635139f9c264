// The launcher's side of launch_protocol.hpp. A process claims a rank by a hello on the rank's
// control socket; the claimed ranks then make allgathers. The keeper owns this object, and calls it
// when a descriptor is ready or a rank has ended. Invariants: A rank has at most one connection. An
// allgather is identified by the number of the claim and a number within the claim, so a rank that
// finalizes and starts again never joins an allgather of an earlier claim. If an allgather cannot
// complete any more, the ranks that wait for it get the number of the missing rank at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/job.hpp"
#include "launch/poller.hpp"

namespace sennit::cli {

class Control {
  public:
    Control(const Cookie &cookie, int ranks, Poller &poller);
    Control(const Control &) = delete;
    Control &operator=(const Control &) = delete;
    ~Control();

    // Makes the control socket of `rank`. Returns the rank's end, or -1 with errno. The caller
    // closes this end after it has started the rank.
    int open_rank(int rank);
    // Reads one message; false if there is none.
    bool control_ready(int rank);
    void connection_ready(int rank);
    // Whether no process has claimed a rank yet.
    bool has_no_claim() const;
    // The process of the rank has ended: the rank cannot be claimed any more.
    void rank_ended(int rank);
    // Whether the last process that claimed the rank has ended without sennit_finalize.
    bool ended_without_goodbye(int rank) const;
    // The rank that has announced that it ends all others; -1 if none has. Reads all messages
    // first.
    int ender_of_job();

  private:
    struct Claimant {
        int control_fd = -1;
        int connection_fd = -1;
        bool ended = false;
        bool watches_writable = false;
        bool said_goodbye = true;
        std::uint32_t claims = 0;  // so far; also the number of the open connection
        std::uint32_t next_sequence = 0;
        pid_t claimed_by = 0;
        std::string received;
        std::string to_send;
    };
    struct Gather {
        std::uint64_t bytes = 0;  // per rank
        int count = 0;
        std::vector<bool> given;
        std::string parts;
    };
    using GatherName = std::pair<std::uint32_t, std::uint32_t>;  // claim, sequence

    std::string refusal(int rank, const runtime::LaunchHello &hello) const;
    void claim(int rank, int connection_fd);
    bool take_frame(int rank);
    void give_part(int rank, const runtime::LaunchFrame &frame, std::string_view part);
    // Sends to `rank` the name of the rank for which its allgather waits.
    void answer_late_rank(int rank, std::uint32_t sequence);
    void complete(const GatherName &name, Gather &gather);
    void fail_gather(const GatherName &name, Gather &gather, int missing, const std::string &why);
    // A rank that cannot send its part any more, with the reason; -1 if there is none. A rank whose
    // process has ended has precedence over a rank that has closed its connection, because the end
    // of the process may be the cause.
    int missing_rank(const GatherName &name, const Gather &gather, std::string &why) const;
    void fail_impossible_gathers();
    void send(int rank, const runtime::LaunchFrame &frame, std::string_view payload);
    void flush(int rank);
    void close_connection(int rank);

    Claimant &at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    const Claimant &at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    int size() const { return static_cast<int>(ranks_.size()); }

    Cookie cookie_;
    Poller *poller_;
    std::vector<Claimant> ranks_;
    std::map<GatherName, Gather> gathers_;
    int ends_all_ = -1;
};

}  // namespace sennit::cli
