// nic/agent/system_status.hpp - what the system says where a call of it fails.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/status.hpp"

namespace gradcoll {

inline Status system_status(Code code, const char* step, int number = errno) {
    return {code, fmt::format("{}: {}", step, std::strerror(number))};
}

}  // namespace gradcoll
