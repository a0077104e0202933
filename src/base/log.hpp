// base/log.hpp - lines for people on stderr, `gradcoll[rank] level: text`; level from GC_LOG (default warn).
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace gradcoll {

/// error: a call failed. warn: something the user set is ignored or odd. info: once per communicator (the tree, why a call
/// passes through). debug: once per plan. trace: once per call.
enum class LogLevel : int { error, warn, info, debug, trace };

bool log_enabled(LogLevel level);
void log_line(LogLevel level, const std::string& text);
/// Shown in front of every line once it is known.
void set_log_rank(int rank);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace gradcoll
