// The drawings of `sennit map`, of machines made up by hwloc with made-up values: these figures
// were never measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "map/figures.hpp"
#include "map/machine.hpp"
#include "map/svg.hpp"
#include "map/text.hpp"

namespace {

using namespace sennit::cli::map;
using sennit::bench::MapFigure;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Takes the first processor of each core.
Machine machine_like(const char *description) {
    hwloc_topology_t topology = nullptr;
    EXPECT_EQ(hwloc_topology_init(&topology), 0);
    EXPECT_EQ(hwloc_topology_set_synthetic(topology, description), 0);
    EXPECT_EQ(hwloc_topology_load(topology), 0);
    Machine machine = machine_of(
        topology, first_processors(topology, hwloc_topology_get_topology_cpuset(topology)));
    hwloc_topology_destroy(topology);
    machine.host = "made up <here>";
    return machine;
}

constexpr const char *kTwoPackages = "package:2 numa:1 l3:2(size=32MB) l2:4(size=1MB) core:1 pu:2";

MapFigure figure_of(const char *part, const char *way, int from, int to, std::uint64_t bytes,
                    double ns) {
    MapFigure figure{part, way, from, to, bytes};
    figure.time_ns = {ns, ns * 0.9, ns * 1.1, 10, ns};
    return figure;
}

// 40 GB/s between cores that share an L3, 20 elsewhere; half of it by CMA.
Figures figures_like(const char *description) {
    Figures figures;
    figures.machine = machine_like(description);
    figures.command = "sennit map";
    figures.end = "complete";
    constexpr std::uint64_t kBytes = 1 << 20;
    for (const Core &from : figures.machine.cores) {
        for (const Core &to : figures.machine.cores) {
            const double ns = kBytes / (distance(from, to) <= Distance::l3 ? 40.0 : 20.0);
            figures.all.push_back(
                figure_of("pair", "mapped", from.processor, to.processor, kBytes, ns));
            figures.all.push_back(
                figure_of("pair", "cma", from.processor, to.processor, kBytes, ns * 2));
            if (from.processor != to.processor)
                figures.all.push_back(
                    figure_of("flag", "flag", from.processor, to.processor, 0, ns / 1000));
        }
    }
    return figures;
}

std::size_t count(const std::string &text, const std::string &part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

TEST(Machine, a_core_has_its_first_processor_and_its_distances) {
    const Machine machine = machine_like(kTwoPackages);
    ASSERT_EQ(machine.cores.size(), 16u);
    EXPECT_EQ(machine.largest_cache, 32000000u);
    const std::vector<Core> &cores = machine.cores;
    EXPECT_EQ(cores[1].processor, 2);
    EXPECT_EQ(distance(cores[0], cores[0]), Distance::same);
    EXPECT_EQ(distance(cores[0], cores[3]), Distance::l3);
    EXPECT_EQ(distance(cores[0], cores[4]), Distance::numa);
    EXPECT_EQ(distance(cores[0], cores[8]), Distance::apart);
    EXPECT_EQ(distance(machine_like("package:1 numa:2 core:2 pu:1").cores[0],
                       machine_like("package:1 numa:2 core:2 pu:1").cores[3]),
              Distance::package);
    EXPECT_THAT(nearest_pairs(machine),
                ElementsAre(ElementsAre(0, 2), ElementsAre(0, 8), ElementsAre(0, 16)));
}

TEST(Machine, a_machine_comes_back_from_json_unchanged) {
    const Machine machine = machine_like(kTwoPackages);
    const Machine back = machine_from_json(to_json(machine));
    EXPECT_EQ(to_json(back), to_json(machine));
    ASSERT_EQ(back.cores.size(), 16u);
    EXPECT_EQ(back.cores[15].package, 1);
}

TEST(Groups, the_most_transfers_keep_each_core_copying_once) {
    const std::vector<Group> groups = groups_of(machine_like(kTwoPackages));
    ASSERT_EQ(groups.size(), 2u) << "a package that is one NUMA node is no group of its own";
    EXPECT_EQ(groups[0].name, "within NUMA node 0");
    EXPECT_EQ(groups[1].name, "across NUMA nodes 0 and 1");
    for (const Group &group : groups) {
        std::vector<int> from;
        std::vector<int> to;
        for (const auto &transfer : group.transfers) {
            from.push_back(transfer[0]);
            to.push_back(transfer[1]);
        }
        EXPECT_EQ(group.transfers.size(), group.name[0] == 'w' ? 8u : 16u);
        for (std::vector<int> *const side : {&from, &to}) {
            std::sort(side->begin(), side->end());
            EXPECT_EQ(std::adjacent_find(side->begin(), side->end()), side->end());
        }
        EXPECT_EQ(from, to);
    }
    // Processor 16 is the first of package 1.
    for (const auto &transfer : groups[1].transfers)
        EXPECT_NE(transfer[0] < 16, transfer[1] < 16);
}

TEST(Groups, one_core_copies_to_itself_and_an_odd_core_rests) {
    EXPECT_THAT(groups_of(machine_like("core:1 pu:1"))[0].transfers,
                ElementsAre(ElementsAre(0, 0)));
    EXPECT_THAT(groups_of(machine_like("core:3 pu:1"))[0].transfers,
                ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0)));
}

TEST(Heat, borders_stand_where_caches_and_nodes_end) {
    const Figures figures = figures_like(kTwoPackages);
    const std::string text = heat_text(figures.machine, grids(figures)[0], false);
    const std::vector<std::string> lines = lines_of(text);
    EXPECT_EQ(lines[0], "mapped, 1 MiB: GB/s, 20.0 to 40.0; 9: the most, 0: nothing");
    // 16 cores: an L3 ends after the 4th and 12th, a NUMA node after the 8th.
    const std::string row = "      0  9  9  9  9: 5  5  5  5| 5  5  5  5: 5  5  5  5";
    EXPECT_THAT(lines, testing::Contains(row));
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const std::string &line) { return line.find("....") != line.npos; }),
              2);
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const std::string &line) { return line.find("----") != line.npos; }),
              1);
}

TEST(Heat, a_few_cores_have_values_and_many_have_narrow_cells) {
    const Figures few = figures_like("core:2 pu:1");
    EXPECT_THAT(heat_text(few.machine, grids(few)[0], false), HasSubstr("20.0"));
    const Figures many = figures_like("package:2 core:64 pu:1");
    std::size_t longest = 0;
    for (const std::string &line : lines_of(heat_text(many.machine, grids(many)[0], false)))
        longest = std::max(longest, line.size());
    EXPECT_EQ(longest, 8u + 128 + 1);  // the border between the packages
    EXPECT_THAT(heat_text(few.machine, grids(few)[0], true), HasSubstr("\x1b[48;5;"));
    EXPECT_THAT(heat_text(few.machine, grids(few)[0], false), Not(HasSubstr("\x1b")));
}

TEST(Heat, missing_figures_have_no_number) {
    Figures figures = figures_like("core:2 pu:1");
    std::erase_if(figures.all, [](const MapFigure &one) { return one.from == 1 && one.to == 0; });
    const std::vector<std::string> lines =
        lines_of(heat_text(figures.machine, grids(figures)[0], false));
    EXPECT_EQ(lines[3].substr(0, 14), "      1      -");
    EXPECT_THAT(svg_of(figures), HasSubstr("1 to 0: not measured"));
}

TEST(Image, an_image_has_each_map_with_borders_and_escaped_text) {
    const std::string image = svg_of(figures_like(kTwoPackages));
    const std::size_t maps = 3;
    EXPECT_EQ(count(image, "<title>"), maps * 16 * 16);
    // A border is a vertical and a horizontal line.
    EXPECT_EQ(count(image, "class=\"domain\""), maps * 2);
    EXPECT_EQ(count(image, "class=\"cache\""), maps * 2 * 2);
    EXPECT_THAT(image, HasSubstr("made up &lt;here&gt;"));
    EXPECT_THAT(image, HasSubstr("cma, 1 MiB: GB/s"));
    EXPECT_THAT(image, HasSubstr("16 to 0: 20"));
}

TEST(Image, curves_have_a_point_for_each_number_of_transfers) {
    Figures figures = figures_like("core:4 pu:1");
    for (const int transfers : {1, 2, 4}) {
        MapFigure figure = figure_of("at-once", "mapped", 0, 1, 1 << 20, 1e5);
        figure.group = "within package 0";
        figure.transfers = transfers;
        figures.all.push_back(figure);
    }
    const std::string image = svg_of(figures);
    EXPECT_EQ(count(image, "<circle"), 3u);
    EXPECT_THAT(image, HasSubstr("1 MiB, within package 0"));
    EXPECT_THAT(at_once_table(figures), HasSubstr("1: 10.5  2: 21.0  4: 41.9"));
}

TEST(Words, near_and_far_cores_have_a_sentence_each) {
    const std::vector<std::string> texts = sentences(figures_like(kTwoPackages));
    EXPECT_THAT(texts, ElementsAre("Cores 0 and 2 share an L3: 40.0 GB/s at 1 MiB; CMA is 0.50 of "
                                   "it; a flag takes 26.2 ns there.",
                                   "Cores 0 and 16 are in different packages: 20.0 GB/s at 1 MiB, "
                                   "0.50 of that; CMA is 0.50 of it; a flag takes 52.4 ns there."));
}

TEST(Words, one_core_or_no_figures_give_valid_text) {
    EXPECT_THAT(sentences(figures_like("core:1 pu:1")),
                ElementsAre("Core 0 by itself: 40.0 GB/s at 1 MiB; CMA is 0.50 of it."));
    Figures none;
    none.machine = machine_like("core:2 pu:1");
    EXPECT_TRUE(sentences(none).empty());
    EXPECT_EQ(distance_table(none) + setup_table(none) + at_once_table(none) + paper_table(none),
              "");
    EXPECT_THAT(svg_of(none), HasSubstr("</svg>"));
}

TEST(Words, the_table_of_the_paper_compares_the_most_transfers) {
    Figures figures;
    figures.machine = machine_like("core:4 pu:1");
    for (const char *const way : {"mapped", "cma"}) {
        for (const int transfers : {1, 4}) {
            const double slower = way[0] == 'c' ? (transfers == 4 ? 3.0 : 2.0) : 1.0;
            MapFigure figure = figure_of("at-once", way, 0, 1, 1 << 20, 1e5 * slower);
            figure.group = "within package 0";
            figure.transfers = transfers;
            figures.all.push_back(figure);
        }
    }
    const std::vector<std::string> lines = lines_of(paper_table(figures));
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines[1], HasSubstr("1 MiB, 4 transfers, within package 0"));
    EXPECT_THAT(lines[1], testing::ContainsRegex("3\\.00 +2\\.64 +1\\.77"));
}

TEST(Lines, invalid_lines_are_refused) {
    const auto good = sennit::bench::to_json(figure_of("pair", "cma", 0, 1, 64, 10.0));
    EXPECT_DOUBLE_EQ(sennit::bench::map_figure_from_json(good).gb_per_s(), 6.4);
    for (const char *const field : {"mean_ns", "median_ns", "p5_ns", "p95_ns"}) {
        auto line = good;
        line[field] = 0.0;
        EXPECT_THROW(sennit::bench::map_figure_from_json(line), std::invalid_argument) << field;
    }
    Figures figures;
    EXPECT_FALSE(take_line(Json{{"bench", "put"}}, &figures));
    EXPECT_THROW(take_line(Json{{"map", "pair"}}, &figures), nlohmann::json::exception);
}

}  // namespace
