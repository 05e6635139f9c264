// SPDX-License-Identifier: BSD-3-Clause
// Detects collective calls that cannot match. A rank that has waited for a second in a call of a
// team stores its call and the number of its earlier calls in its TeamSync, and reads the same of
// the other members. If two members wait in calls that cannot match, both get ARG. Used by the
// barriers by load and store, and by blocking calls of coll/.
#pragma once

#include "team/team.hpp"

namespace sennit::team {

// The number of the first collective call with posts (coll/). Lower numbers are purposes of
// synchronisations.
inline constexpr std::uint8_t kFirstPosted = 64;
const char *call_name(std::uint8_t call);

class LongWait {
  public:
    // `synchronisations`: the number that this rank has started, with the current one.
    LongWait(Rank &rank, Team &team, std::uint8_t call, std::uint64_t synchronisations)
        : rank_(rank), team_(team), call_(call), synchronisations_(synchronisations) {}
    ~LongWait();
    LongWait(const LongWait &) = delete;
    LongWait &operator=(const LongWait &) = delete;

    // Called about once a millisecond.
    void check();
    // Whether a member waits in a call that does not match.
    bool differs() const { return other_ >= 0; }
    // ARG, naming both calls. Only if differs().
    sennit_status fail_differs() const;

  private:
    std::uint64_t own_note() const;

    Rank &rank_;
    Team &team_;
    std::int64_t started_ns_ = 0;
    int other_ = -1;  // the member's number in the team
    std::uint8_t other_call_ = 0;
    std::uint8_t call_;
    bool is_published_ = false;
    std::uint64_t synchronisations_;
};

// Makes the list of late ranks for the text of a TIMEOUT or a warning. It names the first ranks,
// and counts the others.
class LateRanks {
  public:
    // In the order of the team's members.
    void add(int world_rank);
    bool is_empty() const { return count_ == 0; }
    // Appends the list to the thread's last error, and sets the error's peer to the first of them.
    void report() const;
    // Logs that the call has waited for these ranks.
    void warn(const char *call, int seconds) const;

  private:
    void write(char *text, std::size_t bytes) const;

    char text_[80] = "";
    int first_ = -1;
    unsigned count_ = 0;
    unsigned named_ = 0;
};

// For a wait for another node. Only ranks of that node know which of them are late, so the text
// names none.
void report_late_elsewhere();
void warn_of_late_elsewhere(const char *call, int seconds);

}  // namespace sennit::team
