// Notified puts and gets of boxes and lists of pieces: one message, one event.
#include <algorithm>
#include <vector>

#include "shape_blocks.hpp"

using namespace conformance;

namespace {

sennit_status notify_shape(sennit_peer_block block, PlacedShape &placed,
                           const sennit_notice *notice, sennit_request *request) {
    const sennit_box *const box = &placed.shape.box;
    const sennit_piece_list list{placed.shape.pieces.size(), placed.shape.pieces.data()};
    void *const local = placed.local();
    const std::size_t at = placed.offset();
    if (request == nullptr && placed.shape.is_box)
        return placed.is_put ? sennit_put_notify_strided(block, at, local, box, notice)
                             : sennit_get_notify_strided(local, block, at, box, notice);
    if (request == nullptr)
        return placed.is_put ? sennit_put_notify_indexed(block, at, local, &list, notice)
                             : sennit_get_notify_indexed(local, block, at, &list, notice);
    if (placed.shape.is_box)
        return placed.is_put ? sennit_put_notify_strided_nb(block, at, local, box, notice, request)
                             : sennit_get_notify_strided_nb(local, block, at, box, notice, request);
    return placed.is_put ? sennit_put_notify_indexed_nb(block, at, local, &list, notice, request)
                         : sennit_get_notify_indexed_nb(local, block, at, &list, notice, request);
}

}  // namespace

// Broken by a byte in the wrong place, an event that precedes its data, an event per run or none,
// and by a call that reads its box or list after it has returned.
RANK_TEST(notify, random_boxes_and_lists_arrive_and_each_is_one_event, kAnything) {
    test.programs(test.quick ? 2 : 6, [&] {
        ShapeBlocks at(test, 12000);
        const sennit_signal sent = make_signal(test, 1);
        for (std::uint64_t epoch = 0; epoch < 12; ++epoch) {
            // The same direction on all ranks, so that each knows the counts.
            const bool is_put = test.common.one_in(2);
            const bool goes_on = test.common.one_in(2);
            const bool has_local = test.common.one_in(3);
            PlacedShape it(test.own, is_put, at.bytes);
            std::vector<std::uint8_t> expected = it.buffer;
            it.apply(at.model, expected);
            sennit_request request = SENNIT_REQUEST_NULL;
            const sennit_notice notice{SENNIT_SIGNAL_NULL, has_local ? sent : SENNIT_SIGNAL_NULL,
                                       SENNIT_EPOCH_NEXT, 0};
            test.ok(notify_shape(at.next, it, has_local ? &notice : nullptr,
                                 goes_on ? &request : nullptr));
            std::fill(it.shape.pieces.begin(), it.shape.pieces.end(), sennit_piece{});
            it.shape.box = sennit_box{};
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
            if (!is_put) test.require(it.buffer == expected, "a get brings what lies in the block");
            if (has_local) at.wait_and_reset(sent);
            std::fill(it.buffer.begin(), it.buffer.end(), std::uint8_t{0});
            at.wait_and_reset(is_put ? at.arrived : at.read);
            at.check_model();
            // No rank gets two epochs ahead, and nothing is counted twice.
            test.barrier();
            test.equal(left_of(test, at.arrived), 1u);
            test.equal(left_of(test, at.read), 1u);
            test.barrier();
        }
        test.ok(sennit_signal_destroy(sent));
        at.end();
    });
}

namespace {

// `runs` runs of `run_bytes` bytes, at every second place of the block, the last run first in the
// buffer: as a list and as a box.
struct ManyRuns {
    std::size_t runs;
    std::size_t run_bytes;
    std::vector<sennit_piece> list;
    sennit_box box;
    sennit_piece_list all;

    ManyRuns(std::size_t count, std::size_t bytes)
        : runs(count),
          run_bytes(bytes),
          list(count),
          box(sennit_box_line(bytes, count, 2 * static_cast<std::int64_t>(bytes),
                              -static_cast<std::int64_t>(bytes))),
          all{count, list.data()} {
        for (std::size_t i = 0; i < runs; ++i)
            list[i] = {static_cast<std::int64_t>(2 * i * run_bytes),
                       -static_cast<std::int64_t>(i * run_bytes), run_bytes};
    }
    std::size_t block_bytes() const { return 2 * runs * run_bytes; }
    std::size_t last() const { return (runs - 1) * run_bytes; }
    void check(Ranks &test, const std::uint8_t *block, const std::uint8_t *buffer) const {
        for (std::size_t i = 0; i < runs; ++i)
            test.require(std::equal(block + 2 * i * run_bytes, block + (2 * i + 1) * run_bytes,
                                    buffer + last() - i * run_bytes),
                         "a run is where it belongs");
    }
};

}  // namespace

// Broken by an event for each run, an event before the last run, and runs that are lost when they
// go in several messages.
RANK_TEST(notify, a_put_of_a_thousand_runs_counts_once, kAnything) {
    for (const std::size_t run_bytes : {std::size_t{8}, std::size_t{60}, std::size_t{700}}) {
        const ManyRuns many(test.quick && run_bytes > 60 ? 100 : 1000, run_bytes);
        ShapeBlocks at(test, many.block_bytes());
        std::vector<std::uint8_t> buffer(many.runs * run_bytes);
        std::vector<std::uint8_t> of_previous(buffer.size());
        const auto *own = static_cast<const std::uint8_t *>(sennit_ptr(at.memory));
        for (std::uint64_t epoch = 0; epoch < 6; ++epoch) {
            const auto salt_of = [&](int rank) {
                return static_cast<std::uint64_t>(rank) * 100 + epoch;
            };
            fill(buffer.data(), buffer.size(), salt_of(test.rank));
            fill(of_previous.data(), of_previous.size(), salt_of(test.previous()));
            const std::uint8_t *const last = buffer.data() + many.last();
            sennit_request request = SENNIT_REQUEST_NULL;
            if (epoch % 3 == 0)
                test.ok(sennit_put_notify_indexed(at.next, 0, last, &many.all, nullptr));
            else if (epoch % 3 == 1)
                test.ok(
                    sennit_put_notify_strided_nb(at.next, 0, last, &many.box, nullptr, &request));
            else
                test.ok(
                    sennit_put_notify_indexed_nb(at.next, 0, last, &many.all, nullptr, nullptr));
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
            test.ok(sennit_signal_wait(at.arrived, SENNIT_FOREVER));
            many.check(test, own, of_previous.data());
            test.ok(sennit_signal_reset(at.arrived));
            test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
            test.barrier();
            test.equal(left_of(test, at.arrived), 1u);
            test.barrier();
        }
        at.end();
    }
}

// Each message takes several tasks on paths with tasks. Broken by a task that is mistaken for
// another message's, and by a message that counts before its last task or once per task.
RANK_TEST(notify, several_messages_of_many_runs_are_under_way_at_once, kAnything) {
    constexpr std::size_t kMessages = 5;
    const ManyRuns many(test.quick ? 100 : 400, 700);  // 70 or 280 KB
    ShapeBlocks at(test, kMessages * many.block_bytes(), kMessages);
    std::vector<std::uint8_t> buffer(kMessages * many.runs * many.run_bytes);
    std::vector<std::uint8_t> of_previous(buffer.size());
    const std::size_t length = buffer.size() / kMessages;
    const auto *own = static_cast<const std::uint8_t *>(sennit_ptr(at.memory));
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
        fill(buffer.data(), buffer.size(), static_cast<std::uint64_t>(test.rank) * 100 + epoch);
        fill(of_previous.data(), of_previous.size(),
             static_cast<std::uint64_t>(test.previous()) * 100 + epoch);
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
        for (std::size_t i = 0; i < kMessages; ++i)
            test.ok(sennit_put_notify_indexed_nb(at.next, i * many.block_bytes(),
                                                 buffer.data() + i * length + many.last(),
                                                 &many.all, &notice, nullptr));
        test.ok(sennit_signal_wait(at.arrived, SENNIT_FOREVER));
        for (std::size_t i = 0; i < kMessages; ++i)
            many.check(test, own + i * many.block_bytes(), of_previous.data() + i * length);
        test.ok(sennit_signal_reset(at.arrived));
        test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
        test.barrier();
        test.equal(left_of(test, at.arrived), std::uint32_t{kMessages});
        test.barrier();
    }
    at.end();
}

RANK_TEST(notify, a_get_of_a_thousand_runs_counts_once, kAnything) {
    const ManyRuns many(1000, 24);
    ShapeBlocks at(test, many.block_bytes());
    std::vector<std::uint8_t> buffer(many.runs * many.run_bytes);
    for (const bool goes_on : {false, true}) {
        std::fill(buffer.begin(), buffer.end(), std::uint8_t{0});
        std::uint8_t *const last = buffer.data() + many.last();
        sennit_request request = SENNIT_REQUEST_NULL;
        test.ok(goes_on
                    ? sennit_get_notify_indexed_nb(last, at.next, 0, &many.all, nullptr, &request)
                    : sennit_get_notify_strided(last, at.next, 0, &many.box, nullptr));
        test.ok(sennit_wait(&request, SENNIT_FOREVER));
        many.check(test, at.model.data(), buffer.data());
        at.wait_and_reset(at.read);
        test.barrier();
        test.equal(left_of(test, at.read), 1u);
        test.barrier();
    }
    at.end();
}

// Broken by a check of the named place instead of the touched bytes, and by an empty message that
// counts no event or moves data.
RANK_TEST(notify, offsets_may_decrease_and_an_empty_message_is_an_event, kAnything) {
    ShapeBlocks at(test, 1000);
    std::uint64_t words[3] = {11, 22, 33};
    const auto taken = [&](sennit_signal signal) {
        at.wait_and_reset(signal);
        test.barrier();  // no rank gets two epochs ahead
    };
    // The named place is the end of the block.
    const sennit_piece down[] = {{-8, 16, 8}, {-24, 0, 8}, {-100, 0, 0}, {-16, 8, 8}};
    const sennit_piece_list four{4, down};
    test.ok(sennit_put_notify_indexed(at.next, 1000, words, &four, nullptr));
    std::memcpy(at.model.data() + 976, words, sizeof words);
    taken(at.arrived);
    at.check_model();
    // A named place inside the block, and one behind it for a single run.
    const sennit_box line = sennit_box_line(8, 3, -16, 8);
    test.ok(sennit_put_notify_strided(at.next, 992, words, &line, nullptr));
    const sennit_piece one[] = {{-500, 8, 16}};
    for (std::size_t i = 0; i < 3; ++i)
        std::memcpy(at.model.data() + 992 - 16 * i, &words[i], 8);
    taken(at.arrived);
    const sennit_piece_list alone{1, one};
    test.ok(sennit_put_notify_indexed(at.next, 1400, words, &alone, nullptr));
    std::memcpy(at.model.data() + 900, &words[1], 16);
    taken(at.arrived);
    at.check_model();

    sennit_box none = line;
    none.counts[1] = 0;
    const sennit_piece empty[] = {{5, 5, 0}, {0, 0, 0}};
    test.ok(sennit_put_notify_strided(at.next, 0, nullptr, &none, nullptr));
    taken(at.arrived);
    const sennit_piece_list nothing{0, nullptr};
    const sennit_piece_list of_empty{2, empty};
    test.ok(sennit_put_notify_indexed(at.next, 0, words, &nothing, nullptr));
    taken(at.arrived);
    sennit_request request = SENNIT_REQUEST_NULL;
    test.ok(sennit_put_notify_indexed_nb(at.next, 1000, nullptr, &of_empty, nullptr, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    taken(at.arrived);
    test.ok(sennit_get_notify_strided(nullptr, at.next, 0, &none, nullptr));
    taken(at.read);
    at.check_model();
    at.end();
}

// Broken by an invalid call that moves a part, counts its event, or uses up its epoch.
RANK_TEST(notify, a_wrong_box_or_list_moves_nothing_and_counts_nothing, kAnything) {
    ShapeBlocks at(test, 1000);
    std::vector<std::uint8_t> buffer(4000, 0xEE);
    const sennit_box line = sennit_box_line(8, 10, 16, 8);
    const sennit_box overlapping = sennit_box_line(8, 10, 4, 8);
    const sennit_box beyond = sennit_box_line(8, 64, 16, 8);
    const sennit_box huge = sennit_box_line(8, SIZE_MAX / 4, 16, 8);
    const sennit_piece pieces[] = {{0, 0, 8}, {993, 8, 8}};
    const sennit_piece below[] = {{0, 0, 8}, {-1, 8, 8}};
    const sennit_piece_list leaves{2, pieces};
    const sennit_piece_list leaves_below{2, below};
    const sennit_piece_list none{2, nullptr};
    const auto put = [&](const sennit_box *box, std::size_t offset) {
        const sennit_status status =
            sennit_put_notify_strided(at.next, offset, buffer.data(), box, nullptr);
        sennit_request request = SENNIT_REQUEST_NULL;
        test.is(
            sennit_put_notify_strided_nb(at.next, offset, buffer.data(), box, nullptr, &request),
            status);
        return status;
    };
    test.is(put(nullptr, 0), SENNIT_ERR_ARG);
    test.is(put(&overlapping, 0), SENNIT_ERR_ARG);
    test.is(put(&beyond, 0), SENNIT_ERR_RANGE);
    test.is(put(&huge, 0), SENNIT_ERR_RANGE);
    test.is(put(&line, 849), SENNIT_ERR_RANGE);
    test.is(put(&line, SIZE_MAX - 7), SENNIT_ERR_RANGE);
    test.is(sennit_put_notify_strided(at.next, 0, nullptr, &line, nullptr), SENNIT_ERR_ARG);
    test.is(sennit_put_notify_indexed(at.next, 0, buffer.data(), &leaves, nullptr),
            SENNIT_ERR_RANGE);
    test.is(sennit_put_notify_indexed(at.next, 0, buffer.data(), &leaves_below, nullptr),
            SENNIT_ERR_RANGE);
    test.is(sennit_put_notify_indexed(at.next, 0, buffer.data(), &none, nullptr), SENNIT_ERR_ARG);
    test.is(sennit_put_notify_indexed(at.next, 0, buffer.data(), nullptr, nullptr), SENNIT_ERR_ARG);
    test.is(sennit_get_notify_indexed(buffer.data(), at.next, 0, &leaves, nullptr),
            SENNIT_ERR_RANGE);
    test.is(sennit_get_notify_strided(buffer.data(), at.next, 0, &beyond, nullptr),
            SENNIT_ERR_RANGE);
    const sennit_notice waits{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, SENNIT_EPOCH_NEXT, 1};
    test.is(sennit_put_notify_strided_nb(at.next, 0, buffer.data(), &line, &waits, nullptr),
            SENNIT_ERR_ARG);
    // The owner is two epochs behind: short, in several messages, and run by run.
    const sennit_notice early{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 2, 0};
    for (const std::size_t run_bytes : {std::size_t{8}, std::size_t{400}}) {
        const sennit_box two = sennit_box_line(run_bytes, 2, 500, static_cast<int>(run_bytes));
        test.is(sennit_put_notify_strided(at.next, 0, buffer.data(), &two, &early),
                SENNIT_ERR_SIGNAL_EARLY);
        sennit_request request = SENNIT_REQUEST_NULL;
        const sennit_status status =
            sennit_put_notify_strided_nb(at.next, 0, buffer.data(), &two, &early, &request);
        test.is(status == SENNIT_OK ? sennit_wait(&request, SENNIT_FOREVER) : status,
                SENNIT_ERR_SIGNAL_EARLY);
        test.is(told(sennit_put_notify_strided_nb(at.next, 0, buffer.data(), &two, &early, nullptr),
                     test.next()),
                SENNIT_ERR_SIGNAL_EARLY);
    }
    test.require(
        std::all_of(buffer.begin(), buffer.end(), [](std::uint8_t byte) { return byte == 0xEE; }),
        "a refused get brings nothing");
    at.check_model();
    test.barrier();
    test.equal(left_of(test, at.arrived), 1u);
    test.equal(left_of(test, at.read), 1u);
    test.barrier();
    const sennit_notice first{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
    test.ok(sennit_put_notify_strided(at.next, 0, buffer.data(), &line, &first));
    at.wait_and_reset(at.arrived);
    at.end();
}

// Many runs to an owner that is two epochs behind. Broken by a message of several tasks or writes
// that arrives in part although the owner has refused it.
RANK_TEST(notify, an_early_message_of_many_runs_leaves_the_block_unchanged, kAnything) {
    const ManyRuns many(600, 24);
    ShapeBlocks at(test, many.block_bytes());
    std::vector<std::uint8_t> buffer(many.runs * many.run_bytes, 0xEE);
    const std::uint8_t *const last = buffer.data() + many.last();
    const sennit_notice early{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 2, 0};
    test.is(sennit_put_notify_indexed(at.next, 0, last, &many.all, &early),
            SENNIT_ERR_SIGNAL_EARLY);
    sennit_request request = SENNIT_REQUEST_NULL;
    const sennit_status status =
        sennit_put_notify_strided_nb(at.next, 0, last, &many.box, &early, &request);
    test.is(status == SENNIT_OK ? sennit_wait(&request, SENNIT_FOREVER) : status,
            SENNIT_ERR_SIGNAL_EARLY);
    test.is(told(sennit_put_notify_strided_nb(at.next, 0, last, &many.box, &early, nullptr),
                 test.next()),
            SENNIT_ERR_SIGNAL_EARLY);
    test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
    at.check_model();
    test.barrier();
    test.equal(left_of(test, at.arrived), 1u);
    at.end();
}
