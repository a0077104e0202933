// The only file that knows which logging library we use.
#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <memory>

#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr int no_rank = -1;
std::atomic<int> log_rank{no_rank};

/// Never destroyed: communicators may be freed, and say so, while the process already leaves.
spdlog::logger& logger() {
    static spdlog::logger& instance = [&]() -> spdlog::logger& {
        auto* created =
            new spdlog::logger("gradcoll", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        created->set_pattern("%v");
        created->set_level(spdlog::level::trace);
        return *created;
    }();
    return instance;
}

/// Must not ask for the level, which it is about to make.
LogLevel level_of_process() {
    const OptionSet& options = options_of_process();
    for (const std::string& complaint : unlogged_complaints(options, OptionId::log))
        log_line(LogLevel::warn, complaint);
    const Result<LogLevel> level = parse_log_level(options.text(OptionId::log));
    return level.ok() ? *level : LogLevel::warn;
}

spdlog::level::level_enum in_spdlog(LogLevel level) {
    constexpr spdlog::level::level_enum levels[] = {spdlog::level::err, spdlog::level::warn,
                                                    spdlog::level::info, spdlog::level::debug,
                                                    spdlog::level::trace};
    return levels[static_cast<int>(level)];
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

void log_line(LogLevel level, const std::string& text) {
    const int rank = log_rank.load(std::memory_order_relaxed);
    const std::string who = rank == no_rank ? "gradcoll" : fmt::format("gradcoll[{}]", rank);
    logger().log(in_spdlog(level), "{} {}: {}", who, name_of(level), text);
}

void warn_about_options(const OptionSet& set, std::optional<OptionId> only) {
    for (const std::string& complaint : unlogged_complaints(set, only))
        log(LogLevel::warn, "{}", complaint);
}

void set_log_rank(int rank) {
    log_rank.store(rank, std::memory_order_relaxed);
}

}  // namespace gradcoll
