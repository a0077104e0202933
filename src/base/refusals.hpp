// base/refusals.hpp - a Status with a formatted message, for files that refuse many things.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "base/status.hpp"

namespace gradcoll {

/// Says what cannot be right of bytes from another process.
template <class... Args>
Status corrupt(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::corrupt, fmt::format(format, std::forward<Args>(args)...)};
}

/// Says what is wrong with an argument.
template <class... Args>
Status invalid(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::invalid_argument, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace gradcoll
