// Random programs of teams, with a sequential model: lists of world ranks.
//
// All ranks draw the same steps and keep the same model of all teams, including teams that they are
// not in; a rank makes the calls of its own teams. So ranks run far apart where their teams allow
// it, and different draws show at once. A failure can be shrunk (shrink.py).
#include <algorithm>
#include <map>

#include "teams.hpp"

using namespace conformance;

namespace {

struct ModelSegment {
    sennit_gptr gptr = SENNIT_GPTR_NULL;  // on members
    std::size_t bytes = 0;
    std::uint64_t salt = 0;
};

struct ModelTeam {
    std::vector<int> members;               // world ranks
    sennit_team handle = SENNIT_TEAM_NULL;  // on members
    std::vector<ModelSegment> segments;
};

class Program {
  public:
    explicit Program(Ranks &test) : test_(test) {
        ModelTeam world;
        world.handle = SENNIT_TEAM_WORLD;
        for (int rank = 0; rank < test.size; ++rank)
            world.members.push_back(rank);
        teams_.push_back(world);
    }

    void run(std::uint64_t steps) {
        // Each step draws its own numbers: if one is left out, the others find another state, but
        // stay the same steps.
        const std::uint64_t start = test_.common.next();
        for (std::uint64_t i = 1; i <= steps; ++i) {
            test_.common = Random(start + i * 0x9E3779B97F4A7C15u);
            if (test_.chosen.has(i)) step(i);
        }
        while (teams_.size() > 1)
            destroy(teams_.size() - 1);
    }

  private:
    void step(std::uint64_t number) {
        test_.show("step " + std::to_string(number));
        const std::size_t place = test_.common.below(teams_.size());
        switch (test_.common.below(10)) {
            case 0:
                return split(place);
            case 1:
                return create(place);
            case 2:
                return create_group(place);
            case 3:
                return split_strided(place);
            case 4:
                return grid(place);
            case 5:
                return translate(place);
            case 6:
                return allocate(place);
            case 7:
                return release(place);
            case 8:
                return meet(place);
            default:
                if (place != 0) destroy(place);
        }
    }

    bool is_member(const ModelTeam &team) const {
        return place_in(team.members, test_.rank) != SENNIT_RANK_NONE;
    }

    // Some members of the team in a random order, as ranks of the team.
    std::vector<int> draw_ranks(const ModelTeam &team) {
        std::vector<int> ranks;
        for (std::size_t rank = 0; rank < team.members.size(); ++rank)
            if (!test_.common.one_in(3)) ranks.push_back(static_cast<int>(rank));
        for (std::size_t i = ranks.size(); i > 1; --i)
            std::swap(ranks[i - 1], ranks[test_.common.below(i)]);
        return ranks;
    }

    static std::vector<int> world_ranks(const ModelTeam &team, const std::vector<int> &ranks) {
        std::vector<int> found;
        for (const int rank : ranks)
            found.push_back(team.members[static_cast<std::size_t>(rank)]);
        return found;
    }

    // Adds a new team to the model, and checks this rank's handle.
    void add(const std::vector<int> &members, sennit_team handle) {
        check_team(test_,
                   place_in(members, test_.rank) == SENNIT_RANK_NONE ? SENNIT_TEAM_NULL : handle,
                   members);
        if (members.empty()) return;
        teams_.push_back(ModelTeam{members, handle, {}});
        if (teams_.size() > 12) destroy(1 + test_.common.below(11));
    }

    void split(std::size_t place) {
        test_.at("a split");
        const ModelTeam parent = teams_[place];
        std::map<int, std::vector<std::pair<int, int>>> colors;  // (key, rank of the parent)
        int color = 0;
        int key = 0;
        for (std::size_t rank = 0; rank < parent.members.size(); ++rank) {
            const int drawn = static_cast<int>(test_.common.below(4)) - 1;
            const int order = static_cast<int>(test_.common.below(5)) - 2;
            if (drawn >= 0) colors[drawn].emplace_back(order, static_cast<int>(rank));
            if (parent.members[rank] != test_.rank) continue;
            color = drawn;
            key = order;
        }
        sennit_team handle = SENNIT_TEAM_NULL;
        if (is_member(parent)) {
            test_.ok(sennit_team_split(parent.handle, color, key, &handle));
            test_.equal(handle.handle == 0, color < 0);
        }
        for (auto &[drawn, members] : colors) {
            std::stable_sort(members.begin(), members.end(),
                             [](const auto &a, const auto &b) { return a.first < b.first; });
            std::vector<int> ranks;
            for (const auto &[order, rank] : members)
                ranks.push_back(rank);
            add(world_ranks(parent, ranks), handle);
        }
    }

    void create(std::size_t place) {
        test_.at("a creation");
        const ModelTeam parent = teams_[place];
        const std::vector<int> ranks = draw_ranks(parent);
        sennit_team handle = SENNIT_TEAM_NULL;
        if (is_member(parent))
            test_.ok(sennit_team_create(parent.handle, ranks.size(), ranks.data(), &handle));
        add(world_ranks(parent, ranks), handle);
    }

    void create_group(std::size_t place) {
        test_.at("a creation from a group");
        const ModelTeam parent = teams_[place];
        const std::vector<int> members = world_ranks(parent, draw_ranks(parent));
        sennit_team handle = SENNIT_TEAM_NULL;
        if (is_member(parent)) {
            sennit_group group;
            test_.ok(sennit_group_create(members.size(), members.data(), &group));
            test_.ok(sennit_team_create_group(parent.handle, group, &handle));
            test_.ok(sennit_group_destroy(group));
        }
        add(members, handle);
    }

    void split_strided(std::size_t place) {
        test_.at("a strided split");
        const ModelTeam parent = teams_[place];
        const auto size = static_cast<int>(parent.members.size());
        const int start = static_cast<int>(test_.common.below(parent.members.size()));
        const int stride = static_cast<int>(test_.common.below(7)) - 3;
        std::vector<int> ranks;
        for (int rank = start; rank >= 0 && rank < size && ranks.size() < 5; rank += stride) {
            ranks.push_back(rank);
            if (stride == 0) break;
        }
        sennit_team handle = SENNIT_TEAM_NULL;
        if (is_member(parent))
            test_.ok(sennit_team_split_strided(parent.handle, start, stride,
                                               static_cast<int>(ranks.size()), &handle));
        add(world_ranks(parent, ranks), handle);
    }

    void grid(std::size_t place) {
        test_.at("a grid");
        const ModelTeam parent = teams_[place];
        const std::size_t size = parent.members.size();
        const int width = static_cast<int>(test_.common.between(1, size));
        const int height =
            static_cast<int>(test_.common.between(1, size / static_cast<std::size_t>(width)));
        const int dims[] = {height, width};
        std::vector<int> members(parent.members.begin(), parent.members.begin() + width * height);
        sennit_team handle = SENNIT_TEAM_NULL;
        if (is_member(parent)) test_.ok(sennit_team_grid(parent.handle, 2, dims, nullptr, &handle));
        if (handle.handle != 0) {
            int coords[2] = {-1, -1};
            const int mine = place_in(members, test_.rank);
            test_.ok(sennit_team_grid_coords(handle, mine, coords));
            test_.equal(coords[0], mine / width);
            test_.equal(coords[1], mine % width);
        }
        add(members, handle);
    }

    void translate(std::size_t place) {
        test_.at("a translation");
        const ModelTeam &from = teams_[place];
        const ModelTeam &to = teams_[test_.common.below(teams_.size())];
        if (!is_member(from) || !is_member(to)) return;
        for (std::size_t rank = 0; rank < from.members.size(); ++rank) {
            int found = -7;
            test_.ok(sennit_team_translate(from.handle, static_cast<int>(rank), to.handle, &found));
            test_.equal(found, place_in(to.members, from.members[rank]));
        }
    }

    void allocate(std::size_t place) {
        test_.at("an allocation");
        ModelTeam &team = teams_[place];
        ModelSegment segment;
        segment.bytes = test_.common.between(1, 3000);
        segment.salt = ++salts_;
        if (is_member(team)) {
            test_.ok(sennit_alloc(team.handle, segment.bytes, 0, 0, &segment.gptr));
            fill_pieces(test_, segment.gptr, team.members, segment.bytes, segment.salt);
        }
        team.segments.push_back(segment);
    }

    void release(std::size_t place) {
        test_.at("a free");
        ModelTeam &team = teams_[place];
        if (team.segments.empty()) return;
        const std::size_t which = test_.common.below(team.segments.size());
        const ModelSegment segment = team.segments[which];
        team.segments.erase(team.segments.begin() + static_cast<std::ptrdiff_t>(which));
        if (!is_member(team)) return;
        test_.ok(sennit_barrier(team.handle, SENNIT_FOREVER));
        check_pieces(test_, segment.gptr, team.members, segment.bytes, segment.salt);
        test_.ok(sennit_free(segment.gptr));
        std::uint8_t byte = 0;
        test_.is(sennit_get(&byte, segment.gptr, 1), SENNIT_ERR_NOT_REGISTERED);
    }

    void meet(std::size_t place) {
        test_.at("a barrier");
        const ModelTeam &team = teams_[place];
        if (!is_member(team)) return;
        test_.ok(sennit_barrier(team.handle, SENNIT_FOREVER));
        for (const ModelSegment &segment : team.segments)
            check_pieces(test_, segment.gptr, team.members, segment.bytes, segment.salt);
    }

    void destroy(std::size_t place) {
        test_.at("a destruction");
        if (!teams_[place].segments.empty() && is_member(teams_[place]))
            test_.is(sennit_team_destroy(teams_[place].handle), SENNIT_ERR_STATE);
        while (!teams_[place].segments.empty())
            release(place);
        const ModelTeam team = teams_[place];
        teams_.erase(teams_.begin() + static_cast<std::ptrdiff_t>(place));
        if (!is_member(team)) return;
        test_.ok(sennit_team_destroy(team.handle));
        test_.is(sennit_barrier(team.handle, 0), SENNIT_ERR_ARG);
    }

    Ranks &test_;
    std::vector<ModelTeam> teams_;
    std::uint64_t salts_ = 0;
};

}  // namespace

// Broken by members, an order, a rank or memory of a team that differs from the model.
RANK_TEST(team, random_programs_of_teams_agree_with_the_model, kAnything) {
    test.programs(test.quick ? 1 : 4, [&] {
        Program(test).run(test.quick ? 60 : 150);
        test.barrier();
    });
}
