// One rank of a job whose files are limited to 6 MB (ulimit -f). Broken by a memory file with room
// for all teams from the start, by additional room that other ranks do not find, and by a lack of
// room that is reported to some ranks only.
#include <sennit/sennit.h>

#include <string>
#include <vector>

#include "../support/rank_checks.hpp"

using sennit::test::expect;
using sennit::test::require;

int main() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    std::vector<sennit_team> teams;
    sennit_team team = SENNIT_TEAM_NULL;
    sennit_status status = SENNIT_OK;
    while (teams.size() < 2000) {
        status = sennit_team_split(SENNIT_TEAM_WORLD, 0, sennit_rank(), &team);
        if (status != SENNIT_OK) break;
        teams.push_back(team);
        std::uint64_t sum = 1;
        std::uint64_t of_all = 0;
        expect(sennit_allreduce(team, &sum, &of_all,
                                sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM), SENNIT_FOREVER),
               SENNIT_OK, "allreduce");
        require(of_all == static_cast<std::uint64_t>(sennit_size()), "not all ranks took part");
    }
    // 13 teams in the initial room, 16 in the additional room.
    require(teams.size() == 29,
            "there is room for " + std::to_string(teams.size()) + " teams, not for 29");
    expect(status, SENNIT_ERR_NOMEM, "one team too many");
    require(std::string(sennit_last_error()->text).find("RLIMIT_FSIZE") != std::string::npos,
            "the error does not name the limit");
    for (const sennit_team &each : teams) {
        expect(sennit_barrier(each, SENNIT_FOREVER), SENNIT_OK, "barrier");
        sennit_team gone = each;
        expect(sennit_team_destroy(gone), SENNIT_OK, "destroy");
    }
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "a slot again");
    expect(sennit_team_destroy(team), SENNIT_OK, "destroy");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    return 0;
}
