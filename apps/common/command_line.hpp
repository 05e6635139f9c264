// The options of an application: names, variables and bounds, read from the command line.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace apps {

// Add options first, then call parse(). It sets the variables of the given options; the others keep
// their values, which are the defaults. If an option is given twice, the last value counts.
class CommandLine {
  public:
    CommandLine(const std::string &program, const std::string &about);
    ~CommandLine();

    // A name is `--name`; values outside the bounds are refused.
    struct Bounds {
        std::int64_t least, most;
    };
    void number(const char *name, std::int64_t &value, Bounds bounds, const char *help);
    struct RealBounds {
        double least, most;
    };
    void real(const char *name, double &value, RealBounds bounds, const char *help);
    // Three numbers, written X,Y,Z.
    void triple(const char *name, std::array<std::int64_t, 3> &value, Bounds bounds,
                const char *help);
    void word(const char *name, std::string &value, const std::vector<std::string> &choices,
              const char *help);
    // Any word.
    void text(const char *name, std::string &value, const char *help);
    void flag(const char *name, bool &value, const char *help);

    // An option that names an INI file with lines `name = value`. An unknown name in the file is an
    // error. The command line overrides the file.
    void config(const char *name, const char *help);

    // False for --help: the program then prints help() and ends. Throws Failure with the error.
    bool parse(int argc, const char *const *argv);
    std::string help() const;

  private:
    std::unique_ptr<CLI::App> app_;
};

}  // namespace apps
