#include "result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace apps {

std::string Result::text_of(double value) {
    return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null";
}

std::string Result::quoted(const std::string &text) {
    return nlohmann::json(text).dump();
}

void Result::add(const std::string &name, const std::vector<double> &values) {
    std::string text;
    for (const double value : values)
        text += (text.empty() ? "" : ",") + text_of(value);
    fields_.emplace_back(name, "[" + text + "]");
}

std::string Result::json() const {
    std::string text;
    for (const auto &[name, value] : fields_)
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", quoted(name), value);
    return "{" + text + "}\n";
}

std::string Result::table() const {
    std::size_t width = 0;
    for (const auto &[name, value] : fields_)
        width = std::max(width, name.size());
    std::string text;
    for (const auto &[name, value] : fields_) {
        const bool is_text = value.front() == '"';
        const std::string shown = is_text ? value.substr(1, value.size() - 2) : value;
        text += fmt::format("{:<{}}  {}\n", name, width, shown);
    }
    return text;
}

}  // namespace apps
