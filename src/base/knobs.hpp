// The knobs of the process, read from the environment and the file of settings at the first
// sennit_init of a process (again when a later init finds no rank left). Owned by the process
// object; read by everyone.
#pragma once

#include <sennit/info.h>

#include <cstddef>
#include <cstdint>

namespace sennit::runtime {

inline constexpr std::size_t kKnobTextBytes = 128;

struct KnobText {
    char text[kKnobTextBytes];
};

// Types of knobs.def. Seconds are kept in nanoseconds.
struct Knobs {
#define KNOB_TYPE_text KnobText
#define KNOB_TYPE_seconds std::int64_t
#define KNOB_TYPE_boolean bool
#define KNOB_TYPE_integer std::int64_t
#define KNOB(field, name, type, initial, unit, help) KNOB_TYPE_##type field;
#include "base/knobs.def"
#undef KNOB
#undef KNOB_TYPE_text
#undef KNOB_TYPE_seconds
#undef KNOB_TYPE_boolean
#undef KNOB_TYPE_integer
};

// The values in force; the defaults before they are read.
const Knobs &knobs();

// Is the text a usual word for on or off? *is_on says which then, and stays else.
bool read_switch(const char *text, bool *is_on);

// Reads the file of settings and the environment, which wins. A value or a line of the file that
// can not be parsed, and a file that is named and can not be read, is an error (ARG) and nothing
// changes.
sennit_status knobs_read();

// A SENNIT_* variable, or a name in the file, that is no knob gets a warning; each process warns
// once. No lock may be held.
void knobs_warn_of_unknown();

// The table itself. `index` is below knob_count(). `from_environment`: not the value in force but
// the one that knobs_read() would put in force now.
std::size_t knob_count();
void knob_describe(std::size_t index, bool from_environment, sennit_knob *knob);

}  // namespace sennit::runtime
