#include "base/log.hpp"

#include <atomic>
#include <cstdio>

#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr int no_rank = -1;  // less than any
std::atomic<int> log_rank{no_rank};

bool speaks_for_job() {
    return log_rank.load(std::memory_order_relaxed) <= 0;
}

/// Returns the level of the process. It must not ask for the level, which it is about to make.
LogLevel level_of_process() {
    const OptionSet& options = options_of_process();
    if (speaks_for_job())
        for (const std::string& complaint : unlogged_complaints(options, OptionId::log))
            log_line(LogLevel::warn, complaint);
    const Result<LogLevel> level = parse_log_level(options.text(OptionId::log));
    return level.ok() ? *level : LogLevel::warn;
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
    for (const LogLevel level :
         {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug, LogLevel::trace})
        if (text == name_of(level)) return level;
    const OptionInfo& info = info_of(OptionId::log);
    return bad_value(info.variable, text, info.allowed);
}

bool log_enabled(LogLevel level) {
    static const LogLevel highest = level_of_process();
    return level <= highest;
}

/// Writes the whole line in one call: the C library lets no other in between.
void log_line(LogLevel level, const std::string& text) {
    const int rank = log_rank.load(std::memory_order_relaxed);
    const std::string who = rank == no_rank ? "gradcoll" : fmt::format("gradcoll[{}]", rank);
    const std::string line = fmt::format("{} {}: {}\n", who, name_of(level), text);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

LogLevel warn_once_a_job() {
    return speaks_for_job() ? LogLevel::warn : LogLevel::debug;
}

void warn_about_options(const OptionSet& set) {
    for (const std::string& complaint : unlogged_complaints(set, std::nullopt))
        log(LogLevel::warn, "{}", complaint);
}

void warn_about_option(const OptionSet& set, OptionId only) {
    if (!speaks_for_job()) return;
    for (const std::string& complaint : unlogged_complaints(set, only))
        log(LogLevel::warn, "{}", complaint);
}

void set_log_rank(int rank) {
    log_rank.store(rank, std::memory_order_relaxed);
}

}  // namespace gradcoll
