// base/log.hpp - lines for people on stderr, `gradcoll[rank] level: text`; level from GC_LOG
// (default warn).
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/option_set.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// LogLevel says how serious a line is. error: a call failed. warn: something the user set is
/// ignored or odd. info: once per communicator (the tree, why a call passes through). debug: once
/// per plan. trace: once per call.
enum class LogLevel : int { error, warn, info, debug, trace };

constexpr std::string_view name_of(LogLevel level) {
    constexpr std::string_view names[] = {"error", "warn", "info", "debug", "trace"};
    return names[static_cast<int>(level)];
}
/// Errors: invalid_argument naming GC_LOG, the text and the levels.
Result<LogLevel> parse_log_level(std::string_view text);

/// Returns whether lines of the level are written. It is cheap (one load) after the first call. A
/// GC_LOG that is no level is reported once and does not count. Thread safe.
bool log_enabled(LogLevel level);
/// Writes one line whatever the level is set to. Lines of several threads do not mix. Thread safe.
void log_line(LogLevel level, const std::string& text);
/// Sets the rank of this process among those of its job. It is shown in front of every line once it
/// is known.
void set_log_rank(int rank);
/// Returns the level for what all ranks of a job would say alike: warn on rank 0, and where no rank
/// is known; debug on the others.
LogLevel warn_once_a_job();

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

/// Writes the complaints of `set` that this process has not yet written, as warnings.
void warn_about_options(const OptionSet& set);
/// Writes those about one option, which is used before anybody asks for all of them; once a job.
void warn_about_option(const OptionSet& set, OptionId only);

}  // namespace gradcoll
