// SPDX-License-Identifier: BSD-3-Clause
// Parses the knobs. knobs.def has the table of all knobs. A value is from the environment, else
// from the settings file (SENNIT_CONFIG), else the default of the table.
#include "base/knobs.hpp"

#include <sennit/info.h>
#include <sennit/runtime.h>
#include <strings.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <system_error>

#include "base/fail.hpp"
#include "base/knob_file.hpp"
#include "base/log.hpp"

extern char **environ;

namespace sennit::runtime {
namespace {

bool assign_text(void *field, const char *value) {
    if (std::strlen(value) >= kKnobTextBytes) return false;
    std::snprintf(static_cast<KnobText *>(field)->text, kKnobTextBytes, "%s", value);
    return true;
}

void show_text(const void *field, char *text, std::size_t bytes) {
    std::snprintf(text, bytes, "%s", static_cast<const KnobText *>(field)->text);
}

// Decimal seconds to nanoseconds. Not by strtod() and printf(), whose decimal point depends on the
// program's locale.
bool assign_seconds(void *field, const char *value) {
    double seconds = 0;
    const auto [end, error] = std::from_chars(value, value + std::strlen(value), seconds);
    if (error != std::errc{} || *end != '\0' || !(seconds >= 0.0) || seconds > 9e9) return false;
    *static_cast<std::int64_t *>(field) = static_cast<std::int64_t>(seconds * 1e9);
    return true;
}

void show_seconds(const void *field, char *text, std::size_t bytes) {
    const auto nanoseconds = static_cast<double>(*static_cast<const std::int64_t *>(field));
    const auto shown =
        std::to_chars(text, text + bytes - 1, nanoseconds / 1e9, std::chars_format::general, 6);
    *(shown.ec == std::errc{} ? shown.ptr : text) = '\0';
}

bool assign_boolean(void *field, const char *value) {
    return read_switch(value, static_cast<bool *>(field));
}

void show_boolean(const void *field, char *text, std::size_t bytes) {
    std::snprintf(text, bytes, "%d", *static_cast<const bool *>(field) ? 1 : 0);
}

bool assign_integer(void *field, const char *value) {
    char *end = nullptr;
    errno = 0;
    const long long number = std::strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0) return false;
    *static_cast<std::int64_t *>(field) = number;
    return true;
}

void show_integer(const void *field, char *text, std::size_t bytes) {
    const long long number = *static_cast<const std::int64_t *>(field);
    std::snprintf(text, bytes, "%lld", number);
}

struct KnobType {
    const char *name;
    bool (*assign)(void *field, const char *value);
    void (*show)(const void *field, char *text, std::size_t bytes);
    const char *wanted;  // the form of a value, for the error message
};

namespace types {
constexpr KnobType text{"text", assign_text, show_text, "a text of less than 512 characters"};
constexpr KnobType seconds{"seconds", assign_seconds, show_seconds,
                           "a number of seconds, such as 60 or 0.5"};
constexpr KnobType boolean{"boolean", assign_boolean, show_boolean,
                           "one of 1, 0, on, off, yes, no, true, false"};
constexpr KnobType integer{"integer", assign_integer, show_integer, "a whole number"};
}  // namespace types

struct KnobRow {
    const char *name;
    const KnobType *type;
    const char *initial;
    const char *unit;
    const char *help;
    std::size_t offset;
};

const KnobRow kRows[] = {
#define KNOB(field, name, type, initial, unit, help) \
    {name, &types::type, initial, unit, help, offsetof(Knobs, field)},
#include "base/knobs.def"
#undef KNOB
};
constexpr std::size_t kRowCount = sizeof kRows / sizeof kRows[0];
static_assert(kRowCount <= 40);

// Variables that Sennit's programs pass to ranks. They have the prefix of knobs but are not knobs.
const char *const kInternal[] = {"SENNIT_RANK", "SENNIT_SIZE", "SENNIT_CONTROL_FD", "SENNIT_JOB"};

// The value in the environment. Null: the variable is not set or empty.
const char *setting(const KnobRow &row) {
    const char *value = std::getenv(row.name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

void *field_of(Knobs *values, const KnobRow &row) {
    return reinterpret_cast<char *>(values) + row.offset;
}

enum class Source : unsigned char { table, environment, file };

struct KnobSettings {
    Knobs values;
    Source sources[kRowCount];
};

KnobSettings defaults() {
    KnobSettings settings{};
    for (const KnobRow &row : kRows)
        (void)row.type->assign(field_of(&settings.values, row), row.initial);
    return settings;
}

KnobSettings &in_force() {
    static KnobSettings settings = defaults();
    return settings;
}

bool is_same(const char *known, const char *name, std::size_t length) {
    return std::strlen(known) == length && std::strncmp(known, name, length) == 0;
}

const KnobRow *find_row(const char *name, std::size_t length) {
    for (const KnobRow &row : kRows)
        if (is_same(row.name, name, length)) return &row;
    return nullptr;
}

bool is_internal(const char *name, std::size_t length) {
    for (const char *internal : kInternal)
        if (is_same(internal, name, length)) return true;
    return false;
}

// The first error in the settings.
struct Fault {
    char text[512] = "";

    [[gnu::format(printf, 2, 3)]] void note(const char *format, ...) {
        if (text[0] != '\0') return;
        va_list arguments;
        va_start(arguments, format);
        (void)std::vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
    }
};

// The path of the settings file; null if the user wants none. *is_named: the user has named it.
const char *file_to_read(bool *is_named) {
    const KnobRow &row = *find_row("SENNIT_CONFIG", std::strlen("SENNIT_CONFIG"));
    const char *path = setting(row);
    *is_named = path != nullptr;
    if (path == nullptr) path = row.initial;
    return std::strcmp(path, "none") == 0 ? nullptr : path;
}

void take_line(const char *path, const KnobLine &line, KnobSettings *settings, Fault *fault) {
    const KnobRow *row = find_row(line.name, std::strlen(line.name));
    if (row == nullptr || std::strcmp(row->name, "SENNIT_CONFIG") == 0) return;
    if (!row->type->assign(field_of(&settings->values, *row), line.value)) {
        fault->note("%s:%d: %s=%.64s is not %s", path, line.number, row->name, line.value,
                    row->type->wanted);
        return;
    }
    settings->sources[row - kRows] = Source::file;
}

// The default file may be missing. A file that the user names must exist.
void take_file(KnobSettings *settings, Fault *fault) {
    bool is_named = false;
    const char *path = file_to_read(&is_named);
    if (path == nullptr) return;
    KnobFile file;
    const int error = file.open(path);
    if (error != 0) {
        if (is_named || (error != ENOENT && error != ENOTDIR))
            fault->note("SENNIT_CONFIG=%s cannot be opened: %s", path, std::strerror(error));
        return;
    }
    KnobLine line{};
    for (;;) {
        const KnobFile::Next next = file.next(&line);
        if (next == KnobFile::Next::end) return;
        if (next == KnobFile::Next::failed) {
            fault->note("SENNIT_CONFIG=%s cannot be read: %s", path, std::strerror(errno));
            return;
        }
        if (next == KnobFile::Next::malformed)
            fault->note("%s:%d: the line is not NAME=value, NAME value, or # comment", path,
                        line.number);
        else
            take_line(path, line, settings, fault);
    }
}

// Reads all settings: values of the file replace those of the table, and values of the environment
// replace both. After a wrong setting it still reads the others.
KnobSettings read_all(Fault *fault) {
    KnobSettings settings = defaults();
    take_file(&settings, fault);
    for (std::size_t i = 0; i < kRowCount; ++i) {
        const KnobRow &row = kRows[i];
        const char *value = setting(row);
        if (value == nullptr) continue;
        settings.sources[i] = Source::environment;
        if (!row.type->assign(field_of(&settings.values, row), value))
            fault->note("%s=%.64s is not %s", row.name, value, row.type->wanted);
    }
    return settings;
}

void warn_of_unknown_in_file() {
    bool is_named = false;
    const char *path = file_to_read(&is_named);
    KnobFile file;
    if (path == nullptr || file.open(path) != 0) return;
    KnobLine line{};
    for (;;) {
        const KnobFile::Next next = file.next(&line);
        if (next == KnobFile::Next::end || next == KnobFile::Next::failed) return;
        if (next == KnobFile::Next::malformed) continue;
        if (std::strcmp(line.name, "SENNIT_CONFIG") == 0)
            log(SENNIT_LOG_WARNING, "%s:%d: SENNIT_CONFIG has no effect in the file that it names",
                path, line.number);
        else if (find_row(line.name, std::strlen(line.name)) == nullptr)
            log(SENNIT_LOG_WARNING, "%s:%d: %s is no knob and has no effect", path, line.number,
                line.name);
    }
}

bool parse_log_level(const char *text, sennit_log_level *level) {
    constexpr struct {
        const char *name;
        sennit_log_level level;
    } kNames[] = {{"none", SENNIT_LOG_NONE},    {"error", SENNIT_LOG_ERROR},
                  {"err", SENNIT_LOG_ERROR},    {"warning", SENNIT_LOG_WARNING},
                  {"warn", SENNIT_LOG_WARNING}, {"info", SENNIT_LOG_INFO},
                  {"verbose", SENNIT_LOG_INFO}, {"debug", SENNIT_LOG_DEBUG}};
    bool is_on = false;
    if (read_switch(text, &is_on)) {
        *level = is_on ? SENNIT_LOG_INFO : SENNIT_LOG_NONE;
        return true;
    }
    for (const auto &[name, its_level] : kNames) {
        if (strcasecmp(text, name) != 0) continue;
        *level = its_level;
        return true;
    }
    return false;
}

}  // namespace

bool read_switch(const char *text, bool *is_on) {
    const auto is_one_of = [text](std::initializer_list<const char *> words) {
        for (const char *word : words)
            if (strcasecmp(text, word) == 0) return true;
        return false;
    };
    const bool on = is_one_of({"1", "yes", "on", "true"});
    if (!on && !is_one_of({"0", "no", "off", "false"})) return false;
    *is_on = on;
    return true;
}

std::size_t knob_count() {
    return kRowCount;
}

void knob_describe(std::size_t index, bool from_environment, sennit_knob *knob) {
    const KnobRow &row = kRows[index];
    Fault fault;
    KnobSettings settings = from_environment ? read_all(&fault) : in_force();
    const Source source = settings.sources[index];
    const int is_set = source == Source::table ? 0 : source == Source::environment ? 1 : 2;
    *knob = sennit_knob{row.name, row.type->name, row.initial, row.unit, row.help, is_set, {}};
    row.type->show(field_of(&settings.values, row), knob->value, sizeof knob->value);
}

const Knobs &knobs() {
    return in_force().values;
}

sennit_status knobs_read() {
    Fault fault;
    KnobSettings settings = read_all(&fault);
    if (fault.text[0] != '\0') return fail(SENNIT_ERR_ARG, "%s", fault.text);
    sennit_log_level level = SENNIT_LOG_WARNING;
    if (!parse_log_level(settings.values.log.text, &level))
        return fail(SENNIT_ERR_ARG,
                    "SENNIT_LOG=%.64s is not one of none, error, warning, info, debug, on, off",
                    settings.values.log.text);
    constexpr const char *kLog = "SENNIT_LOG";
    if (settings.sources[find_row(kLog, std::strlen(kLog)) - kRows] != Source::table)
        log_set_level(level);
    in_force() = settings;
    return SENNIT_OK;
}

void knobs_warn_of_unknown() {
    static std::atomic<bool> warned{false};
    // relaxed: only the value matters; no other data depends on it.
    if (warned.exchange(true, std::memory_order_relaxed)) return;
    for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, "SENNIT_", 7) != 0) continue;
        const char *equals = std::strchr(*entry, '=');
        if (equals == nullptr) continue;
        const auto length = static_cast<std::size_t>(equals - *entry);
        if (find_row(*entry, length) != nullptr || is_internal(*entry, length)) continue;
        log(SENNIT_LOG_WARNING, "environment variable %.*s is no knob and has no effect",
            static_cast<int>(length), *entry);
    }
    warn_of_unknown_in_file();
}

}  // namespace sennit::runtime
