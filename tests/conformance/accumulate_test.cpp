// Random programs of accumulate, with a sequential oracle.
//
// Memory is divided into regions of 64 bytes. In each phase a region belongs either to one rank,
// which may use any type and operator and whose results are known exactly, or to all ranks, with
// one type and one operator that does not depend on the order, so that the oracle knows the final
// values. All ranks draw the same program and keep the same model. A failure can be shrunk
// (shrink.py).
#include "harness.hpp"

#include <algorithm>
#include <limits>
#include <string>

using namespace conformance;

namespace {

constexpr std::size_t kRegionBytes = 64;
constexpr std::size_t kRegions = 40;  // per rank; more than one message of a task

template <class T>
T reference(sennit_operator op, T old, T value) {
    if constexpr (std::is_floating_point_v<T>) {
        switch (op) {
            case SENNIT_SUM:
                return old + value;
            case SENNIT_PROD:
                return old * value;
            case SENNIT_MIN:
                return std::min(old, value);
            case SENNIT_MAX:
                return std::max(old, value);
            default:
                return op == SENNIT_REPLACE ? value : old;
        }
    } else {
        using Wide = unsigned __int128;
        switch (op) {
            case SENNIT_SUM:
                return static_cast<T>(static_cast<Wide>(old) + static_cast<Wide>(value));
            case SENNIT_PROD:
                return static_cast<T>(static_cast<Wide>(old) * static_cast<Wide>(value));
            case SENNIT_MIN:
                return old < value ? old : value;
            case SENNIT_MAX:
                return old < value ? value : old;
            case SENNIT_AND:
                return static_cast<T>(old & value);
            case SENNIT_OR:
                return static_cast<T>(old | value);
            case SENNIT_XOR:
                return static_cast<T>(old ^ value);
            default:
                return op == SENNIT_REPLACE ? value : old;
        }
    }
}

struct TypeInfo {
    sennit_type type;
    std::size_t bytes;
    bool is_float;
    void (*apply)(sennit_operator op, std::uint8_t *memory, const std::uint8_t *source,
                  std::size_t count);
    void (*draw)(Random &random, std::uint8_t *value, sennit_operator op);
};

template <class T>
void apply(sennit_operator op, std::uint8_t *memory, const std::uint8_t *source,
           std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        T old;
        T value;
        std::memcpy(&old, memory + i * sizeof(T), sizeof old);
        std::memcpy(&value, source + i * sizeof(T), sizeof value);
        old = reference(op, old, value);
        std::memcpy(memory + i * sizeof(T), &old, sizeof old);
    }
}

// Floats are small whole numbers with exact sums in any order; factors are 1 and -1.
template <class T>
void draw(Random &random, std::uint8_t *value, sennit_operator op) {
    T drawn = static_cast<T>(random.next());
    if constexpr (std::is_floating_point_v<T>) {
        drawn = static_cast<T>(random.between(0, 40)) - T(20);
        if (op == SENNIT_PROD) drawn = random.one_in(2) ? T(1) : T(-1);
    }
    std::memcpy(value, &drawn, sizeof drawn);
}

template <class T>
constexpr TypeInfo info(sennit_type type) {
    return {type, sizeof(T), std::is_floating_point_v<T>, apply<T>, draw<T>};
}

constexpr TypeInfo kTypes[] = {
    info<std::int8_t>(SENNIT_INT8),     info<std::int16_t>(SENNIT_INT16),
    info<std::int32_t>(SENNIT_INT32),   info<std::int64_t>(SENNIT_INT64),
    info<std::uint8_t>(SENNIT_UINT8),   info<std::uint16_t>(SENNIT_UINT16),
    info<std::uint32_t>(SENNIT_UINT32), info<std::uint64_t>(SENNIT_UINT64),
    info<float>(SENNIT_FLOAT),          info<double>(SENNIT_DOUBLE)};

enum class Form { blocking, request, implicit, fetching, fetching_implicit };

// Neighbouring regions often get the same use, so that some steps are long.
struct Use {
    const TypeInfo *type = nullptr;
    sennit_operator op = SENNIT_SUM;  // of a shared region
    int user = -1;                    // -1: everybody
    bool operator==(const Use &) const = default;
};

struct Step {
    std::uint64_t number = 0;
    int owner = 0;
    std::size_t offset = 0;
    std::size_t count = 0;
    const TypeInfo *type = nullptr;
    sennit_operator op = SENNIT_SUM;
    Form form = Form::blocking;
    bool exact = false;
    std::vector<std::uint8_t> source;
    std::vector<std::uint8_t> expected;  // old elements, if exact
    std::vector<std::uint8_t> result;
    sennit_request request = SENNIT_REQUEST_NULL;
};

std::string describe(const Step &step) {
    static const char *const kForms[] = {"accumulate", "accumulate_nb", "accumulate_nbi",
                                         "get_accumulate", "get_accumulate_nbi"};
    return "step " + std::to_string(step.number) + ": " + kForms[static_cast<int>(step.form)] +
           ", operator " + std::to_string(static_cast<int>(step.op)) + " on type " +
           std::to_string(static_cast<int>(step.type->type)) + ", " + std::to_string(step.count) +
           " elements at offset " + std::to_string(step.offset) + " of rank " +
           std::to_string(step.owner);
}

class Program {
  public:
    // `flags`: of the allocation.
    explicit Program(Ranks &test, unsigned flags = 0)
        : test_(test),
          segment_(test.allocate(kRegions * kRegionBytes, 0, flags)),
          memory_(static_cast<std::size_t>(test.size),
                  std::vector<std::uint8_t>(kRegions * kRegionBytes)) {}

    void run(int phases) {
        for (int phase = 0; phase < phases && steps_ < test_.chosen.most_steps; ++phase) {
            test_.at("a phase");
            draw_uses();
            start_floats_well();
            run_steps();
            test_.barrier();
            compare();
            test_.barrier();
        }
        test_.free(segment_);
    }

  private:
    Random &random() { return test_.common; }

    void draw_uses();
    void start_floats_well();
    Step draw_step(int user, bool *some);
    void run_steps();
    void start(Step &step);
    void finish(Step &step);
    void compare();

    Ranks &test_;
    sennit_gptr segment_;
    std::vector<std::vector<std::uint8_t>> memory_;
    std::vector<Use> uses_;  // [owner * kRegions + region]
    std::uint64_t steps_ = 0;
};

void Program::draw_uses() {
    uses_.assign(kRegions * static_cast<std::size_t>(test_.size), Use{});
    for (std::size_t i = 0; i < uses_.size(); ++i) {
        if (i % kRegions != 0 && !random().one_in(6)) {
            uses_[i] = uses_[i - 1];
            continue;
        }
        Use &use = uses_[i];
        use.type = &kTypes[random().below(std::size(kTypes))];
        const std::uint64_t operators = use.type->is_float ? 4 : 7;
        use.op = static_cast<sennit_operator>(1 + random().below(operators));
        if (random().one_in(3))
            use.user = static_cast<int>(random().below(static_cast<std::uint64_t>(test_.size)));
    }
}

// Random bytes may not be valid floats: the owner sets regions of floats to 1.
void Program::start_floats_well() {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
        const Use &use = uses_[i];
        const std::size_t owner = i / kRegions;
        const std::size_t offset = i % kRegions * kRegionBytes;
        std::uint8_t *model = memory_[owner].data() + offset;
        if (!use.type->is_float) continue;
        for (std::size_t at = 0; at < kRegionBytes; at += use.type->bytes) {
            const float one = 1;
            const double long_one = 1;
            if (use.type->bytes == 4) std::memcpy(model + at, &one, 4);
            if (use.type->bytes == 8) std::memcpy(model + at, &long_one, 8);
        }
        if (static_cast<int>(owner) != test_.rank) continue;
        test_.ok(sennit_put(sennit_gptr_add(sennit_gptr_at(segment_, test_.rank),
                                            static_cast<std::int64_t>(offset)),
                            model, kRegionBytes));
    }
    test_.barrier();
}

Step Program::draw_step(int user, bool *some) {
    Step step;
    const std::size_t first = random().below(uses_.size());
    const Use &use = uses_[first];
    *some = use.user < 0 || use.user == user;
    if (!*some) return step;
    std::size_t end = first + 1;
    while (end % kRegions != 0 && uses_[end] == use)
        ++end;
    step.owner = static_cast<int>(first / kRegions);
    step.type = use.type;
    step.exact = use.user == user;
    step.op = use.op;
    if (step.exact) {
        const std::uint64_t operators = use.type->is_float ? 4 : 7;
        const std::uint64_t drawn = 1 + random().below(operators + 2);
        step.op = drawn <= operators       ? static_cast<sennit_operator>(drawn)
                  : drawn == operators + 1 ? SENNIT_REPLACE
                                           : SENNIT_NO_OP;
    }
    const std::size_t room = (end - first) * kRegionBytes / use.type->bytes;
    const std::size_t begin = random().below(room);
    step.count = random().between(
        1, random().one_in(3) ? room - begin : std::min<std::size_t>(room - begin, 4));
    step.offset = first % kRegions * kRegionBytes + begin * use.type->bytes;
    step.form = static_cast<Form>(random().below(5));
    step.source.resize(step.count * use.type->bytes);
    for (std::size_t i = 0; i < step.count; ++i)
        use.type->draw(random(), step.source.data() + i * use.type->bytes, step.op);
    return step;
}

void Program::start(Step &step) {
    const sennit_gptr target = sennit_gptr_add(sennit_gptr_at(segment_, step.owner),
                                               static_cast<std::int64_t>(step.offset));
    const void *source = step.op == SENNIT_NO_OP ? nullptr : step.source.data();
    const sennit_type type = step.type->type;
    step.result.assign(step.source.size(), 0xEE);
    switch (step.form) {
        case Form::blocking:
            return test_.ok(sennit_accumulate(target, source, step.count, type, step.op));
        case Form::request:
            return test_.ok(
                sennit_accumulate_nb(target, source, step.count, type, step.op, &step.request));
        case Form::implicit:
            return test_.ok(sennit_accumulate_nbi(target, source, step.count, type, step.op));
        case Form::fetching:
            return test_.ok(sennit_get_accumulate(target, source, step.result.data(), step.count,
                                                  type, step.op));
        case Form::fetching_implicit:
            return test_.ok(sennit_get_accumulate_nbi(target, source, step.result.data(),
                                                      step.count, type, step.op));
    }
}

void Program::finish(Step &step) {
    test_.ok(sennit_wait(&step.request, SENNIT_FOREVER));
    const bool fetched = step.form == Form::fetching || step.form == Form::fetching_implicit;
    if (step.form == Form::implicit || step.form == Form::fetching_implicit)
        test_.ok(sennit_flush(step.owner, SENNIT_FOREVER));
    if (!fetched || !step.exact || step.result == step.expected) return;
    test_.fail(Ranks::Where::current(), describe(step) + ": returned other old elements");
}

void Program::run_steps() {
    std::vector<Step> mine;
    for (int user = 0; user < test_.size; ++user) {
        const std::uint64_t count = random().below(24);
        for (std::uint64_t i = 0; i < count && steps_ < test_.chosen.most_steps; ++i) {
            bool some = false;
            Step step = draw_step(user, &some);
            if (!some) continue;
            step.number = ++steps_;
            if (!test_.chosen.has(step.number)) continue;
            std::uint8_t *model =
                memory_[static_cast<std::size_t>(step.owner)].data() + step.offset;
            step.expected.assign(model, model + step.source.size());
            step.type->apply(step.op, model, step.source.data(), step.count);
            if (user == test_.rank) mine.push_back(std::move(step));
        }
    }
    // Steps of a rank in its own region complete in order; in shared regions several are pending at
    // once.
    std::vector<Step *> open;
    for (Step &step : mine) {
        test_.begin_step(step.number);
        test_.show(describe(step));
        start(step);
        open.push_back(&step);
        if (!step.exact && !test_.own.one_in(4)) continue;
        for (Step *each : open)
            finish(*each);
        open.clear();
    }
    for (Step *each : open)
        finish(*each);
}

// Each rank compares its own memory, byte by byte: every float here has a single representation.
void Program::compare() {
    std::vector<std::uint8_t> found(kRegions * kRegionBytes);
    test_.ok(sennit_get(found.data(), sennit_gptr_at(segment_, test_.rank), found.size()));
    const std::vector<std::uint8_t> &model = memory_[static_cast<std::size_t>(test_.rank)];
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == model[i]) continue;
        const Use &use = uses_[static_cast<std::size_t>(test_.rank) * kRegions + i / kRegionBytes];
        test_.fail(Ranks::Where::current(),
                   "after " + std::to_string(steps_) + " steps: byte " + std::to_string(i) +
                       " of rank " + std::to_string(test_.rank) + ", type " +
                       std::to_string(static_cast<int>(use.type->type)) + ", operator " +
                       std::to_string(static_cast<int>(use.op)) + ", user " +
                       std::to_string(use.user) + ": expected " + std::to_string(model[i]) +
                       ", found " + std::to_string(found[i]));
    }
}

}  // namespace

// Broken by an operator that is wrong for a type, a write that changes neighbours in the same
// container, or a piece that is lost, cut at the wrong place or applied twice.
RANK_TEST(atomic, accumulates_do_what_the_sequential_oracle_says, kAtomics) {
    test.programs(test.quick ? 2 : 12, [&] { Program(test).run(test.quick ? 6 : 20); });
}

// The same in memory whose updates take turns by a lock. Broken by a loop that is wrong for a type,
// a path that ignores the lock, or a task that is lost or applied twice because the lock was taken.
RANK_TEST(atomic, accumulates_that_take_turns_do_what_the_sequential_oracle_says, kAtomics) {
    test.programs(test.quick ? 2 : 12,
                  [&] { Program(test, SENNIT_ALLOC_ACCUMULATE).run(test.quick ? 6 : 20); });
}

// Plain instructions change the arrays under the memory's lock. Broken by a call on a word, or a
// message to the owner, that does not take this lock, and by a lock inside the memory, where data
// overwrites it.
RANK_TEST(atomic, no_update_is_lost_between_arrays_and_words_that_take_turns, kAtomics) {
    constexpr std::size_t kWords = 100;
    const int rounds = test.quick ? 100 : 5000;
    const sennit_gptr segment =
        test.allocate(kWords * sizeof(std::int64_t), 0, SENNIT_ALLOC_ACCUMULATE);
    const sennit_gptr there = sennit_gptr_at(segment, test.size - 1);
    const std::vector<std::int64_t> ones(kWords, 1);
    for (int i = 0; i < rounds; ++i) {
        // Arrays overlap in part: each rank starts at another place.
        const std::size_t first = static_cast<std::size_t>(test.rank) * 3 % 50;
        const sennit_gptr begin =
            sennit_gptr_add(there, static_cast<std::int64_t>(first * sizeof(std::int64_t)));
        test.ok(sennit_accumulate(begin, ones.data(), 50, SENNIT_INT64, SENNIT_SUM));
        std::int64_t old = 0;
        test.ok(sennit_atomic_fetch_add_i64(sennit_gptr_add(there, 99 * 8), 1, &old));
        test.ok(sennit_atomic_inc_i64(sennit_gptr_add(there, 20 * 8)));
    }
    test.barrier();
    std::int64_t found[kWords];
    test.ok(sennit_get(found, there, sizeof found));
    for (std::size_t word = 0; word < kWords; ++word) {
        std::int64_t expected = word == 99 || word == 20 ? std::int64_t{rounds} * test.size : 0;
        for (int rank = 0; rank < test.size; ++rank) {
            const std::size_t first = static_cast<std::size_t>(rank) * 3 % 50;
            if (word >= first && word < first + 50) expected += rounds;
        }
        test.equal(found[word], expected);
    }
    test.barrier();
    test.free(segment);
}

// Broken by a step that changes elements without atomicity: all ranks change neighbours of all
// sizes at once.
RANK_TEST(atomic, neighbours_of_all_sizes_do_not_disturb_each_other, kAtomics) {
    const int rounds = test.quick ? 20 : 2000;
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr there = sennit_gptr_at(segment, 0);
    // Eight int8, four int16, one int32, a float and an int64: 32 bytes.
    const std::int8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::int16_t halves[4] = {100, 200, 300, 400};
    const std::int32_t word = 70000;
    const float number = 1;
    const std::int64_t large = std::int64_t{1} << 33;
    for (int i = 0; i < rounds; ++i) {
        test.ok(sennit_accumulate_nbi(there, bytes, 8, SENNIT_INT8, SENNIT_SUM));
        test.ok(
            sennit_accumulate_nbi(sennit_gptr_add(there, 8), halves, 4, SENNIT_INT16, SENNIT_SUM));
        test.ok(
            sennit_accumulate_nbi(sennit_gptr_add(there, 16), &word, 1, SENNIT_INT32, SENNIT_SUM));
        test.ok(sennit_accumulate_nbi(sennit_gptr_add(there, 20), &number, 1, SENNIT_FLOAT,
                                      SENNIT_SUM));
        test.ok(
            sennit_accumulate_nbi(sennit_gptr_add(there, 24), &large, 1, SENNIT_INT64, SENNIT_SUM));
        // One of the int8 elements, changed alone in its container.
        test.ok(sennit_accumulate_nbi(sennit_gptr_add(there, 1 + i % 7), bytes, 1, SENNIT_UINT8,
                                      SENNIT_SUM));
    }
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    std::uint8_t found[32];
    test.ok(sennit_get(found, there, sizeof found));
    const auto times = static_cast<unsigned>(rounds) * static_cast<unsigned>(test.size);
    for (unsigned i = 0; i < 8; ++i) {
        unsigned extra = 0;
        for (int round = 0; round < rounds; ++round)
            if (1 + static_cast<unsigned>(round % 7) == i)
                extra += static_cast<unsigned>(test.size);
        test.equal(unsigned{found[i]}, (times * (i + 1) + extra) & 0xFF);
    }
    std::int16_t halves_now[4];
    std::memcpy(halves_now, found + 8, 8);
    for (unsigned i = 0; i < 4; ++i)
        test.equal(static_cast<unsigned>(static_cast<std::uint16_t>(halves_now[i])),
                   times * 100 * (i + 1) & 0xFFFF);
    std::uint32_t word_now = 0;
    std::memcpy(&word_now, found + 16, 4);
    test.equal(word_now, times * 70000u);
    float number_now = 0;
    std::memcpy(&number_now, found + 20, 4);
    test.require(number_now == static_cast<float>(times), "the float counts all additions");
    std::int64_t large_now = 0;
    std::memcpy(&large_now, found + 24, 8);
    test.equal(large_now, large * times);
    test.barrier();
    test.free(segment);
}

// Broken by a minimum that keeps a NaN, or by unsigned elements compared as signed ones.
RANK_TEST(atomic, minimum_and_maximum_know_signs_and_prefer_numbers_to_nan, kAtomics) {
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double three = 3;
    double old = 0;
    test.ok(sennit_atomic_set_f64(there, nan));
    test.ok(sennit_accumulate(there, &three, 1, SENNIT_DOUBLE, SENNIT_MIN));
    test.ok(sennit_accumulate(there, &nan, 1, SENNIT_DOUBLE, SENNIT_MAX));
    test.ok(sennit_get_accumulate(there, nullptr, &old, 1, SENNIT_DOUBLE, SENNIT_NO_OP));
    test.require(old == 3, "the number replaces the NaN and stays");
    const std::int8_t minus = -1;
    const std::uint8_t large = 0xFF;
    std::uint8_t bytes[2] = {};
    test.ok(sennit_accumulate(sennit_gptr_add(there, 8), &minus, 1, SENNIT_INT8, SENNIT_MAX));
    test.ok(sennit_accumulate(sennit_gptr_add(there, 9), &large, 1, SENNIT_UINT8, SENNIT_MAX));
    test.ok(sennit_get(bytes, sennit_gptr_add(there, 8), 2));
    test.equal(unsigned{bytes[0]}, 0u);
    test.equal(unsigned{bytes[1]}, 0xFFu);
    test.barrier();
    test.free(segment);
}

// Broken by a type mistaken for another of its size, or changed in two steps.
RANK_TEST(atomic, accumulate_refuses_long_double_in_every_form, kAnything) {
    const sennit_gptr segment = test.allocate(sizeof(long double));
    const long double before = 1.5L;
    std::memcpy(sennit_ptr(segment), &before, sizeof before);
    test.barrier();
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    const long double one = 1.0L;
    for (int number = SENNIT_SUM; number < SENNIT_OPERATOR_END; ++number) {
        const auto op = static_cast<sennit_operator>(number);
        const sennit_type type = SENNIT_LONG_DOUBLE;
        long double old = 7.0L;
        sennit_request request = SENNIT_REQUEST_NULL;
        test.is(sennit_accumulate(there, &one, 1, type, op), SENNIT_ERR_UNSUPPORTED);
        const std::string text = sennit_last_error()->text;
        test.require(text.find("long double") != std::string::npos, "the error names the type");
        test.is(sennit_accumulate_nb(there, &one, 1, type, op, &request), SENNIT_ERR_UNSUPPORTED);
        test.is(sennit_accumulate_nbi(there, &one, 1, type, op), SENNIT_ERR_UNSUPPORTED);
        test.is(sennit_get_accumulate(there, &one, &old, 1, type, op), SENNIT_ERR_UNSUPPORTED);
        test.is(sennit_get_accumulate_nbi(there, &one, &old, 1, type, op), SENNIT_ERR_UNSUPPORTED);
        test.require(old == 7.0L && request.handle == 0, "nothing is written");
    }
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    long double after = 0;
    std::memcpy(&after, sennit_ptr(segment), sizeof after);
    test.require(after == before, "the element is unchanged");
    test.barrier();
    test.free(segment);
}
