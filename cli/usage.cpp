// Looking at the words of the command line before they are parsed: see usage.hpp.
#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace sennit::cli {
namespace {

// How many letters must be put in, left out or replaced to make one word of the other.
std::size_t letters_apart(const std::string &one, const std::string &other) {
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

// The long option that was probably meant, empty if none is near.
std::string option_near(const CLI::App &app, const std::string &word) {
    constexpr std::size_t kNear = 2;
    std::string nearest;
    std::size_t least = kNear + 1;
    if (word.size() <= kNear + 1) return nearest;  // so short that anything would be near
    for (const CLI::Option *option : app.get_options()) {
        for (const std::string &name : option->get_lnames()) {
            const std::size_t apart = letters_apart(word, "--" + name);
            if (apart < least) {
                least = apart;
                nearest = "--" + name;
            }
        }
    }
    return nearest;
}

// What people write who know mpirun or mpiexec, and what takes its place here.
struct Foreign {
    const char *name;
    const char *answer;
};
constexpr Foreign kForeign[] = {
    {"--bind-to", "use --bind share, core or none"},
    {"-bind-to", "use --bind share, core or none"},
    {"--map-by", "use --bind share, core or none"},
    {"--oversubscribe", "not needed: there may be more ranks than CPUs"},
    {"--allow-run-as-root", "not needed"},
    {"--hostfile", "ranks start on this machine only; use mpirun or srun for several"},
    {"--host", "ranks start on this machine only; use mpirun or srun for several"},
    {"-hosts", "ranks start on this machine only; use mpirun or srun for several"},
    {"-H", "ranks start on this machine only; use mpirun or srun for several"},
    {"-env", "use --env NAME=VALUE"},
    {"-genv", "use --env NAME=VALUE"},
    {"--tag-output", "use --tag"},
    {"-prepend-rank", "use --tag"},
    {"-l", "use --tag"},
};

const char *answer_to_foreign(const std::string &word) {
    const std::string name = word.substr(0, word.find('='));
    for (const Foreign &one : kForeign)
        if (name == one.name) return one.answer;
    return nullptr;
}

[[noreturn]] void fail_unknown_option(const CLI::App &run, const std::string &word) {
    if (const char *answer = answer_to_foreign(word); answer != nullptr)
        throw UsageError(fmt::format(
            "sennit run: there is no option \"{}\": {}; sennit run --help lists the options", word,
            answer));
    const std::string near = option_near(run, word.substr(0, word.find('=')));
    throw UsageError(fmt::format(
        "sennit run: unknown option \"{0}\"{1}; sennit run --help lists them; a program whose "
        "name begins with -: sennit run -n 2 -- {0}",
        word, near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
}

// mpirun and the oshrun of others start several programs with a colon between them.
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
    constexpr double kMost = 9e9;  // what nanoseconds in 64 bits can tell
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
            // No number, or one beyond all bounds: said below.
        }
        return fmt::format("must be multiples of 8 from {} to {}, such as 64K, not \"{}\"", least,
                           most < kMostBytes ? fmt::format("{}M", most >> 20) : "1G", text);
    };
    return {to_bytes, "SIZE"};
}

std::vector<std::string> split_off_program(const CLI::App &run, std::vector<std::string> &words) {
    std::size_t options_end = 0;  // words before it stay
    std::size_t program = 0;
    bool is_literal = false;  // behind --
    while (program < words.size()) {
        std::string &word = words[program];
        if (word == "--") {
            ++program;
            is_literal = true;
            break;
        }
        if (word.size() < 2 || word[0] != '-') break;
        // As mpirun has it. CLI11 would read -n with the value "p".
        if (word == "-np") word = "--np";
        const bool is_long = word[1] == '-';
        const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
        const CLI::Option *option = run.get_option_no_throw(name);
        const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
        const bool has_more = name.size() < word.size();
        // -tag is no cluster of flags: there is one letter that takes no value, and it is -h.
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
