// Draws random programs, keeps the model, and compares.
#include "random_program.hpp"

#include <algorithm>

using namespace conformance;

namespace {

constexpr std::size_t kMostSegments = 6;

class Program {
  public:
    explicit Program(Ranks &test)
        : test_(test), runner_(test, segments_), segments_(kMostSegments) {}

    void run(int phases) {
        for (int phase = 0; phase < phases && steps_ < test_.chosen.most_steps; ++phase) {
            test_.at("changing segments");
            change_segments();
            test_.at("a phase");
            assign_pieces();
            run_steps();
            runner_.complete_all();
            test_.barrier();
            compare();
            test_.barrier();
        }
        for (ModelSegment &segment : segments_)
            if (segment.live) release(segment);
    }

  private:
    void change_segments();
    void make(ModelSegment &segment);
    void release(ModelSegment &segment);
    void assign_pieces();
    void run_steps();
    bool draw_step(int user, Step *step);
    void apply(Step &step);
    void compare();

    std::vector<std::uint8_t> &memory(const Piece &piece) {
        return segments_[static_cast<std::size_t>(piece.segment)]
            .pieces[static_cast<std::size_t>(piece.owner)];
    }

    Ranks &test_;
    Runner runner_;
    std::vector<ModelSegment> segments_;
    std::uint64_t steps_ = 0;
};

void Program::make(ModelSegment &segment) {
    const std::size_t bytes =
        test_.common.one_in(8) ? test_.common.between(1, 40000) : test_.common.between(1, 600);
    const std::size_t alignment = std::size_t{1} << test_.common.below(14);
    segment = ModelSegment{};
    segment.live = true;
    segment.bytes = bytes;
    segment.local = test_.common.one_in(3);
    segment.owner = static_cast<int>(test_.common.below(static_cast<std::uint64_t>(test_.size)));
    segment.pieces.resize(static_cast<std::size_t>(test_.size));
    for (int rank = 0; rank < test_.size; ++rank)
        if (segment.has_piece(rank))
            segment.pieces[static_cast<std::size_t>(rank)].assign(bytes, 0);
    if (!segment.local) {
        segment.gptr = test_.allocate(bytes, alignment);
        return;
    }
    sennit_gptr mine = SENNIT_GPTR_NULL;
    if (test_.rank == segment.owner) test_.ok(sennit_alloc_local(bytes, alignment, 0, &mine));
    segment.gptr = test_.tell_all(mine)[static_cast<std::size_t>(segment.owner)];
}

void Program::release(ModelSegment &segment) {
    if (!segment.local) {
        test_.free(sennit_gptr_at(segment.gptr, test_.next()));
    } else {
        if (test_.rank == segment.owner) test_.ok(sennit_free(segment.gptr));
        test_.barrier();
    }
    std::uint8_t byte = 0;
    test_.is(sennit_get(&byte, segment.gptr, 1), SENNIT_ERR_NOT_REGISTERED);
    segment.live = false;
}

void Program::change_segments() {
    for (ModelSegment &segment : segments_) {
        if (segment.live && test_.common.one_in(5)) release(segment);
        if (!segment.live && test_.common.one_in(3)) make(segment);
    }
}

void Program::assign_pieces() {
    for (ModelSegment &segment : segments_) {
        segment.users.clear();
        for (int owner = 0; owner < test_.size; ++owner)
            segment.users.push_back(
                static_cast<int>(test_.common.below(static_cast<std::uint64_t>(test_.size))));
    }
}

// Draws a step of rank `user` in one of its pieces; false if it has none.
bool Program::draw_step(int user, Step *step) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < segments_.size(); ++i)
        for (int owner = 0; owner < test_.size && segments_[i].live; ++owner)
            if (segments_[i].has_piece(owner) &&
                segments_[i].users[static_cast<std::size_t>(owner)] == user)
                pieces.push_back({static_cast<int>(i), owner});
    if (pieces.empty()) return false;
    Random &draw = test_.common;
    step->piece = pieces[draw.below(pieces.size())];
    const std::size_t room = memory(step->piece).size();
    const std::uint64_t kind = draw.below(20);
    step->kind = kind < 18    ? static_cast<StepKind>(kind % 6)
                 : kind == 18 ? StepKind::nothing
                              : StepKind::out_of_it;
    if (step->piece.owner == user && draw.one_in(4)) step->kind = StepKind::move;
    step->bytes = draw.one_in(3) ? std::min<std::size_t>(room, 8) : draw.between(1, room);
    step->offset = draw.below(room - step->bytes + 1);
    step->source = draw.below(room - step->bytes + 1);
    if (draw.one_in(3)) step->offset &= ~std::size_t{7};
    step->salt = draw.next();
    if (step->kind == StepKind::out_of_it) step->offset = room - step->bytes + 1;
    if (step->kind == StepKind::nothing) step->bytes = 0;
    return true;
}

// Applies the step to the model.
void Program::apply(Step &step) {
    std::uint8_t *place = memory(step.piece).data() + step.offset;
    switch (step.kind) {
        case StepKind::put:
        case StepKind::put_nb:
        case StepKind::put_nbi:
            fill(place, step.bytes, step.salt);
            break;
        case StepKind::get:
        case StepKind::get_nb:
        case StepKind::get_nbi:
            step.expected.assign(place, place + step.bytes);
            break;
        case StepKind::move:
            std::memmove(place, memory(step.piece).data() + step.source, step.bytes);
            break;
        default:
            break;
    }
}

void Program::run_steps() {
    std::vector<Step> mine;
    for (int user = 0; user < test_.size; ++user) {
        const std::uint64_t count = test_.common.below(16);
        for (std::uint64_t i = 0; i < count && steps_ < test_.chosen.most_steps; ++i) {
            Step step;
            if (!draw_step(user, &step)) break;
            step.number = ++steps_;
            if (!test_.chosen.has(step.number)) continue;
            apply(step);
            if (user == test_.rank) mine.push_back(std::move(step));
        }
    }
    for (Step &step : mine)
        runner_.run(std::move(step));
}

// Compares some whole pieces, each by a random rank.
void Program::compare() {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        for (int owner = 0; owner < test_.size && segments_[i].live; ++owner) {
            if (!segments_[i].has_piece(owner)) continue;
            if (test_.common.below(static_cast<std::uint64_t>(test_.size)) !=
                static_cast<std::uint64_t>(test_.rank))
                continue;
            Step step;
            step.kind = StepKind::get;
            step.piece = {static_cast<int>(i), owner};
            step.bytes = segments_[i].bytes;
            apply(step);
            runner_.run(std::move(step));
        }
    }
    runner_.complete_all();
}

}  // namespace

// Broken by any wrong byte, place or time.
RANK_TEST(random, programs_do_what_the_sequential_oracle_says, kAnything) {
    test.programs(test.quick ? 3 : 20, [&] { Program(test).run(test.quick ? 8 : 20); });
}
