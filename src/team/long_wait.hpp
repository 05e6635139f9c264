// SPDX-License-Identifier: BSD-3-Clause
// What a rank tells and learns in a wait of a team's collective call that lasts: after a second it
// says in its TeamSync which call it is in, and after how many others, and looks what the other
// members say. Two that wait in calls which can not belong together are told of each other. Short
// waits touch nothing of this. Used by the barriers here and by coll/.
#pragma once

#include "team/team.hpp"

namespace sennit::team {

// Collective calls with posts (coll/) follow the purposes of meetings.
inline constexpr std::uint8_t kFirstPosted = 64;
const char *call_name(std::uint8_t call);

class LongWait {
  public:
    // `meetings`: how many this rank has begun, the one that it waits in included.
    LongWait(Rank &rank, Team &team, std::uint8_t call, std::uint64_t meetings)
        : rank_(rank), team_(team), call_(call), meetings_(meetings) {}
    ~LongWait();
    LongWait(const LongWait &) = delete;
    LongWait &operator=(const LongWait &) = delete;

    // About once a millisecond.
    void look();
    // A member waits in a call that does not fit.
    bool differs() const { return other_ >= 0; }
    // ARG, naming both calls. Where differs().
    sennit_status fail_differs() const;

  private:
    std::uint64_t own_note() const;

    Rank &rank_;
    Team &team_;
    std::int64_t started_ns_ = 0;
    int other_ = -1;  // its number in the team
    std::uint8_t other_call_ = 0;
    std::uint8_t call_;
    bool told_ = false;
    std::uint64_t meetings_;
};

// A TIMEOUT tells who has not come: is_late(member) for the members of the team.
class LateRanks {
  public:
    void add(int world_rank);
    // Appends them to the thread's last error, which names the first as its peer.
    void report() const;

  private:
    char text_[80] = "";
    int first_ = -1;
    unsigned count_ = 0;
};

}  // namespace sennit::team
