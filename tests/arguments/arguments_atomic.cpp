// Bad arguments for atomic operations, accumulate and locks. The tables of sennit/atomic.h generate
// the functions on words; here they generate the rows for these.
#include "arguments_table.hpp"

namespace arguments {
namespace {

constexpr When kRunning = When::running;
constexpr When kAny = When::before_init;
constexpr sennit_status kState = SENNIT_ERR_STATE;

template <class T>
T *place(Fixture &fixture) {
    return reinterpret_cast<T *>(fixture.buffer);
}

sennit_lock no_lock() {
    return sennit_lock{memory.segment.segment, SENNIT_TEAM_WORLD.handle};
}

}  // namespace

// A call with a misaligned target, one outside the segment, one of no rank, and a freed one.
#define SENNIT_ROWS_TARGET(NAME, T, CALL)                                               \
    {NAME, "a target that is not aligned", kRunning, SENNIT_ERR_ARG,                    \
     [](Fixture &it) {                                                                  \
         const sennit_gptr target = at_offset(sizeof(T) / 2);                           \
         (void)it;                                                                      \
         return CALL;                                                                   \
     }},                                                                                \
        {NAME, "a target beyond the end", kRunning, SENNIT_ERR_RANGE,                   \
         [](Fixture &it) {                                                              \
             const sennit_gptr target = at_offset(104 - sizeof(T));                     \
             (void)it;                                                                  \
             return CALL;                                                               \
         }},                                                                            \
        {NAME, "a rank that does not exist", kRunning, SENNIT_ERR_RANGE,                \
         [](Fixture &it) {                                                              \
             const sennit_gptr target = of_rank(1);                                     \
             (void)it;                                                                  \
             return CALL;                                                               \
         }},                                                                            \
        {NAME, "a freed target", kRunning, SENNIT_ERR_NOT_REGISTERED, [](Fixture &it) { \
             const sennit_gptr target = memory.freed;                                   \
             (void)it;                                                                  \
             return CALL;                                                               \
         }},
#define SENNIT_ROW_NULL(NAME, WHAT, CALL)                    \
    {NAME, WHAT, kRunning, SENNIT_ERR_ARG, [](Fixture &it) { \
         const sennit_gptr target = memory.segment;          \
         (void)it;                                           \
         return CALL;                                        \
     }},
#define SENNIT_ROW_STATE(NAME, T, CALL)             \
    {NAME, "", kAny, kState, [](Fixture &it) {      \
         const sennit_gptr target = memory.segment; \
         (void)it;                                  \
         return CALL;                               \
     }},

// Each shape of call. VERB is the middle of its name: _add, for example.
#define SENNIT_SHAPE_SET(ROW, T, S, VERB)                                         \
    ROW("sennit_atomic" #VERB "_" #S, T, sennit_atomic##VERB##_##S(target, T{1})) \
    ROW("sennit_atomic" #VERB "_" #S "_nbi", T, sennit_atomic##VERB##_##S##_nbi(target, T{1}))
#define SENNIT_SHAPE_FETCH(ROW, T, S, VERB)                                                     \
    ROW("sennit_atomic" #VERB "_" #S, T, sennit_atomic##VERB##_##S(target, T{1}, place<T>(it))) \
    ROW("sennit_atomic" #VERB "_" #S "_nb", T,                                                  \
        sennit_atomic##VERB##_##S##_nb(target, T{1}, place<T>(it), &it.request))
#define SENNIT_SHAPE_WORD(ROW, T, S)                                                 \
    SENNIT_SHAPE_SET(ROW, T, S, _set)                                                \
    SENNIT_SHAPE_FETCH(ROW, T, S, _swap)                                             \
    ROW("sennit_atomic_fetch_" #S, T, sennit_atomic_fetch_##S(target, place<T>(it))) \
    ROW("sennit_atomic_fetch_" #S "_nb", T,                                          \
        sennit_atomic_fetch_##S##_nb(target, place<T>(it), &it.request))             \
    ROW("sennit_atomic_compare_swap_" #S, T,                                         \
        sennit_atomic_compare_swap_##S(target, T{1}, T{2}, place<T>(it)))            \
    ROW("sennit_atomic_compare_swap_" #S "_nb", T,                                   \
        sennit_atomic_compare_swap_##S##_nb(target, T{1}, T{2}, place<T>(it), &it.request))
#define SENNIT_SHAPE_INTEGER(ROW, T, S)                                                      \
    SENNIT_SHAPE_SET(ROW, T, S, _add)                                                        \
    SENNIT_SHAPE_SET(ROW, T, S, _and)                                                        \
    SENNIT_SHAPE_SET(ROW, T, S, _or)                                                         \
    SENNIT_SHAPE_SET(ROW, T, S, _xor)                                                        \
    SENNIT_SHAPE_FETCH(ROW, T, S, _fetch_add)                                                \
    SENNIT_SHAPE_FETCH(ROW, T, S, _fetch_and)                                                \
    SENNIT_SHAPE_FETCH(ROW, T, S, _fetch_or)                                                 \
    SENNIT_SHAPE_FETCH(ROW, T, S, _fetch_xor)                                                \
    ROW("sennit_atomic_inc_" #S, T, sennit_atomic_inc_##S(target))                           \
    ROW("sennit_atomic_inc_" #S "_nbi", T, sennit_atomic_inc_##S##_nbi(target))              \
    ROW("sennit_atomic_fetch_inc_" #S, T, sennit_atomic_fetch_inc_##S(target, place<T>(it))) \
    ROW("sennit_atomic_fetch_inc_" #S "_nb", T,                                              \
        sennit_atomic_fetch_inc_##S##_nb(target, place<T>(it), &it.request))

// Null pointers for old values and requests.
#define SENNIT_NULLS_FETCH(T, S, VERB)                                                   \
    SENNIT_ROW_NULL("sennit_atomic" #VERB "_" #S, "a null place of the old value",       \
                    sennit_atomic##VERB##_##S(target, T{1}, nullptr))                    \
    SENNIT_ROW_NULL("sennit_atomic" #VERB "_" #S "_nb", "a null place of the old value", \
                    sennit_atomic##VERB##_##S##_nb(target, T{1}, nullptr, &it.request))  \
    SENNIT_ROW_NULL("sennit_atomic" #VERB "_" #S "_nb", "a null request",                \
                    sennit_atomic##VERB##_##S##_nb(target, T{1}, place<T>(it), nullptr))
#define SENNIT_NULLS_WORD(T, S)                                                        \
    SENNIT_NULLS_FETCH(T, S, _swap)                                                    \
    SENNIT_ROW_NULL("sennit_atomic_fetch_" #S, "a null place of the value",            \
                    sennit_atomic_fetch_##S(target, nullptr))                          \
    SENNIT_ROW_NULL("sennit_atomic_fetch_" #S "_nb", "a null request",                 \
                    sennit_atomic_fetch_##S##_nb(target, place<T>(it), nullptr))       \
    SENNIT_ROW_NULL("sennit_atomic_compare_swap_" #S, "a null place of the old value", \
                    sennit_atomic_compare_swap_##S(target, T{0}, T{2}, nullptr))       \
    SENNIT_ROW_NULL(                                                                   \
        "sennit_atomic_compare_swap_" #S "_nb", "a null request",                      \
        sennit_atomic_compare_swap_##S##_nb(target, T{0}, T{2}, place<T>(it), nullptr))
#define SENNIT_NULLS_INTEGER(T, S)                                                  \
    SENNIT_NULLS_FETCH(T, S, _fetch_add)                                            \
    SENNIT_NULLS_FETCH(T, S, _fetch_and)                                            \
    SENNIT_NULLS_FETCH(T, S, _fetch_or)                                             \
    SENNIT_NULLS_FETCH(T, S, _fetch_xor)                                            \
    SENNIT_ROW_NULL("sennit_atomic_fetch_inc_" #S, "a null place of the old value", \
                    sennit_atomic_fetch_inc_##S(target, nullptr))                   \
    SENNIT_ROW_NULL("sennit_atomic_fetch_inc_" #S "_nb", "a null request",          \
                    sennit_atomic_fetch_inc_##S##_nb(target, place<T>(it), nullptr))

#define SENNIT_TARGETS_WORD(T, S) SENNIT_SHAPE_WORD(SENNIT_ROWS_TARGET, T, S)
#define SENNIT_TARGETS_INTEGER(T, S) SENNIT_SHAPE_INTEGER(SENNIT_ROWS_TARGET, T, S)
#define SENNIT_STATES_WORD(T, S) SENNIT_SHAPE_WORD(SENNIT_ROW_STATE, T, S)
#define SENNIT_STATES_INTEGER(T, S) SENNIT_SHAPE_INTEGER(SENNIT_ROW_STATE, T, S)

static_assert(sizeof(sennit_lock) == 8, "a lock is passed by value");

const std::vector<Row> wrong_atomics = {
    // clang-format off
    SENNIT_ATOMIC_INTEGERS(SENNIT_TARGETS_WORD)
    SENNIT_ATOMIC_INTEGERS(SENNIT_TARGETS_INTEGER)
    SENNIT_ATOMIC_FLOATS(SENNIT_TARGETS_WORD)
    SENNIT_ATOMIC_INTEGERS(SENNIT_NULLS_WORD)
    SENNIT_ATOMIC_INTEGERS(SENNIT_NULLS_INTEGER)
    SENNIT_ATOMIC_FLOATS(SENNIT_NULLS_WORD)
    // clang-format on
    {"sennit_accumulate", "a null source", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) {
         return sennit_accumulate(memory.segment, nullptr, 1, SENNIT_INT32, SENNIT_SUM);
     }},
    {"sennit_accumulate", "type 0", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, static_cast<sennit_type>(0),
                                  SENNIT_SUM);
     }},
    {"sennit_accumulate", "SENNIT_TYPE_END", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_TYPE_END, SENNIT_SUM);
     }},
    {"sennit_accumulate", "long double", kRunning, SENNIT_ERR_UNSUPPORTED,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_LONG_DOUBLE, SENNIT_SUM);
     }},
    {"sennit_accumulate", "operator 0", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_INT8,
                                  static_cast<sennit_operator>(0));
     }},
    {"sennit_accumulate", "SENNIT_OPERATOR_END", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_INT8, SENNIT_OPERATOR_END);
     }},
    {"sennit_accumulate", "operator 1000", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_INT8,
                                  static_cast<sennit_operator>(1000));
     }},
    {"sennit_accumulate", "an operator of the program's own", kRunning, SENNIT_ERR_UNSUPPORTED,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_INT8, SENNIT_USER_OPERATOR);
     }},
    {"sennit_accumulate", "xor of doubles", kRunning, SENNIT_ERR_UNSUPPORTED,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_DOUBLE, SENNIT_XOR);
     }},
    {"sennit_accumulate", "a target that is not aligned", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate(at_offset(1), it.buffer, 2, SENNIT_INT16, SENNIT_SUM);
     }},
    {"sennit_accumulate", "SIZE_MAX elements", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) {
         return sennit_accumulate(at_offset(0), it.buffer, SIZE_MAX, SENNIT_INT16, SENNIT_SUM);
     }},
    {"sennit_accumulate", "elements whose bytes wrap around", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) {
         return sennit_accumulate(at_offset(0), it.buffer, SIZE_MAX / 8 + 2, SENNIT_INT64,
                                  SENNIT_SUM);
     }},
    {"sennit_accumulate_nb", "a null request", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate_nb(at_offset(0), it.buffer, 1, SENNIT_INT8, SENNIT_SUM, nullptr);
     }},
    {"sennit_accumulate_nb", "a null source", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_accumulate_nb(at_offset(0), nullptr, 1, SENNIT_INT8, SENNIT_SUM,
                                     &it.request);
     }},
    {"sennit_put_word", "a null source", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) {
         return sennit_put_word(at_offset(0), nullptr, 1, at_offset(8), SENNIT_SUM, 1);
     }},
    {"sennit_put_word", "an operator that neither adds nor sets", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_put_word(at_offset(0), it.buffer, 8, at_offset(8), SENNIT_MIN, 1);
     }},
    {"sennit_put_word", "a word that is not aligned", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_put_word(at_offset(0), it.buffer, 8, at_offset(12), SENNIT_SUM, 1);
     }},
    {"sennit_put_word", "a word that leaves the segment", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) {
         return sennit_put_word(at_offset(0), it.buffer, 8, at_offset(4096), SENNIT_SUM, 1);
     }},
    {"sennit_put_word_nbi", "data that leaves the segment", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) {
         return sennit_put_word_nbi(at_offset(96), it.buffer, 16, at_offset(8), SENNIT_SUM, 1);
     }},
    {"sennit_accumulate_nbi", "a null source", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) {
         return sennit_accumulate_nbi(at_offset(0), nullptr, 1, SENNIT_INT8, SENNIT_SUM);
     }},
    {"sennit_accumulate_nbi", "a range that leaves the segment", kRunning, SENNIT_ERR_RANGE,
     [](Fixture &it) {
         return sennit_accumulate_nbi(at_offset(96), it.buffer, 2, SENNIT_INT32, SENNIT_SUM);
     }},
    {"sennit_get_accumulate", "a null result", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_get_accumulate(at_offset(0), it.buffer, nullptr, 1, SENNIT_INT8, SENNIT_SUM);
     }},
    {"sennit_get_accumulate", "a null source", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_get_accumulate(at_offset(0), nullptr, it.buffer, 1, SENNIT_INT8, SENNIT_SUM);
     }},
    {"sennit_get_accumulate_nbi", "a null result", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) {
         return sennit_get_accumulate_nbi(at_offset(0), it.buffer, nullptr, 1, SENNIT_INT8,
                                          SENNIT_SUM);
     }},
    {"sennit_get_accumulate_nbi", "a freed segment", kRunning, SENNIT_ERR_NOT_REGISTERED,
     [](Fixture &it) {
         return sennit_get_accumulate_nbi(memory.freed, it.buffer, it.buffer, 1, SENNIT_INT8,
                                          SENNIT_SUM);
     }},

    {"sennit_lock_create", "null", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_create(SENNIT_TEAM_WORLD, nullptr); }},
    {"sennit_lock_create", "a team that does not exist", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_lock_create(sennit_team{0}, &it.lock); }},
    {"sennit_lock_acquire", "no lock", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_acquire(SENNIT_LOCK_NULL, 0); }},
    {"sennit_lock_acquire", "a segment", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_acquire(no_lock(), SENNIT_FOREVER); }},
    {"sennit_lock_acquire", "a negative timeout", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_acquire(no_lock(), -1); }},
    {"sennit_lock_acquire", "garbage", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_lock_acquire(it.lock, SENNIT_FOREVER); }},
    {"sennit_lock_try", "null", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_try(no_lock(), nullptr); }},
    {"sennit_lock_try", "a segment", kRunning, SENNIT_ERR_ARG,
     [](Fixture &it) { return sennit_lock_try(no_lock(), &it.flag); }},
    {"sennit_lock_release", "no lock", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_release(SENNIT_LOCK_NULL); }},
    {"sennit_lock_release", "a segment", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_release(no_lock()); }},
    {"sennit_lock_destroy", "no lock", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_destroy(SENNIT_LOCK_NULL); }},
    {"sennit_lock_destroy", "a segment", kRunning, SENNIT_ERR_ARG,
     [](Fixture &) { return sennit_lock_destroy(no_lock()); }},
};

const std::vector<Row> atomics_that_need_a_rank = {
    // clang-format off
    SENNIT_ATOMIC_INTEGERS(SENNIT_STATES_WORD)
    SENNIT_ATOMIC_INTEGERS(SENNIT_STATES_INTEGER)
    SENNIT_ATOMIC_FLOATS(SENNIT_STATES_WORD)
    // clang-format on
    {"sennit_accumulate", "", kAny, kState,
     [](Fixture &it) {
         return sennit_accumulate(memory.segment, it.buffer, 1, SENNIT_INT8, SENNIT_SUM);
     }},
    {"sennit_accumulate_nb", "", kAny, kState,
     [](Fixture &it) {
         return sennit_accumulate_nb(memory.segment, it.buffer, 1, SENNIT_INT8, SENNIT_SUM,
                                     &it.request);
     }},
    {"sennit_put_word", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_word(memory.segment, it.buffer, 8, memory.segment, SENNIT_SUM, 1);
     }},
    {"sennit_put_word_nbi", "", kAny, kState,
     [](Fixture &it) {
         return sennit_put_word_nbi(memory.segment, it.buffer, 8, memory.segment, SENNIT_SUM, 1);
     }},
    {"sennit_accumulate_nbi", "", kAny, kState,
     [](Fixture &it) {
         return sennit_accumulate_nbi(memory.segment, it.buffer, 1, SENNIT_INT8, SENNIT_SUM);
     }},
    {"sennit_get_accumulate", "", kAny, kState,
     [](Fixture &it) {
         return sennit_get_accumulate(memory.segment, it.buffer, it.text, 1, SENNIT_INT8,
                                      SENNIT_SUM);
     }},
    {"sennit_get_accumulate_nbi", "", kAny, kState,
     [](Fixture &it) {
         return sennit_get_accumulate_nbi(memory.segment, it.buffer, it.text, 1, SENNIT_INT8,
                                          SENNIT_SUM);
     }},
    {"sennit_lock_create", "", kAny, kState,
     [](Fixture &it) { return sennit_lock_create(SENNIT_TEAM_WORLD, &it.lock); }},
    {"sennit_lock_acquire", "", kAny, kState,
     [](Fixture &) { return sennit_lock_acquire(no_lock(), SENNIT_FOREVER); }},
    {"sennit_lock_try", "", kAny, kState,
     [](Fixture &it) { return sennit_lock_try(no_lock(), &it.flag); }},
    {"sennit_lock_release", "", kAny, kState,
     [](Fixture &) { return sennit_lock_release(no_lock()); }},
    {"sennit_lock_destroy", "", kAny, kState,
     [](Fixture &) { return sennit_lock_destroy(no_lock()); }},
};

}  // namespace arguments
