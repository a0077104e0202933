// nic/corrupt.hpp - what is said of bytes from another process that cannot be right.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "base/status.hpp"

namespace gradcoll {

template <class... Args>
Status corrupt(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::corrupt, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace gradcoll
