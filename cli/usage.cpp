#include "usage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <numeric>
#include <span>

namespace sennit::cli {
namespace {

// The Levenshtein distance of two words.
std::size_t edit_distance(const std::string &one, const std::string &other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= one.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= other.size(); ++j) {
            const std::size_t replaced = diagonal + (one[i - 1] == other[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

// The long option with the least edit distance; empty if none is near.
std::string option_near(const CLI::App &app, const std::string &word) {
    constexpr std::size_t kNear = 2;
    std::string nearest;
    std::size_t least = kNear + 1;
    if (word.size() <= kNear + 1) return nearest;  // too short: every option would be near
    for (const CLI::Option *option : app.get_options()) {
        for (const std::string &name : option->get_lnames()) {
            const std::size_t apart = edit_distance(word, "--" + name);
            if (apart < least) {
                least = apart;
                nearest = "--" + name;
            }
        }
    }
    return nearest;
}

// An option of mpirun, mpiexec or another library's oshrun, and its counterpart here.
struct Foreign {
    const char *name;
    const char *text;
};
constexpr Foreign kSameFlags[] = {
    {"--oversubscribe", ""},
    {"-oversubscribe", ""},
    {"--allow-run-as-root", ""},
    {"-quiet", ""},
    {"--quiet", ""},
    {"-q", ""},
    {"--tag-output", "--tag"},
    {"-tag-output", "--tag"},
    {"-prepend-rank", "--tag"},
    {"-l", "--tag"},
};
constexpr const char *kOneMachine =
    "ranks start on this machine only; use mpirun or srun for several";
constexpr const char *kBinding = "use --bind share, core or none";
constexpr const char *kParameter =
    "it sets a parameter of Open MPI; Sennit's settings are variables (sennit info --knobs), and "
    "-x NAME=VALUE sets one";
constexpr const char *kFolder = "ranks start in the current folder; use cd before";
constexpr const char *kPerNode = "use -N";
constexpr const char *kPrefix =
    "it names the folder of Open MPI on other machines, and ranks start on this machine only";
constexpr const char *kBindings =
    "sennit run -n 2 --tag grep Cpus_allowed_list /proc/self/status shows the processors of each "
    "rank";
constexpr const char *kFiles =
    "a shell can open files: sennit run -n 2 sh -c './prog > out.$SENNIT_RANK'";
constexpr Foreign kForeign[] = {
    {"--map-by", kBinding},
    {"-map-by", kBinding},
    {"--hostfile", kOneMachine},
    {"-hostfile", kOneMachine},
    {"-machinefile", kOneMachine},
    {"--machinefile", kOneMachine},
    {"--mca", kParameter},
    {"-mca", kParameter},
    {"--gmca", kParameter},
    {"-gmca", kParameter},
    {"--prtemca", kParameter},
    {"--pmixmca", kParameter},
    {"--wdir", kFolder},
    {"-wdir", kFolder},
    {"--wd", kFolder},
    {"-wd", kFolder},
    {"-ppn", kPerNode},
    {"--ppn", kPerNode},
    {"-npernode", kPerNode},
    {"--npernode", kPerNode},
    {"-perhost", kPerNode},
    {"--prefix", kPrefix},
    {"-prefix", kPrefix},
    {"--report-bindings", kBindings},
    {"-report-bindings", kBindings},
    {"--output-filename", kFiles},
    {"-output-filename", kFiles},
};

const char *find_foreign(std::span<const Foreign> table, const std::string &name) {
    for (const Foreign &one : table)
        if (name == one.name) return one.text;
    return nullptr;
}

bool is_one_of(const std::string &name, std::initializer_list<const char *> names) {
    return std::ranges::any_of(names, [&](const char *one) { return name == one; });
}

bool is_this_machine(const std::string &host) {
    if (is_one_of(host, {"localhost", "127.0.0.1", "::1"})) return true;
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0) return false;
    const std::string own = name;
    return !host.empty() && (host == own || host.substr(0, host.find('.')) == own ||
                             host == own.substr(0, own.find('.')));
}

// A list such as "localhost:2,node7".
void check_hosts(const std::string &option, const std::string &list) {
    std::size_t begin = 0;
    while (begin <= list.size()) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        std::string host = list.substr(begin, end - begin);
        if (std::ranges::count(host, ':') == 1) host.resize(host.find(':'));  // slots
        if (!is_this_machine(host))
            throw UsageError(fmt::format("sennit run: {} {}: {}", option, list, kOneMachine));
        begin = end + 1;
    }
}

// Removes and returns the values of the option at words[at]. The first value may be in the same
// word, after "=".
std::vector<std::string> take_values(std::vector<std::string> &words, std::size_t at,
                                     std::size_t count) {
    const std::size_t sign = words[at].find('=');
    const std::string name = words[at].substr(0, sign);
    std::vector<std::string> values;
    if (sign != std::string::npos) values.push_back(words[at].substr(sign + 1));
    while (values.size() < count && at + 1 < words.size()) {
        values.push_back(words[at + 1]);
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    if (values.size() < count)
        throw UsageError(fmt::format("sennit run: {} needs {}", name,
                                     count == 1 ? "a value" : "a name and a value"));
    words[at] = name;
    return values;
}

// Replaces a foreign option at words[at] by the option of `run` with the same meaning. True: the
// option has no effect here, and was removed.
bool translate_foreign(std::vector<std::string> &words, std::size_t at) {
    const std::string name = words[at].substr(0, words[at].find('='));
    const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
    if (const char *own = find_foreign(kSameFlags, words[at]); own != nullptr) {
        if (*own == '\0')
            words.erase(place);
        else
            words[at] = own;
        return *own == '\0';
    }
    if (is_one_of(name, {"--host", "-host", "-H", "--hosts", "-hosts"})) {
        check_hosts(name, take_values(words, at, 1)[0]);
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
        return true;
    }
    if (is_one_of(name, {"--bind-to", "-bind-to"})) {
        const std::string value = take_values(words, at, 1)[0];
        if (!is_one_of(value, {"core", "none"}))
            throw UsageError(fmt::format("sennit run: {} {}: {}", name, value, kBinding));
        words[at] = "--bind=" + value;
    }
    // The value has the form NAME VALUE or NAME=VALUE.
    if (is_one_of(name, {"-env", "-genv"})) {
        const bool is_one = at + 1 < words.size() && words[at + 1].find('=') != std::string::npos;
        const std::vector<std::string> values = take_values(words, at, is_one ? 1 : 2);
        words[at] = fmt::format("--env={}", fmt::join(values, "="));
    }
    return false;
}

void refuse_foreign(const std::string &word) {
    const char *const answer = find_foreign(kForeign, word.substr(0, word.find('=')));
    if (answer == nullptr) return;
    throw UsageError(fmt::format(
        "sennit run: there is no option \"{}\": {}; sennit run --help lists the options", word,
        answer));
}

[[noreturn]] void fail_unknown_option(const CLI::App &run, const std::string &word) {
    const std::string near = option_near(run, word.substr(0, word.find('=')));
    throw UsageError(
        fmt::format("sennit run: unknown option \"{}\"{}; sennit run --help lists the options",
                    word, near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
}

// mpirun and other libraries' oshrun accept several programs separated by colons; `run` does not.
void check_colons(const std::vector<std::string> &command) {
    for (std::size_t i = 1; i + 1 < command.size(); ++i) {
        if (command[i] != ":") continue;
        throw UsageError(fmt::format(
            "sennit run: several programs in one job (\":\" before \"{}\") are not supported; a "
            "script can choose: sennit run -n 2 sh -c 'test $SENNIT_RANK = 0 && exec ./a; exec "
            "./b'; "
            "to hand \":\" to the program: sennit run -n 2 -- {} ...",
            command[i + 1], command[0]));
    }
}

std::vector<std::string> subcommand_names(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::App *one : app.get_subcommands([](const CLI::App *) { return true; }))
        names.push_back(one->get_name());
    return names;
}

}  // namespace

void check_subcommand(const CLI::App &app, const std::string &word, const std::string &caller,
                      const std::string &kind) {
    if (!word.empty() && word[0] == '-') return;
    const std::vector<std::string> names = subcommand_names(app);
    if (std::find(names.begin(), names.end(), word) != names.end()) return;
    throw UsageError(fmt::format("{}: unknown {} \"{}\"; there are {}", caller, kind, word,
                                 fmt::join(names, ", ")));
}

void fail_without_subcommand(const CLI::App &app, const std::string &caller,
                             const std::string &kind) {
    throw UsageError(fmt::format("{0}: which {1}? There are {2}; see {0} --help", caller, kind,
                                 fmt::join(subcommand_names(app), ", ")));
}

std::string check_seconds(const std::string &text) {
    constexpr double kMost = 9e9;  // the limit of nanoseconds in 64 bits
    double seconds = 0;
    const char *end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, seconds);
    const bool fits = error == std::errc() && rest == end && seconds > 0 && seconds <= kMost;
    return fits ? "" : fmt::format("must be a number of seconds above 0, not \"{}\"", text);
}

CLI::Validator size_validator(std::uint64_t least, std::uint64_t most) {
    const auto to_bytes = [least, most](std::string &text) {
        std::string number = text;
        try {
            if (CLI::AsSizeValue(false)(number).empty()) {
                const std::uint64_t bytes = std::stoull(number);
                if (bytes % 8 == 0 && bytes >= least && bytes <= most) {
                    text = number;
                    return std::string();
                }
            }
        } catch (const std::exception &) {
            // No number, or out of range: reported below.
        }
        return fmt::format("must be multiples of 8 from {} to {}, such as 64K, not \"{}\"", least,
                           most < kMostBytes ? fmt::format("{}M", most >> 20) : "1G", text);
    };
    return {to_bytes, "SIZE"};
}

std::vector<std::string> split_off_program(const CLI::App &run, std::vector<std::string> &words) {
    std::size_t options_end = 0;  // words before it stay
    std::size_t program = 0;
    bool is_literal = false;  // after --
    while (program < words.size()) {
        std::string &word = words[program];
        if (word == "--") {
            ++program;
            is_literal = true;
            break;
        }
        if (word.size() < 2 || word[0] != '-') break;
        if (translate_foreign(words, program)) continue;
        refuse_foreign(word);
        // The option of mpirun, also as -np2. CLI11 would read it as -n with the value "p2".
        if (word.starts_with("-np") && word.find_first_not_of("=0123456789", 3) == word.npos)
            word = (word.size() == 3 || word[3] == '=' ? "--np" : "--np=") + word.substr(3);
        const bool is_long = word[1] == '-';
        const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
        const CLI::Option *option = run.get_option_no_throw(name);
        const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
        const bool has_more = name.size() < word.size();
        // -tag cannot be a group of short flags, because -h is the only short option without a
        // value.
        if (option == nullptr || (has_more && !takes_value)) fail_unknown_option(run, word);
        program += takes_value && !has_more ? 2 : 1;
        options_end = std::min(program, words.size());
    }
    const auto begin = words.begin();
    const auto first = begin + static_cast<std::ptrdiff_t>(std::min(program, words.size()));
    std::vector<std::string> command(first, words.end());
    if (!is_literal) check_colons(command);
    words.erase(begin + static_cast<std::ptrdiff_t>(options_end), words.end());
    return command;
}

}  // namespace sennit::cli
