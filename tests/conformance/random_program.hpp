// Random programs of all operations, with a sequential oracle of the contents of memory.
//
// A program is a sequence of phases. All ranks draw the same program from the same numbers and keep
// the same model of all memory. In a phase each piece (one rank's part of one segment) belongs to
// one rank, and only that rank uses it, so the model may apply the ranks' steps one after the
// other. A barrier separates phases. Each rank draws its own way to complete its operations (wait,
// test, flush, fence, ...), because that must not change the result.
//
// A failure names the step. Steps are counted over all ranks, and shrink.py finds the few steps
// that a failure needs.
#pragma once

#include "harness.hpp"

namespace conformance {

struct Piece {
    int segment = 0;  // index into the model's segments
    int owner = 0;
};

enum class StepKind : std::uint8_t {
    put,
    put_nb,
    put_nbi,
    get,
    get_nb,
    get_nbi,
    move,      // within the caller's own piece, private buffer and target overlap
    nothing,   // zero bytes
    out_of_it  // a range that leaves the segment: must be refused and move nothing
};

struct Step {
    StepKind kind = StepKind::put;
    Piece piece;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::size_t source = 0;              // move: the source offset
    std::uint64_t salt = 0;              // put: pattern
    std::vector<std::uint8_t> expected;  // get: the expected bytes
    std::uint64_t number = 0;            // over all ranks; 0: the check after a phase
};

struct ModelSegment {
    bool live = false;
    bool local = false;  // only of rank `owner`
    int owner = 0;
    std::size_t bytes = 0;
    sennit_gptr gptr = SENNIT_GPTR_NULL;            // any rank's piece
    std::vector<std::vector<std::uint8_t>> pieces;  // by rank; a local segment has only its owner's
    std::vector<int> users;                         // by owner: who may use the piece in this phase

    bool has_piece(int rank) const { return !local || rank == owner; }
};

// Runs the steps of one rank in one phase, with any number of pending operations.
class Runner {
  public:
    Runner(Ranks &test, std::vector<ModelSegment> &segments) : test_(test), segments_(segments) {}
    void run(Step step);
    void complete_all();

  private:
    struct Flight {
        Step step;
        bool writes = false;    // to the piece
        bool fenced = false;    // a put before the last fence
        bool implicit = false;  // false: by request
        sennit_request request = SENNIT_REQUEST_NULL;
        std::vector<std::uint8_t> buffer;
    };

    void make_way(const Step &step, std::size_t begin, std::size_t end, bool writes);
    void start(Step &step);
    void move_within(const Step &step);
    void finish(std::size_t place);
    void finish_all_by_request();
    void over(std::size_t place);
    sennit_gptr place_of(const Step &step) const;
    void check(const Step &step, const std::vector<std::uint8_t> &got);
    void ok(sennit_status status, const Step &step);

    Ranks &test_;
    std::vector<ModelSegment> &segments_;
    std::vector<Flight> flights_;
};

}  // namespace conformance
