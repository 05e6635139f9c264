// SPDX-License-Identifier: BSD-3-Clause
// The knobs of the process, shared by all its ranks. sennit_init reads them from the environment
// and the settings file, unless the process already has a rank.
#pragma once

#include <sennit/info.h>

#include <cstddef>
#include <cstdint>

namespace sennit::runtime {

inline constexpr std::size_t kKnobTextBytes = 512;

struct KnobText {
    char text[kKnobTextBytes];
};

// Types of knobs.def. Seconds are stored in nanoseconds.
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

// The current values; the defaults before knobs_read().
const Knobs &knobs();

// Sets *is_on if the text is a usual word for on or off. False: it is neither.
bool read_switch(const char *text, bool *is_on);

// Reads the settings file, then the environment, whose values replace those of the file. Errors:
// ARG (a value or a line cannot be parsed, or the file cannot be read). The default file may be
// missing. An error changes nothing.
sennit_status knobs_read();

// The first call in a process warns of each SENNIT_* variable and each name in the file that is no
// knob. The caller must hold no lock.
void knobs_warn_of_unknown();

// Describes a knob of the table; `index` is below knob_count(). `from_environment`: with the value
// that knobs_read() would set now, instead of the current one.
std::size_t knob_count();
void knob_describe(std::size_t index, bool from_environment, sennit_knob *knob);

}  // namespace sennit::runtime
