#include "strided_program.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "page_bytes.hpp"

namespace conformance {
namespace {

using Offset = std::int64_t;

// Computes the bytes and spans of the pieces (remote and local offset, bytes).
void describe(Shape &shape, const std::vector<sennit_piece> &pieces) {
    Offset remote_least = std::numeric_limits<Offset>::max();
    Offset local_least = remote_least;
    Offset remote_end = std::numeric_limits<Offset>::min();
    Offset local_end = remote_end;
    for (const sennit_piece &piece : pieces) {
        const auto bytes = static_cast<Offset>(piece.bytes);
        remote_least = std::min(remote_least, piece.remote_offset);
        local_least = std::min(local_least, piece.local_offset);
        remote_end = std::max(remote_end, piece.remote_offset + bytes);
        local_end = std::max(local_end, piece.local_offset + bytes);
    }
    for (const sennit_piece &piece : pieces)
        for (std::size_t i = 0; i < piece.bytes; ++i)
            shape.bytes.emplace_back(
                static_cast<std::size_t>(piece.remote_offset - remote_least) + i,
                static_cast<std::size_t>(piece.local_offset - local_least) + i);
    shape.remote_span = static_cast<std::size_t>(remote_end - remote_least);
    shape.local_span = static_cast<std::size_t>(local_end - local_least);
    shape.remote_origin = static_cast<std::size_t>(-remote_least);
    shape.local_origin = static_cast<std::size_t>(-local_least);
}

// Strides of one side: nested in a random order, with gaps, some negative; a source may repeat
// bytes.
void draw_strides(Random &draw, const sennit_box &box, bool is_source, Offset strides[3]) {
    int order[3] = {0, 1, 2};
    if (draw.one_in(3)) std::swap(order[0], order[1 + draw.below(2)]);
    auto span = static_cast<Offset>(box.element_bytes);
    for (const int d : order) {
        const auto gap = draw.one_in(2) ? 0 : static_cast<Offset>(draw.below(24));
        const Offset stride = span + gap;
        strides[d] = draw.one_in(4) ? -stride : stride;
        if (is_source && draw.one_in(8)) strides[d] = static_cast<Offset>(draw.below(9)) - 4;
        if (box.counts[d] > 1) span += stride * static_cast<Offset>(box.counts[d] - 1);
    }
}

Shape draw_box(Random &draw, bool is_put, std::size_t most) {
    constexpr std::size_t kElements[] = {1, 2, 3, 4, 8, 8, 12, 16, 40};
    for (;;) {
        Shape shape;
        sennit_box &box = shape.box;
        box.element_bytes = kElements[draw.below(9)];
        for (std::size_t &count : box.counts)
            count = draw.one_in(3) ? 1 : draw.between(1, 6);
        draw_strides(draw, box, !is_put, box.remote_strides);
        draw_strides(draw, box, is_put, box.local_strides);
        std::vector<sennit_piece> elements;
        for (std::size_t k = 0; k < box.counts[2]; ++k)
            for (std::size_t j = 0; j < box.counts[1]; ++j)
                for (std::size_t i = 0; i < box.counts[0]; ++i) {
                    const auto at = [&](const Offset strides[3]) {
                        return static_cast<Offset>(i) * strides[0] +
                               static_cast<Offset>(j) * strides[1] +
                               static_cast<Offset>(k) * strides[2];
                    };
                    elements.push_back(
                        {at(box.remote_strides), at(box.local_strides), box.element_bytes});
                }
        describe(shape, elements);
        if (shape.remote_span <= most) return shape;
    }
}

// Pieces that do not overlap at the destination, in a random order; anywhere at the source.
Shape draw_list(Random &draw, bool is_put, std::size_t most) {
    Shape shape;
    shape.is_box = false;
    Offset place = 0;
    for (std::uint64_t i = draw.between(1, 12); i > 0; --i) {
        sennit_piece piece{};
        piece.bytes = draw.one_in(6) ? 0 : draw.between(1, 1 + most / 16);
        const auto anywhere = static_cast<Offset>(draw.below(1 + most / 4));
        place += static_cast<Offset>(draw.below(1 + most / 64));
        (is_put ? piece.remote_offset : piece.local_offset) = place;
        (is_put ? piece.local_offset : piece.remote_offset) = anywhere;
        place += static_cast<Offset>(piece.bytes);
        shape.pieces.push_back(piece);
    }
    for (std::size_t i = shape.pieces.size(); i > 1; --i)
        std::swap(shape.pieces[i - 1], shape.pieces[draw.below(i)]);
    std::vector<sennit_piece> moving;
    for (const sennit_piece &piece : shape.pieces)
        if (piece.bytes > 0) moving.push_back(piece);
    if (moving.empty()) moving.push_back({0, 0, 0});
    describe(shape, moving);
    return shape.remote_span <= most ? shape : draw_box(draw, is_put, most);
}

struct Memory {
    int owner = 0;
    int user = 0;
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    std::vector<std::uint8_t> model;
};

struct Step {
    Shape shape;
    bool is_put = false;
    std::uint64_t form = 0;  // blocking, request, implicit
    std::size_t memory = 0;  // kind of the private buffer
    std::size_t place = 0;   // of the lowest byte in it
    std::uint64_t salt = 0;  // of the private buffer's contents before
    std::uint64_t number = 0;
    std::vector<std::uint8_t> expected;  // the private buffer afterwards
};

std::string describe(const Step &step, int owner) {
    static const char *const kForms[] = {"", "_nb", "_nbi"};
    return "step " + std::to_string(step.number) + ": " + (step.is_put ? "put" : "get") +
           kForms[step.form] + " of " + std::to_string(step.shape.bytes.size()) + " bytes " +
           (step.shape.is_box ? "in a box" : "in a list") + " at " + std::to_string(step.place) +
           " of memory " + std::to_string(step.memory) + ", rank " + std::to_string(owner);
}

class Program {
  public:
    Program(Ranks &test, bool with_private_memory) : test_(test) {
        make_memory(with_private_memory);
    }
    void run(int phases);

  private:
    void make_memory(bool with_private_memory);
    Step draw_step(int user);
    void apply(Step &step);
    void perform(const Step &step);
    sennit_status call(const Step &step, sennit_gptr there, std::uint8_t *here,
                       sennit_request *request);
    void compare();
    void release();

    Ranks &test_;
    std::vector<Memory> memories_;
    PageBytes own_private_;
    sennit_gptr segment_ = SENNIT_GPTR_NULL;
    sennit_region region_ = SENNIT_REGION_NULL;
    std::uint64_t steps_ = 0;
};

void Program::make_memory(bool with_private_memory) {
    const std::size_t bytes = test_.common.between(600, 5000);
    segment_ = test_.allocate(bytes);
    for (int owner = 0; owner < test_.size; ++owner)
        memories_.push_back(
            {owner, 0, sennit_gptr_at(segment_, owner), std::vector<std::uint8_t>(bytes, 0)});
    if (!with_private_memory) return;
    const std::size_t private_bytes = test_.common.between(600, 9000);
    own_private_.assign(private_bytes, 0);
    test_.ok(sennit_register(own_private_.data(), private_bytes, 0, &region_));
    for (const sennit_region &theirs : test_.tell_all(region_))
        memories_.push_back(
            {theirs.gptr.rank, 0, theirs.gptr, std::vector<std::uint8_t>(private_bytes, 0)});
}

Step Program::draw_step(int user) {
    Random &draw = test_.common;
    Step step;
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < memories_.size(); ++i)
        if (memories_[i].user == user) usable.push_back(i);
    step.number = 0;
    if (usable.empty()) return step;
    step.number = ++steps_;
    step.memory = usable[draw.below(usable.size())];
    step.is_put = draw.one_in(2);
    step.form = draw.below(3);
    step.salt = draw.next();
    const std::size_t room = memories_[step.memory].model.size();
    step.shape = draw.one_in(3) ? draw_list(draw, step.is_put, room / 2)
                                : draw_box(draw, step.is_put, room / 2);
    step.place = draw.below(room - step.shape.remote_span + 1);
    return step;
}

// The oracle: moves byte by byte from a copy of the source.
void Program::apply(Step &step) {
    std::vector<std::uint8_t> buffer(step.shape.local_span);
    fill(buffer.data(), buffer.size(), step.salt);
    std::vector<std::uint8_t> &model = memories_[step.memory].model;
    for (const auto &[remote, local] : step.shape.bytes) {
        if (step.is_put) {
            model[step.place + remote] = buffer[local];
        } else {
            buffer[local] = model[step.place + remote];
        }
    }
    step.expected = std::move(buffer);
}

sennit_status Program::call(const Step &step, sennit_gptr there, std::uint8_t *here,
                            sennit_request *request) {
    const Shape &shape = step.shape;
    // Copies that are freed before the transfer is complete.
    const auto box = std::make_unique<sennit_box>(shape.box);
    const std::vector<sennit_piece> pieces = shape.pieces;
    const std::size_t count = pieces.size();
    switch (step.form * 4 + (shape.is_box ? 2u : 0u) + (step.is_put ? 1u : 0u)) {
        case 0:
            return sennit_get_indexed(here, there, count, pieces.data());
        case 1:
            return sennit_put_indexed(there, here, count, pieces.data());
        case 2:
            return sennit_get_strided(here, there, box.get());
        case 3:
            return sennit_put_strided(there, here, box.get());
        case 4:
            return sennit_get_indexed_nb(here, there, count, pieces.data(), request);
        case 5:
            return sennit_put_indexed_nb(there, here, count, pieces.data(), request);
        case 6:
            return sennit_get_strided_nb(here, there, box.get(), request);
        case 7:
            return sennit_put_strided_nb(there, here, box.get(), request);
        case 8:
            return sennit_get_indexed_nbi(here, there, count, pieces.data());
        case 9:
            return sennit_put_indexed_nbi(there, here, count, pieces.data());
        case 10:
            return sennit_get_strided_nbi(here, there, box.get());
        default:
            return sennit_put_strided_nbi(there, here, box.get());
    }
}

void Program::perform(const Step &step) {
    const Memory &memory = memories_[step.memory];
    test_.show(describe(step, memory.owner));
    std::vector<std::uint8_t> buffer(step.shape.local_span + 1);
    fill(buffer.data(), buffer.size() - 1, step.salt);
    const std::size_t named = step.place + step.shape.remote_origin;
    const sennit_gptr there = sennit_gptr_add(memory.gptr, static_cast<Offset>(named));
    std::uint8_t *here = buffer.data() + step.shape.local_origin;
    sennit_request request = SENNIT_REQUEST_NULL;
    sennit_status status = call(step, there, here, &request);
    if (status == SENNIT_OK && step.form == 1) status = sennit_wait(&request, SENNIT_FOREVER);
    if (status == SENNIT_OK && step.form == 2) status = sennit_flush(memory.owner, SENNIT_FOREVER);
    buffer.pop_back();
    if (status == SENNIT_OK && buffer == step.expected) return;
    test_.fail(Ranks::Where::current(), describe(step, memory.owner) + ": " +
                                            (status == SENNIT_OK ? "the private buffer is wrong"
                                                                 : sennit_last_error()->text));
}

// Compares all memory, each piece by a random rank.
void Program::compare() {
    for (const Memory &memory : memories_) {
        const auto reader = test_.common.below(static_cast<std::uint64_t>(test_.size));
        if (reader != static_cast<std::uint64_t>(test_.rank)) continue;
        std::vector<std::uint8_t> all(memory.model.size());
        test_.ok(sennit_get(all.data(), memory.gptr, all.size()));
        const auto place = std::mismatch(all.begin(), all.end(), memory.model.begin()).first;
        if (place != all.end())
            test_.fail(Ranks::Where::current(), "after step " + std::to_string(steps_) + " byte " +
                                                    std::to_string(place - all.begin()) +
                                                    " of rank " + std::to_string(memory.owner) +
                                                    " is wrong");
    }
}

void Program::run(int phases) {
    for (int phase = 0; phase < phases && steps_ < test_.chosen.most_steps; ++phase) {
        for (Memory &memory : memories_)
            memory.user =
                static_cast<int>(test_.common.below(static_cast<std::uint64_t>(test_.size)));
        for (int user = 0; user < test_.size; ++user) {
            for (std::uint64_t i = test_.common.below(8); i > 0 && steps_ < test_.chosen.most_steps;
                 --i) {
                Step step = draw_step(user);
                if (step.number == 0) break;
                if (!test_.chosen.has(step.number)) continue;
                apply(step);
                if (user == test_.rank) perform(step);
            }
        }
        test_.barrier();
        compare();
        test_.barrier();
    }
    release();
}

void Program::release() {
    if (region_.gptr.segment != 0) test_.ok(sennit_deregister(region_));
    test_.free(segment_);
}

}  // namespace

Shape draw_shape(Random &draw, bool is_put, std::size_t most) {
    return draw.one_in(3) ? draw_list(draw, is_put, most) : draw_box(draw, is_put, most);
}

void run_strided_program(Ranks &test, int phases, bool with_private_memory) {
    test.programs(1, [&] { Program(test, with_private_memory).run(phases); });
}

}  // namespace conformance
