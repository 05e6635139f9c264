// Plans with boxes and lists of pieces: each is one operation with one event.
#include <vector>

#include "shape_blocks.hpp"

using namespace conformance;

namespace {

sennit_status record_shape(sennit_plan plan, sennit_peer_block block, PlacedShape &placed) {
    const sennit_box *const box = &placed.shape.box;
    const sennit_piece_list list{placed.shape.pieces.size(), placed.shape.pieces.data()};
    void *const local = placed.local();
    const std::size_t at = placed.offset();
    if (placed.shape.is_box)
        return placed.is_put ? sennit_plan_put_strided(plan, block, at, local, box, nullptr)
                             : sennit_plan_get_strided(plan, local, block, at, box, nullptr);
    return placed.is_put ? sennit_plan_put_indexed(plan, block, at, local, &list, nullptr)
                         : sennit_plan_get_indexed(plan, local, block, at, &list, nullptr);
}

// Operations of one plan, each with its own part of the block.
struct ShapePlan {
    static constexpr std::size_t kPart = 3000;
    ShapeBlocks &at;
    sennit_plan plan = SENNIT_PLAN_NULL;
    std::vector<PlacedShape> shapes;

    ShapePlan(ShapeBlocks &blocks, std::uint32_t puts, std::uint32_t gets, std::size_t most)
        : at(blocks) {
        Ranks &test = at.test;
        test.ok(sennit_plan_create(&plan));
        for (std::uint32_t i = 0; i < puts + gets; ++i) {
            // Operations keep the addresses of their buffers, which stay when a shape is moved.
            PlacedShape made(test.own, i < puts, most);
            made.place += i * kPart;
            shapes.push_back(std::move(made));
            test.ok(record_shape(plan, at.next, shapes.back()));
            // The plan has copied them.
            shapes.back().shape.pieces.clear();
            shapes.back().shape.box = sennit_box{};
        }
        test.ok(sennit_plan_commit(plan, 0, 1));
    }
    void run_and_check(std::uint64_t salt) {
        Ranks &test = at.test;
        std::vector<std::vector<std::uint8_t>> expected;
        for (PlacedShape &it : shapes) {
            it.renew(++salt);
            expected.push_back(it.buffer);
            it.apply(at.model, expected.back());
        }
        test.ok(sennit_plan_start(plan));
        test.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
        for (std::size_t i = 0; i < shapes.size(); ++i)
            test.require(shapes[i].buffer == expected[i], "a run reads and writes what it says");
        at.wait_and_reset(at.arrived);
        at.wait_and_reset(at.read);
        at.check_model();
        test.barrier();
    }
};

}  // namespace

// Broken by an operation that counts each run, by a run that sends old data from the time of
// recording, and by a plan that reads its box or list later. Short shapes of one plan share
// messages.
RANK_TEST(plan, random_boxes_and_lists_of_a_plan_are_one_event_each, kAnything) {
    test.programs(test.quick ? 2 : 6, [&] {
        const auto puts = static_cast<std::uint32_t>(test.common.between(1, 5));
        const auto gets = static_cast<std::uint32_t>(test.common.between(1, 2));
        const std::size_t most = test.common.one_in(2) ? 60 : ShapePlan::kPart;
        ShapeBlocks at(test, (puts + gets) * ShapePlan::kPart, puts, gets);
        ShapePlan plan(at, puts, gets, most);
        for (std::uint64_t run = 0; run < 3; ++run)
            plan.run_and_check(test.own.next());
        test.ok(sennit_plan_destroy(plan.plan));
        at.end();
    });
}

// Broken by an operation of many runs that counts each run, or whose event comes before the data of
// other runs.
RANK_TEST(plan, an_operation_of_a_thousand_runs_counts_once, kAnything) {
    constexpr std::size_t kRuns = 1000;
    for (const std::size_t words : {std::size_t{1}, std::size_t{5}}) {
        const auto run_bytes = static_cast<std::int64_t>(8 * words);
        ShapeBlocks at(test, (2 * kRuns + 1) * words * 8, 3);
        std::vector<std::uint64_t> data(kRuns * words + 1);
        const sennit_box box =
            sennit_box_line(static_cast<std::size_t>(run_bytes), kRuns, 2 * run_bytes, run_bytes);
        const sennit_box none = sennit_box_line(8, 0, 8, 8);
        sennit_plan plan = SENNIT_PLAN_NULL;
        test.ok(sennit_plan_create(&plan));
        test.ok(sennit_plan_put_strided(plan, at.next, 0, data.data(), &box, nullptr));
        test.ok(sennit_plan_put(plan, at.next, 2 * kRuns * words * 8, &data[kRuns * words], 8));
        test.ok(sennit_plan_put_strided(plan, at.next, 0, nullptr, &none, nullptr));
        const sennit_piece beyond{static_cast<std::int64_t>(at.bytes) - 7, 0, 8};
        const sennit_piece_list leaves{1, &beyond};
        test.is(sennit_plan_put_indexed(plan, at.next, 0, data.data(), &leaves, nullptr),
                SENNIT_ERR_RANGE);
        test.is(sennit_plan_put_strided(plan, at.next, 0, nullptr, &box, nullptr), SENNIT_ERR_ARG);
        test.is(sennit_plan_put_strided(plan, at.next, 0, data.data(), nullptr, nullptr),
                SENNIT_ERR_ARG);
        test.ok(sennit_plan_commit(plan, 0, 1));
        const auto *own = static_cast<const std::uint64_t *>(sennit_ptr(at.memory));
        const auto value = [](int rank, std::uint64_t run, std::size_t i) {
            return static_cast<std::uint64_t>(rank) << 40 | run << 20 | i;
        };
        for (std::uint64_t run = 0; run < 3; ++run) {
            for (std::size_t i = 0; i < data.size(); ++i)
                data[i] = value(test.rank, run, i);
            test.ok(sennit_plan_start(plan));
            test.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
            std::fill(data.begin(), data.end(), 0);
            test.ok(sennit_signal_wait(at.arrived, SENNIT_FOREVER));
            for (std::size_t i = 0; i < kRuns * words; ++i)
                test.equal(own[i / words * 2 * words + i % words], value(test.previous(), run, i));
            test.equal(own[2 * kRuns * words], value(test.previous(), run, kRuns * words));
            test.ok(sennit_signal_reset(at.arrived));
            test.barrier();
            test.equal(left_of(test, at.arrived), 3u);
            test.barrier();
        }
        test.ok(sennit_plan_destroy(plan));
        at.end();
    }
}
