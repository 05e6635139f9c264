// Bad arguments for registration and for strided and indexed transfers.
#include <climits>

#include "arguments_table.hpp"

namespace arguments {
namespace {

constexpr When kRunning = When::running;
constexpr When kAny = When::before_init;
constexpr sennit_status kState = SENNIT_ERR_STATE;

// Two doubles, 16 bytes apart on either side.
constexpr sennit_box kBox{8, {2, 1, 1}, {16, 0, 0}, {16, 0, 0}};
constexpr sennit_box kNoElement{0, {2, 1, 1}, {16, 0, 0}, {16, 0, 0}};
constexpr sennit_box kOverlap{8, {2, 1, 1}, {7, 0, 0}, {7, 0, 0}};
constexpr sennit_box kTooMany{8, {SIZE_MAX, 2, 1}, {8, 8, 0}, {8, 8, 0}};
constexpr sennit_box kTooFar{8, {3, 1, 1}, {INT64_MAX, 0, 0}, {8, 0, 0}};
constexpr sennit_box kTooFarHere{8, {3, 1, 1}, {8, 0, 0}, {INT64_MIN, 0, 0}};
constexpr sennit_box kOutside{8, {14, 1, 1}, {8, 0, 0}, {8, 0, 0}};
constexpr sennit_piece kPiece[] = {{0, 0, 8}};
constexpr sennit_piece kPieceOutside[] = {{0, 0, 8}, {93, 8, 8}};
constexpr sennit_piece kPieceBefore[] = {{-1, 0, 8}};
constexpr sennit_piece kPieceHuge[] = {{0, 0, SIZE_MAX}};
constexpr sennit_piece kPieceFar[] = {{INT64_MAX, 0, 8}};

// Adds a row for each put and get of an invalid box.
template <const sennit_box &box, sennit_status wanted>
void add_box(std::vector<Row> &rows, const char *what) {
    rows.push_back({"sennit_put_strided", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_put_strided(memory.segment, it.buffer, &box);
                    }});
    rows.push_back({"sennit_get_strided", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_get_strided(it.buffer, memory.segment, &box);
                    }});
    rows.push_back({"sennit_put_strided_local", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_put_strided_local(memory.segment, it.buffer, &box);
                    }});
    rows.push_back({"sennit_put_strided_nb", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_put_strided_nb(memory.segment, it.buffer, &box, &it.request);
                    }});
    rows.push_back({"sennit_get_strided_nb", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_get_strided_nb(it.buffer, memory.segment, &box, &it.request);
                    }});
    rows.push_back({"sennit_put_strided_nbi", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_put_strided_nbi(memory.segment, it.buffer, &box);
                    }});
    rows.push_back({"sennit_get_strided_nbi", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_get_strided_nbi(it.buffer, memory.segment, &box);
                    }});
}

template <const auto &list, sennit_status wanted>
void add_list(std::vector<Row> &rows, const char *what) {
    constexpr std::size_t kCount = sizeof list / sizeof list[0];
    rows.push_back({"sennit_put_indexed", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_put_indexed(memory.segment, it.buffer, kCount, list);
                    }});
    rows.push_back({"sennit_get_indexed", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_get_indexed(it.buffer, memory.segment, kCount, list);
                    }});
    rows.push_back({"sennit_put_indexed_nb", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_put_indexed_nb(memory.segment, it.buffer, kCount, list,
                                                     &it.request);
                    }});
    rows.push_back({"sennit_get_indexed_nb", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_get_indexed_nb(it.buffer, memory.segment, kCount, list,
                                                     &it.request);
                    }});
    rows.push_back({"sennit_put_indexed_nbi", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_put_indexed_nbi(memory.segment, it.buffer, kCount, list);
                    }});
    rows.push_back({"sennit_get_indexed_nbi", what, kRunning, wanted, [](Fixture &it) {
                        return sennit_get_indexed_nbi(it.buffer, memory.segment, kCount, list);
                    }});
}

sennit_region own_region() {
    return {memory.segment, 100};
}

std::vector<Row> wrong_questions_about_regions() {
    return {
        {"sennit_region_mechanism", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_region_mechanism(own_region(), nullptr); }},
        {"sennit_region_mechanism", "the null region", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_region_mechanism(SENNIT_REGION_NULL, &it.mechanism); }},
        {"sennit_region_mechanism", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) {
             return sennit_region_mechanism({memory.freed_local, 8}, &it.mechanism);
         }},
        {"sennit_region_mechanism", "segment 0", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_region_mechanism({{0, 0, 0}, 8}, &it.mechanism);
         }},
        {"sennit_region_mechanism", "rank size", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) {
             return sennit_region_mechanism({of_rank(1), 8}, &it.mechanism);
         }},
        {"sennit_region_reason", "no text", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) {
             return sennit_region_reason(own_region(), SENNIT_MECHANISM_CMA, nullptr, 8);
         }},
        {"sennit_region_reason", "no bytes", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_region_reason(own_region(), SENNIT_MECHANISM_CMA, it.text, 0);
         }},
        {"sennit_region_reason", "SENNIT_MECHANISM_END", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_region_reason(own_region(), SENNIT_MECHANISM_END, it.text, 8);
         }},
        {"sennit_region_reason", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) {
             return sennit_region_reason({memory.freed_local, 8}, SENNIT_MECHANISM_CMA, it.text, 8);
         }},
    };
}

std::vector<Row> wrong_regions() {
    return {
        {"sennit_register", "a null region", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_register(it.buffer, 8, 0, nullptr); }},
        {"sennit_register", "null memory", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_register(nullptr, 8, 0, &it.region); }},
        {"sennit_register", "an unknown flag", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_register(it.buffer, 8, 4, &it.region); }},
        {"sennit_register", "SIZE_MAX bytes", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_register(it.buffer, SIZE_MAX, 0, &it.region); }},
        {"sennit_register", "memory that is not mapped", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_register(reinterpret_cast<void *>(std::uintptr_t{4096}), 8, 0,
                                    &it.region);
         }},
        {"sennit_register", "a segment and one byte more", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) {
             return sennit_register(sennit_ptr(memory.segment), 101, 0, &it.region);
         }},
        {"sennit_deregister", "the null region", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_deregister(SENNIT_REGION_NULL); }},
        {"sennit_deregister", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &) {
             return sennit_deregister({memory.freed_local, 8});
         }},
        {"sennit_deregister", "segment 0", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) {
             return sennit_deregister({{0, 0, 0}, 8});
         }},
        {"sennit_deregister", "more than the segment", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) {
             return sennit_deregister({memory.segment, 101});
         }},
        {"sennit_region_attach", "null", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) {
             return sennit_region_attach(SENNIT_TEAM_WORLD, SENNIT_REGION_NULL, nullptr);
         }},
        {"sennit_region_attach", "a team that does not exist", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_region_attach(sennit_team{77}, SENNIT_REGION_NULL, it.regions);
         }},
        {"sennit_region_attach", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) {
             return sennit_region_attach(SENNIT_TEAM_WORLD, {memory.freed_local, 8}, it.regions);
         }},
        {"sennit_region_detach", "the null region", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_region_detach(SENNIT_REGION_NULL); }},
        {"sennit_region_detach", "its own", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_region_detach(own_region()); }},
        {"sennit_region_detach", "rank size", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &) {
             return sennit_region_detach({of_rank(1), 8});
         }},
    };
}

std::vector<Row> wrong_transfers() {
    return {
        {"sennit_put_strided", "a null box", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_put_strided(memory.segment, it.buffer, nullptr); }},
        {"sennit_put_strided", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_put_strided(memory.segment, nullptr, &kBox); }},
        {"sennit_get_strided", "a null box", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_get_strided(it.buffer, memory.segment, nullptr); }},
        {"sennit_get_strided", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_get_strided(nullptr, memory.segment, &kBox); }},
        {"sennit_put_strided_nb", "a null request", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_put_strided_nb(memory.segment, it.buffer, &kBox, nullptr);
         }},
        {"sennit_get_strided_nb", "a null request", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_get_strided_nb(it.buffer, memory.segment, &kBox, nullptr);
         }},
        {"sennit_put_strided_local", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) { return sennit_put_strided_local(memory.freed, it.buffer, &kBox); }},
        {"sennit_put_strided_nbi", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) { return sennit_put_strided_nbi(memory.freed, it.buffer, &kBox); }},
        {"sennit_get_strided_nbi", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_get_strided_nbi(nullptr, memory.segment, &kBox); }},
        {"sennit_put_strided", "rank INT_MIN", kRunning, SENNIT_ERR_RANGE,
         [](Fixture &it) { return sennit_put_strided(of_rank(INT_MIN), it.buffer, &kBox); }},

        {"sennit_put_indexed", "null pieces", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_put_indexed(memory.segment, it.buffer, 1, nullptr); }},
        {"sennit_put_indexed", "a null buffer", kRunning, SENNIT_ERR_ARG,
         [](Fixture &) { return sennit_put_indexed(memory.segment, nullptr, 1, kPiece); }},
        {"sennit_get_indexed", "null pieces", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_get_indexed(it.buffer, memory.segment, 1, nullptr); }},
        {"sennit_get_indexed", "a freed region", kRunning, SENNIT_ERR_NOT_REGISTERED,
         [](Fixture &it) { return sennit_get_indexed(it.buffer, memory.freed, 1, kPiece); }},
        {"sennit_put_indexed_nb", "a null request", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_put_indexed_nb(memory.segment, it.buffer, 1, kPiece, nullptr);
         }},
        {"sennit_get_indexed_nb", "a null request", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) {
             return sennit_get_indexed_nb(it.buffer, memory.segment, 1, kPiece, nullptr);
         }},
        {"sennit_put_indexed_nbi", "null pieces", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_put_indexed_nbi(memory.segment, it.buffer, 1, nullptr); }},
        {"sennit_get_indexed_nbi", "null pieces", kRunning, SENNIT_ERR_ARG,
         [](Fixture &it) { return sennit_get_indexed_nbi(it.buffer, memory.segment, 1, nullptr); }},
    };
}

std::vector<Row> make_wrong_shapes() {
    std::vector<Row> rows = wrong_regions();
    for (const Row &row : wrong_questions_about_regions())
        rows.push_back(row);
    const std::vector<Row> transfers = wrong_transfers();
    rows.insert(rows.end(), transfers.begin(), transfers.end());
    add_box<kNoElement, SENNIT_ERR_ARG>(rows, "elements without bytes");
    add_box<kOverlap, SENNIT_ERR_ARG>(rows, "elements that overlap");
    add_box<kTooMany, SENNIT_ERR_RANGE>(rows, "more elements than there are addresses");
    add_box<kTooFar, SENNIT_ERR_RANGE>(rows, "strides beyond all addresses");
    add_box<kTooFarHere, SENNIT_ERR_RANGE>(rows, "private strides beyond all addresses");
    add_box<kOutside, SENNIT_ERR_RANGE>(rows, "a box that leaves the segment");
    add_list<kPieceOutside, SENNIT_ERR_RANGE>(rows, "a piece that leaves the segment");
    add_list<kPieceBefore, SENNIT_ERR_RANGE>(rows, "a piece before the segment");
    add_list<kPieceHuge, SENNIT_ERR_RANGE>(rows, "a piece of SIZE_MAX bytes");
    add_list<kPieceFar, SENNIT_ERR_RANGE>(rows, "a piece at INT64_MAX");
    return rows;
}

}  // namespace

const std::vector<Row> wrong_shapes = make_wrong_shapes();

const std::vector<Row> shapes_that_need_a_rank = {
    {"sennit_register", "", kAny, kState,
     [](Fixture &it) { return sennit_register(it.buffer, 8, 0, &it.region); }},
    {"sennit_deregister", "", kAny, kState,
     [](Fixture &) { return sennit_deregister(own_region()); }},
    {"sennit_region_mechanism", "", kAny, kState,
     [](Fixture &it) { return sennit_region_mechanism(own_region(), &it.mechanism); }},
    {"sennit_region_reason", "", kAny, kState,
     [](Fixture &it) {
         return sennit_region_reason(own_region(), SENNIT_MECHANISM_CMA, it.text, 8);
     }},
    {"sennit_region_attach", "", kAny, kState,
     [](Fixture &it) { return sennit_region_attach(SENNIT_TEAM_WORLD, own_region(), it.regions); }},
    {"sennit_region_detach", "", kAny, kState,
     [](Fixture &) { return sennit_region_detach(own_region()); }},
    {"sennit_put_strided", "", kAny, kState,
     [](Fixture &it) { return sennit_put_strided(memory.segment, it.buffer, &kBox); }},
    {"sennit_get_strided", "", kAny, kState,
     [](Fixture &it) { return sennit_get_strided(it.buffer, memory.segment, &kBox); }},
    {"sennit_put_strided_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_strided_nb(memory.segment, it.buffer, &kBox, &it.request);
     }},
    {"sennit_get_strided_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_get_strided_nb(it.buffer, memory.segment, &kBox, &it.request);
     }},
    {"sennit_put_strided_local", "", kAny, kState,
     [](Fixture &it) { return sennit_put_strided_local(memory.segment, it.buffer, &kBox); }},
    {"sennit_put_strided_nbi", "", kAny, kState,
     [](Fixture &it) { return sennit_put_strided_nbi(memory.segment, it.buffer, &kBox); }},
    {"sennit_get_strided_nbi", "", kAny, kState,
     [](Fixture &it) { return sennit_get_strided_nbi(it.buffer, memory.segment, &kBox); }},
    {"sennit_put_indexed", "", kAny, kState,
     [](Fixture &it) { return sennit_put_indexed(memory.segment, it.buffer, 1, kPiece); }},
    {"sennit_get_indexed", "", kAny, kState,
     [](Fixture &it) { return sennit_get_indexed(it.buffer, memory.segment, 1, kPiece); }},
    {"sennit_put_indexed_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_indexed_nb(memory.segment, it.buffer, 1, kPiece, &it.request);
     }},
    {"sennit_get_indexed_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_get_indexed_nb(it.buffer, memory.segment, 1, kPiece, &it.request);
     }},
    {"sennit_put_indexed_nbi", "", kAny, kState,
     [](Fixture &it) { return sennit_put_indexed_nbi(memory.segment, it.buffer, 1, kPiece); }},
    {"sennit_get_indexed_nbi", "", kAny, kState,
     [](Fixture &it) { return sennit_get_indexed_nbi(it.buffer, memory.segment, 1, kPiece); }},
};

}  // namespace arguments
