// Bad arguments for every public function: the promised status is returned, and nothing changes.
//
// A row of the table names the function, the state of the process, the call and the expected
// status. The call gets a Fixture whose outputs are filled with a pattern; after an error the
// pattern must be intact. One test reads include/sennit and fails when a declared function has no
// row.
#include "arguments_table.hpp"

#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <cctype>
#include <climits>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace arguments;

namespace {

// Ranges that leave a segment of 100 bytes: offset and size.
struct Range {
    std::uint64_t offset;
    std::size_t bytes;
};
constexpr Range kOutside[] = {{0, 101},
                              {100, 1},
                              {101, 0},
                              {99, 2},
                              {UINT64_MAX, 0},
                              {UINT64_MAX, 1},
                              {UINT64_MAX, 2},
                              {1, SIZE_MAX},
                              {50, SIZE_MAX - 49},
                              {50, SIZE_MAX - 50},
                              {UINT64_MAX - 99, 100},
                              {UINT64_MAX, SIZE_MAX}};
constexpr int kNoRanks[] = {-1, 1, INT_MAX, INT_MIN};
constexpr std::uint32_t kNoSegments[] = {0,          1,        0xFF,       0x100,
                                         0x400001,   0x4000FF, 0x7FFFFFFF, 0x80000000,
                                         0xFFFFFFFF, 0x3FFFFF, 0x003FFF01, 0x007FFFFF};

void run(const Row &row) {
    SCOPED_TRACE(std::string(row.function) + ": " + row.what);
    Fixture fixture;
    const sennit_status status = row.call(fixture);
    EXPECT_STREQ(sennit_status_string(status), sennit_status_string(row.wanted))
        << sennit_last_error()->text;
    EXPECT_TRUE(fixture.untouched()) << "an output was changed";
    EXPECT_EQ(sennit_last_error()->status, row.wanted);
    EXPECT_STREQ(sennit_last_error()->operation, row.function);
    EXPECT_STRNE(sennit_last_error()->text, "");
}

template <std::size_t count>
void run_all(const std::vector<Row> *const (&lists)[count], When when) {
    for (const std::vector<Row> *rows : lists)
        for (const Row &row : *rows)
            if (row.when == when) run(row);
}

// Starts a single rank with the segments and objects for bad arguments.
class Running : public testing::Test {
  protected:
    void SetUp() override {
        sennit_options options = SENNIT_OPTIONS_INIT;
        ASSERT_EQ(sennit_init(&options), SENNIT_OK) << sennit_last_error()->text;
        ASSERT_EQ(sennit_size(), 1);
        ASSERT_EQ(sennit_alloc(SENNIT_TEAM_WORLD, 100, 0, 0, &memory.freed), SENNIT_OK);
        ASSERT_EQ(sennit_alloc_local(100, 0, 0, &memory.freed_local), SENNIT_OK);
        ASSERT_EQ(sennit_free(memory.freed), SENNIT_OK);
        ASSERT_EQ(sennit_free(memory.freed_local), SENNIT_OK);
        ASSERT_EQ(sennit_alloc(SENNIT_TEAM_WORLD, 100, 0, 0, &memory.segment), SENNIT_OK);
        ASSERT_EQ(sennit_alloc_local(100, 0, 0, &memory.local), SENNIT_OK);
        unsigned char content[100];
        std::memset(content, 0x11, sizeof content);
        ASSERT_EQ(sennit_put(memory.segment, content, sizeof content), SENNIT_OK);
        ASSERT_EQ(sennit_put(memory.local, content, sizeof content), SENNIT_OK);
        make_queue();
        ASSERT_EQ(make_teams(), SENNIT_OK) << sennit_last_error()->text;
    }

    void TearDown() override {
        EXPECT_EQ(end_teams(), SENNIT_OK) << "a refused call has changed a team";
        end_queue();
        for (const sennit_gptr gptr : {memory.segment, memory.local}) {
            unsigned char content[100] = {};
            EXPECT_EQ(sennit_get(content, gptr, sizeof content), SENNIT_OK);
            for (const unsigned char byte : content)
                EXPECT_EQ(byte, 0x11) << "a refused call has changed memory";
            EXPECT_EQ(sennit_free(gptr), SENNIT_OK);
        }
        EXPECT_EQ(sennit_finalize(), SENNIT_OK);
    }

  private:
    static constexpr std::uint64_t kItem = 0x2222;

    static void make_queue() {
        ASSERT_EQ(sennit_queue_create(8, 1, 1, &memory.queue, &memory.queue_address), SENNIT_OK);
        sennit_producer producer = SENNIT_PRODUCER_NULL;
        ASSERT_EQ(sennit_queue_attach(memory.queue_address, &producer), SENNIT_OK);
        ASSERT_EQ(sennit_queue_push(producer, &kItem, 0), SENNIT_OK);
        ASSERT_EQ(sennit_queue_detach(producer), SENNIT_OK);
    }
    static void end_queue() {
        std::uint64_t item = 0;
        EXPECT_EQ(sennit_queue_pop(memory.queue, &item, 0), SENNIT_OK);
        EXPECT_EQ(item, kItem) << "a refused call has changed a queue";
        EXPECT_EQ(sennit_queue_destroy(memory.queue), SENNIT_OK);
    }
};

// Calls every transfer with `gptr` and the private buffer of the fixture, and expects `wanted`.
void expect_transfers_refused(sennit_gptr gptr, std::size_t bytes, sennit_status wanted) {
    Fixture fixture;
    EXPECT_EQ(sennit_put(gptr, fixture.buffer, bytes), wanted);
    EXPECT_STREQ(sennit_last_error()->operation, "sennit_put");
    EXPECT_EQ(sennit_get(fixture.buffer, gptr, bytes), wanted);
    EXPECT_STREQ(sennit_last_error()->operation, "sennit_get");
    EXPECT_EQ(sennit_put_nb(gptr, fixture.buffer, bytes, &fixture.request), wanted);
    EXPECT_EQ(sennit_get_nb(fixture.buffer, gptr, bytes, &fixture.request), wanted);
    EXPECT_STREQ(sennit_last_error()->operation, "sennit_get_nb");
    EXPECT_EQ(sennit_put_local(gptr, fixture.buffer, bytes), wanted);
    EXPECT_STREQ(sennit_last_error()->operation, "sennit_put_local");
    EXPECT_EQ(sennit_put_nbi(gptr, fixture.buffer, bytes), wanted);
    EXPECT_EQ(sennit_get_nbi(fixture.buffer, gptr, bytes), wanted);
    EXPECT_TRUE(fixture.untouched());
}

// A function of Sennit that a header declares or calls.
struct Declared {
    std::string name;
    bool takes_arguments;
};

// Finds names that begin with sennit_ and precede a parenthesis, outside comments.
std::vector<Declared> functions_in(std::string text) {
    for (std::size_t begin; (begin = text.find("/*")) != std::string::npos;)
        text.erase(begin, text.find("*/", begin) + 2 - begin);
    std::vector<Declared> found;
    const std::string prefix = "sennit_";
    for (std::size_t at = text.find(prefix); at != std::string::npos;) {
        std::size_t end = at;
        while (end < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
            ++end;
        if (end < text.size() && text[end] == '(')
            found.push_back({text.substr(at, end - at), text.compare(end, 6, "(void)") != 0});
        at = text.find(prefix, end);
    }
    return found;
}

// A function that reports no errors, and a call with bad arguments if it takes any.
struct Bears {
    const char *function;
    void (*call)();
};

const Bears kBears[] = {
    {"sennit_status_string",
     [] {
         EXPECT_STREQ(sennit_status_string(SENNIT_STATUS_END), "unknown status");
         EXPECT_STREQ(sennit_status_string(static_cast<sennit_status>(-1)), "unknown status");
     }},
    {"sennit_path_name",
     [] {
         EXPECT_STREQ(sennit_path_name(SENNIT_PATH_END), "unknown");
         EXPECT_STREQ(sennit_path_name(static_cast<sennit_path>(-1)), "unknown");
     }},
    {"sennit_mechanism_name",
     [] {
         EXPECT_STREQ(sennit_mechanism_name(SENNIT_MECHANISM_END), "unknown");
         EXPECT_STREQ(sennit_mechanism_name(SENNIT_MECHANISM_ADOPT), "adopt");
     }},
    {"sennit_path_built",
     [] {
         EXPECT_EQ(sennit_path_built(SENNIT_PATH_END), 0);
         EXPECT_EQ(sennit_path_built(static_cast<sennit_path>(-1)), 0);
         EXPECT_EQ(sennit_path_built(SENNIT_PATH_MAPPED), 1);
     }},
    {"sennit_bootstrap_describe",
     [] {
         char text[8] = "before";
         EXPECT_EQ(sennit_bootstrap_describe(-1, text, sizeof text), nullptr);
         EXPECT_EQ(sennit_bootstrap_describe(INT_MAX, text, sizeof text), nullptr);
         EXPECT_STREQ(text, "before");
         EXPECT_NE(sennit_bootstrap_describe(0, nullptr, 0), nullptr);
     }},
    {"sennit_error_report",
     [] {
         EXPECT_EQ(sennit_error_report(SENNIT_ERR_ARG, nullptr, nullptr, 0), SENNIT_ERR_ARG);
         EXPECT_STREQ(sennit_last_error()->operation, "");
         EXPECT_STREQ(sennit_last_error()->text, "");
     }},
    {"sennit_gptr_add",
     [] { EXPECT_EQ(sennit_gptr_add(SENNIT_GPTR_NULL, -1).offset, UINT64_MAX); }},
    {"sennit_gptr_at", [] { EXPECT_EQ(sennit_gptr_at(SENNIT_GPTR_NULL, 7).rank, 7); }},
    {"sennit_block_is_null",
     [] {
         const sennit_block null = SENNIT_BLOCK_NULL;
         EXPECT_EQ(sennit_block_is_null(&null), 1);
         EXPECT_EQ(sennit_block_is_null(nullptr), 1);
     }},
    {"sennit_gptr_is_null", [] { EXPECT_EQ(sennit_gptr_is_null(SENNIT_GPTR_NULL), 1); }},
    // Only stores its arguments: the call that gets the reduction refuses bad ones.
    {"sennit_reduction_of",
     [] {
         const sennit_reduction made = sennit_reduction_of(SIZE_MAX, static_cast<sennit_type>(-1),
                                                           static_cast<sennit_operator>(-1));
         EXPECT_EQ(made.count, SIZE_MAX);
         EXPECT_EQ(made.type, static_cast<sennit_type>(-1));
         EXPECT_EQ(made.op, static_cast<sennit_operator>(-1));
     }},
    {"sennit_reduction_by",
     [] {
         const sennit_reduction made = sennit_reduction_by(SIZE_MAX, 0, nullptr, nullptr);
         EXPECT_EQ(made.count, SIZE_MAX);
         EXPECT_EQ(made.element_bytes, 0u);
         EXPECT_EQ(made.combine, nullptr);
     }},
    {"sennit_box_line",
     [] {
         const sennit_box made = sennit_box_line(SIZE_MAX, 0, INT64_MIN, INT64_MAX);
         EXPECT_EQ(made.element_bytes, SIZE_MAX);
         EXPECT_EQ(made.counts[0], 0u);
         EXPECT_EQ(made.counts[1] * made.counts[2], 1u);
         EXPECT_EQ(made.remote_strides[0], INT64_MIN);
         EXPECT_EQ(made.local_strides[0], INT64_MAX);
     }},
    {"sennit_version", [] { EXPECT_NE(sennit_version(), nullptr); }},
    {"sennit_build_description", [] { EXPECT_NE(sennit_build_description(), nullptr); }},
    {"sennit_wtime", [] { EXPECT_GT(sennit_wtime(), 0.0); }},
    {"sennit_last_error", [] { EXPECT_NE(sennit_last_error(), nullptr); }},
    {"sennit_initialized", [] { EXPECT_EQ(sennit_initialized(), 0); }},
    {"sennit_rank", [] { EXPECT_EQ(sennit_rank(), -1); }},
    {"sennit_size", [] { EXPECT_EQ(sennit_size(), -1); }},
    {"sennit_thread_level_granted", [] { EXPECT_EQ(sennit_thread_level_granted(), -1); }},
    {"sennit_bootstrap_used", [] { EXPECT_EQ(sennit_bootstrap_used(), nullptr); }},
};

std::set<std::string> functions_of(const std::vector<Row> *const (&lists)[7]) {
    std::set<std::string> names;
    for (const std::vector<Row> *rows : lists)
        for (const Row &row : *rows)
            names.insert(row.function);
    return names;
}

}  // namespace

// Broken by a check that comes after a change, or that release builds lack.
TEST(arguments, calls_without_a_rank_return_state) {
    ASSERT_EQ(sennit_initialized(), 0);
    run_all(kWithoutRank, When::before_init);
}

TEST(arguments, calls_before_init_refuse_wrong_arguments) {
    run_all(kWrong, When::before_init);
    EXPECT_EQ(sennit_initialized(), 0) << "an init that failed has made a rank";
}

TEST_F(Running, calls_refuse_wrong_arguments) {
    run_all(kWrong, When::running);
}

TEST_F(Running, ranges_that_leave_the_segment_are_refused) {
    for (const Range &range : kOutside) {
        SCOPED_TRACE(std::to_string(range.offset) + " + " + std::to_string(range.bytes));
        expect_transfers_refused(at_offset(range.offset), range.bytes, SENNIT_ERR_RANGE);
        sennit_gptr local = memory.local;
        local.offset = range.offset;
        expect_transfers_refused(local, range.bytes, SENNIT_ERR_RANGE);
    }
}

TEST_F(Running, ranks_that_do_not_exist_are_refused) {
    for (const int rank : kNoRanks) {
        SCOPED_TRACE(rank);
        expect_transfers_refused(of_rank(rank), 8, SENNIT_ERR_RANGE);
        expect_transfers_refused(of_rank(rank), 0, SENNIT_ERR_RANGE);
        expect_transfers_refused(sennit_gptr_at(memory.local, rank), 8, SENNIT_ERR_RANGE);
        EXPECT_EQ(sennit_free(of_rank(rank)), SENNIT_ERR_RANGE);
        EXPECT_EQ(sennit_ptr(of_rank(rank)), nullptr);
        EXPECT_EQ(sennit_last_error()->status, SENNIT_ERR_RANGE);
    }
}

TEST_F(Running, segments_that_do_not_exist_are_refused) {
    for (const std::uint32_t segment : kNoSegments) {
        if (segment == memory.segment.segment || segment == memory.local.segment) continue;
        SCOPED_TRACE(segment);
        // Segment 0 is that of a null pointer.
        const sennit_status wanted = segment == 0 ? SENNIT_ERR_ARG : SENNIT_ERR_NOT_REGISTERED;
        expect_transfers_refused(of_segment(segment), 8, wanted);
        expect_transfers_refused(of_segment(segment), 0, wanted);
        EXPECT_EQ(sennit_free(of_segment(segment)), wanted);
        EXPECT_EQ(sennit_ptr(of_segment(segment)), nullptr);
        std::size_t bytes = 3;
        EXPECT_EQ(sennit_segment_bytes(of_segment(segment), &bytes), wanted);
        EXPECT_EQ(bytes, 3u);
    }
    expect_transfers_refused(memory.freed, 8, SENNIT_ERR_NOT_REGISTERED);
    expect_transfers_refused(memory.freed_local, 8, SENNIT_ERR_NOT_REGISTERED);
}

// Broken by a rank object that remains reachable after finalize.
TEST(arguments, calls_after_finalize_return_state) {
    ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
    ASSERT_EQ(sennit_alloc(SENNIT_TEAM_WORLD, 100, 0, 0, &memory.segment), SENNIT_OK);
    ASSERT_EQ(sennit_finalize(), SENNIT_OK);
    run_all(kWithoutRank, When::before_init);
}

// Broken by an information function that cannot answer at any time.
TEST(arguments, functions_that_cannot_fail_work_at_any_time) {
    ASSERT_EQ(sennit_initialized(), 0);
    for (const Bears &one : kBears) {
        SCOPED_TRACE(one.function);
        one.call();
    }
}

// Broken by a new function without rows of bad arguments. A function with arguments also needs rows
// other than STATE without a rank.
TEST(arguments, every_declared_function_has_its_rows) {
    const std::set<std::string> wrong = functions_of(kWrong);
    const std::set<std::string> without_rank = functions_of(kWithoutRank);
    std::set<std::string> bears;
    for (const Bears &one : kBears)
        bears.insert(one.function);
    int found = 0;
    for (const auto &entry : std::filesystem::directory_iterator(SENNIT_INCLUDE_FOLDER)) {
        // A user's MPI compiles these headers, and the tests of MPI call their functions.
        if (entry.path().filename().string().rfind("sennit_mpi", 0) == 0) continue;
        if (entry.path().filename() == "sennit_zcom.h") continue;
        // UNR's functions: tests/unr/ and tests/conformance/unr_test.cpp test them.
        if (entry.path().filename() == "sennit_unr.h") continue;
        if (entry.path().filename() == "sennit_unr_calls.h") continue;
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        for (const Declared &one : functions_in(text.str())) {
            ++found;
            const bool has_row = wrong.count(one.name) == 1 || bears.count(one.name) == 1 ||
                                 (!one.takes_arguments && without_rank.count(one.name) == 1);
            EXPECT_TRUE(has_row) << one.name << " has no row "
                                 << (one.takes_arguments ? "with arguments" : "");
        }
    }
    EXPECT_GT(found, 40);
}

// The table of atomic.h makes 28 functions for each of four integers and 8 for each of two floats.
TEST(arguments, every_function_on_a_word_has_its_rows) {
    std::set<std::string> in_table;
    for (const Row &row : atomics_that_need_a_rank)
        if (std::string(row.function).rfind("sennit_atomic_", 0) == 0)
            in_table.insert(row.function);
    EXPECT_EQ(in_table.size(), 4u * 28 + 2u * 8);
    std::set<std::string> with_arguments;
    for (const Row &row : wrong_atomics)
        if (std::string(row.function).rfind("sennit_atomic_", 0) == 0)
            with_arguments.insert(row.function);
    EXPECT_EQ(with_arguments, in_table);
}
