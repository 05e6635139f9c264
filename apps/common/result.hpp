// The result of a run: named values, printed as one JSON object on one line or as a table for
// people. Rank 0 fills and prints it.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace apps {

class Result {
  public:
    // In the order in which they are printed.
    template <typename Value>
    void add(const std::string &name, const Value &value) {
        if constexpr (std::is_same_v<Value, bool>) {
            fields_.emplace_back(name, value ? "true" : "false");
        } else if constexpr (std::is_integral_v<Value>) {
            fields_.emplace_back(name, std::to_string(value));
        } else if constexpr (std::is_floating_point_v<Value>) {
            fields_.emplace_back(name, text_of(static_cast<double>(value)));
        } else {
            fields_.emplace_back(name, quoted(value));
        }
    }
    void add(const std::string &name, const std::vector<double> &values);

    // Both end with a new line.
    std::string json() const;
    std::string table() const;

  private:
    // A value that is not a number (infinite, undefined) becomes null: JSON has no other form for
    // it.
    static std::string text_of(double value);
    static std::string quoted(const std::string &text);

    std::vector<std::pair<std::string, std::string>> fields_;  // values are written as in JSON
};

}  // namespace apps
