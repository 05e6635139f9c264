// Checks the words of the command line before CLI11 parses them, so that an error names the wrong
// word. main.cpp calls the functions about words; the files of the subcommands throw UsageError,
// set the formatter and check values. Owns nothing.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sennit::cli {

// Wrong usage: main prints the sentence and ends with 2.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Help whose first line is "Usage: <name of the command> <tail>".
class UsageFormatter : public CLI::Formatter {
  public:
    explicit UsageFormatter(std::string tail) : tail_(std::move(tail)) {}
    std::string make_usage(const CLI::App *, std::string name) const override {
        return "Usage: " + name + " " + tail_ + "\n";
    }

  private:
    std::string tail_;
};

// Throws UsageError if `word` is neither an option nor a subcommand of `app`. The error begins with
// `caller`, and calls a subcommand by the noun `kind`.
void check_subcommand(const CLI::App &app, const std::string &word, const std::string &caller,
                      const std::string &kind);

// For a command without a subcommand: throws UsageError with a list of the subcommands.
[[noreturn]] void fail_without_subcommand(const CLI::App &app, const std::string &caller,
                                          const std::string &kind);

// A check of CLI11: empty for a number of seconds above 0, else the expected form.
std::string check_seconds(const std::string &text);

// The largest size of a measurement.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

// Converts a size such as 64K to bytes. It must be a multiple of 8 from `least` to `most`.
CLI::Validator size_validator(std::uint64_t least, std::uint64_t most);

// `words` are those after "run". Leaves the options of `run` in `words`, and returns the program
// with its arguments, which begin at the first word that is neither option nor value, or after
// "--". Throws UsageError for an option that `run` does not have.
std::vector<std::string> split_off_program(const CLI::App &run, std::vector<std::string> &words);

}  // namespace sennit::cli
