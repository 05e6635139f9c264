// Strided and indexed put and get.
#include "strided_program.hpp"

#include <numeric>

using namespace conformance;

namespace {

sennit_box line(std::size_t element, std::size_t count, std::int64_t remote, std::int64_t local) {
    return sennit_box_line(element, count, remote, local);
}

// Every rank checks for itself; true if all ranks reach all others.
bool private_memory_is_reached(Ranks &test) {
    std::uint64_t word = 0;
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(&word, sizeof word, 0, &mine));
    int missed = 0;
    for (const sennit_region &region : test.tell_all(mine))
        missed += sennit_get(&word, region.gptr, 8) == SENNIT_OK ? 0 : 1;
    const auto all = test.tell_all(missed);
    test.ok(sennit_deregister(mine));
    return std::accumulate(all.begin(), all.end(), 0) == 0;
}

}  // namespace

// Broken by a wrong stride, a run cut in the wrong place, a list that is read after the call, or a
// box that is moved twice.
RANK_TEST(strided, programs_do_what_the_oracle_does_byte_by_byte, kAnything) {
    const bool with_private_memory = private_memory_is_reached(test);
    const int programs = test.quick ? 4 : 15;
    for (int i = 0; i < programs; ++i)
        run_strided_program(test, test.quick ? 3 : 8, with_private_memory);
}

// Broken by a put that reads its buffer after it has returned, or a copy that is read like the
// buffer itself.
RANK_TEST(strided, a_local_put_leaves_its_buffer_to_the_caller, kAnything) {
    constexpr std::size_t kCount = 300;
    const std::int64_t puts = test.quick ? 10 : 60;
    constexpr std::int64_t kSpan = 24 * kCount;
    const sennit_gptr segment = test.allocate(static_cast<std::size_t>(puts * kSpan));
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint64_t> buffer(2 * kCount);
    const sennit_box box = line(8, kCount, 24, 16);
    const sennit_box rows{8, {3, 10, 10}, {24, 72, 720}, {16, 48, 480}};
    for (std::int64_t i = 0; i < puts; ++i) {
        std::iota(buffer.begin(), buffer.end(), static_cast<std::uint64_t>(i));
        test.ok(sennit_put_strided_local(sennit_gptr_add(there, i * kSpan), buffer.data(),
                                         i % 2 == 0 ? &box : &rows));
        std::fill(buffer.begin(), buffer.end(), std::uint64_t{0xEE});
    }
    test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
    test.barrier();
    const auto *mine = static_cast<const std::uint64_t *>(sennit_ptr(segment));
    for (std::int64_t i = 0; i < puts; ++i, mine += 3 * kCount)
        for (std::size_t k = 0; k < kCount; ++k)
            test.equal(mine[3 * k], static_cast<std::uint64_t>(i) + 2 * k);
    test.barrier();
    test.free(segment);
}

// Broken by a check element by element: a part would have moved before the refusal.
RANK_TEST(strided, a_box_that_leaves_the_segment_is_refused_as_a_whole, kAnything) {
    const sennit_gptr segment = test.allocate(1000);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint64_t> data(200, 7);
    const auto refused = [&](sennit_gptr place, const sennit_box &box) {
        test.is(sennit_put_strided(place, data.data() + 100, &box), SENNIT_ERR_RANGE);
        test.is(sennit_get_strided(data.data() + 100, place, &box), SENNIT_ERR_RANGE);
        sennit_request request = {77};
        test.is(sennit_put_strided_nb(place, data.data() + 100, &box, &request), SENNIT_ERR_RANGE);
        test.equal(request.handle, 77u);
    };
    refused(there, line(8, 64, 16, 8));
    refused(there, line(8, 2, -8, 8));
    refused(sennit_gptr_add(there, 993), line(8, 1, 0, 0));
    refused(sennit_gptr_add(there, -8), line(8, 2, 8, 8));
    refused(there, {8, {2, 2, 2}, {8, 16, 977}, {8, 16, 32}});
    refused(there, line(8, SIZE_MAX, 8, 8));
    refused(there, line(SIZE_MAX, 2, 8, 8));
    refused(there, line(8, 3, INT64_MAX, 8));
    refused(there, line(8, 3, INT64_MIN, 8));
    const sennit_box last = line(8, 1, 99, 99);
    test.ok(sennit_put_strided(sennit_gptr_add(there, 992), data.data(), &last));
    const sennit_piece outside[] = {{0, 0, 8}, {993, 8, 8}};
    test.is(sennit_put_indexed(there, data.data(), 2, outside), SENNIT_ERR_RANGE);
    const sennit_piece before[] = {{0, 0, 8}, {-1, 8, 8}};
    test.is(sennit_put_indexed(there, data.data(), 2, before), SENNIT_ERR_RANGE);
    const sennit_piece huge[] = {{0, 0, SIZE_MAX}, {0, 8, 8}};
    test.is(sennit_get_indexed(data.data(), there, 2, huge), SENNIT_ERR_RANGE);
    test.barrier();
    std::vector<std::uint8_t> all(992);
    test.ok(sennit_get(all.data(), segment, all.size()));
    for (const std::uint8_t byte : all)
        test.equal(byte, 0);
    test.barrier();
    test.free(segment);
}

// Broken by accepted elements that overlap: the result would depend on the path.
RANK_TEST(strided, a_destination_whose_elements_overlap_is_refused, kAnything) {
    const sennit_gptr segment = test.allocate(1000);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> data(1000, 1);
    const auto is = [&](const sennit_box &box, sennit_status put, sennit_status get) {
        test.is(sennit_put_strided(there, data.data(), &box), put);
        test.is(sennit_get_strided(data.data(), there, &box), get);
    };
    is(line(8, 2, 7, 8), SENNIT_ERR_ARG, SENNIT_OK);
    is(line(8, 2, 0, 8), SENNIT_ERR_ARG, SENNIT_OK);
    is(line(8, 2, 8, 0), SENNIT_OK, SENNIT_ERR_ARG);
    is(line(8, 2, 8, 4), SENNIT_OK, SENNIT_ERR_ARG);
    is(line(8, 1, 0, 0), SENNIT_OK, SENNIT_OK);
    // Two dimensions nested in the opposite order, and two that overlap.
    is({4, {3, 2, 1}, {8, 4, 0}, {4, 12, 0}}, SENNIT_OK, SENNIT_OK);
    is({4, {3, 2, 1}, {8, 12, 0}, {4, 12, 0}}, SENNIT_ERR_ARG, SENNIT_OK);
    is({0, {2, 1, 1}, {8, 0, 0}, {8, 0, 0}}, SENNIT_ERR_ARG, SENNIT_ERR_ARG);
    test.barrier();
    test.free(segment);
}

// Broken by arithmetic with 0 elements, or by a request that stays open.
RANK_TEST(strided, empty_transfers_are_legal_and_complete, kAnything) {
    const sennit_gptr segment = test.allocate(16);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    for (int d = 0; d < 3; ++d) {
        sennit_box box{8, {5, 5, 5}, {800, 800, 800}, {8, 8, 8}};
        box.counts[d] = 0;
        sennit_request request = {5};
        test.ok(sennit_put_strided(there, nullptr, &box));
        test.ok(sennit_get_strided_nb(nullptr, there, &box, &request));
        test.equal(request.handle, 0u);
    }
    const sennit_piece empty[] = {{5000, 5000, 0}, {-3, -3, 0}};
    test.ok(sennit_put_indexed(there, nullptr, 2, empty));
    test.ok(sennit_get_indexed(nullptr, there, 0, nullptr));
    test.ok(sennit_get_indexed_nbi(nullptr, there, 0, nullptr));
    test.free(segment);
    const sennit_box box{8, {0, 1, 1}, {8, 0, 0}, {8, 0, 0}};
    test.is(sennit_put_strided(there, nullptr, &box), SENNIT_ERR_NOT_REGISTERED);
}

// Broken by a destination that is written before it was read as a source, as by memcpy.
RANK_TEST(strided, sides_that_overlap_in_memory_move_as_if_read_first, kAnything) {
    constexpr std::size_t kBytes = 600;
    const sennit_gptr segment = test.allocate(kBytes);
    auto *const memory = static_cast<std::uint8_t *>(sennit_ptr(segment));
    const int turns = test.quick ? 50 : 400;
    for (int turn = 0; turn < turns; ++turn) {
        const bool is_put = test.own.one_in(2);
        const Shape shape = draw_shape(test.own, is_put, kBytes / 3);
        if (shape.local_span > kBytes || shape.bytes.empty()) continue;
        const std::size_t remote = test.own.below(kBytes - shape.remote_span + 1);
        const std::size_t local = test.own.below(kBytes - shape.local_span + 1);
        fill(memory, kBytes, static_cast<std::uint64_t>(turn));
        std::vector<std::uint8_t> model(memory, memory + kBytes);
        const std::vector<std::uint8_t> before = model;
        for (const auto &[there, here] : shape.bytes) {
            const std::size_t to = is_put ? remote + there : local + here;
            const std::size_t from = is_put ? local + here : remote + there;
            model[to] = before[from];
        }
        const sennit_gptr place =
            sennit_gptr_add(segment, static_cast<std::int64_t>(remote + shape.remote_origin));
        std::uint8_t *buffer = memory + local + shape.local_origin;
        const std::size_t count = shape.pieces.size();
        if (shape.is_box) {
            test.ok(is_put ? sennit_put_strided(place, buffer, &shape.box)
                           : sennit_get_strided(buffer, place, &shape.box));
        } else {
            test.ok(is_put ? sennit_put_indexed(place, buffer, count, shape.pieces.data())
                           : sennit_get_indexed(buffer, place, count, shape.pieces.data()));
        }
        test.require(std::memcmp(memory, model.data(), kBytes) == 0,
                     "all was read before any was written");
    }
    test.free(segment);
}

// Broken by a batch of the kernel's lists that ends in the wrong place, and by a list that is too
// long for one batch.
RANK_TEST(strided, a_column_of_a_matrix_and_a_long_list_arrive, kOnce) {
    const std::size_t rows = test.quick ? 700 : 5000;
    constexpr std::size_t kColumns = 7;
    std::vector<double> matrix(rows * kColumns, -1.0);
    const sennit_gptr segment = test.allocate(matrix.size() * sizeof(double));
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    test.ok(sennit_put(segment, matrix.data(), matrix.size() * sizeof(double)));
    test.barrier();
    std::vector<double> column(rows);
    std::iota(column.begin(), column.end(), test.rank * 1000000.0);
    const sennit_box box = line(sizeof(double), rows, kColumns * sizeof(double), sizeof(double));
    test.ok(sennit_put_strided(sennit_gptr_add(there, 3 * sizeof(double)), column.data(), &box));
    std::vector<sennit_piece> pieces;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t row = i * 17 % rows;
        pieces.push_back({static_cast<std::int64_t>((row * kColumns + 5) * sizeof(double)),
                          static_cast<std::int64_t>(row * sizeof(double)), sizeof(double)});
    }
    test.ok(sennit_put_indexed_nbi(there, column.data(), rows, pieces.data()));
    pieces.assign(rows, sennit_piece{});
    test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
    test.barrier();
    test.ok(sennit_get(matrix.data(), segment, matrix.size() * sizeof(double)));
    for (std::size_t row = 0; row < rows; ++row) {
        const double wanted = test.previous() * 1000000.0 + static_cast<double>(row);
        test.require(matrix[row * kColumns + 3] == wanted, "the column arrived by its stride");
        test.require(matrix[row * kColumns + 5] == wanted || rows % 17 == 0, "and by its list");
        test.require(matrix[row * kColumns + 4] == -1.0, "nothing between was touched");
    }
    test.barrier();
    test.free(segment);
}
