// Messages on standard error. A write that fails is ignored.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace sennit::cli {

// fmt::print throws if the write fails, for example on a full disk, and the program would then
// abort.
template <class... Values>
void print_error(fmt::format_string<Values...> text, Values &&...values) {
    std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), stderr);
}

}  // namespace sennit::cli
