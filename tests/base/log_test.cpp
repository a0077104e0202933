// What reaches stderr. Every case runs in a process of its own: the level is read once per process.
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

using testing::ExitedWithCode;

/// Runs `body` and leaves; meant for EXPECT_EXIT, which compares stderr.
[[noreturn]] void leave_after(const char* level, const std::function<void()>& body) {
    setenv("GC_LOG", level, 1);
    body();
    std::exit(0);
}

TEST(Log, ALineNamesRankLevelAndText) {
    EXPECT_EXIT(leave_after("info",
                            [] {
                                set_log_rank(3);
                                log(LogLevel::info, "{} ranks", 5);
                            }),
                ExitedWithCode(0), "^gradcoll\\[3\\] info: 5 ranks\n$");
}

TEST(Log, WithoutARankTheBracketIsMissing) {
    EXPECT_EXIT(leave_after("warn", [] { log(LogLevel::warn, "odd {{}}"); }), ExitedWithCode(0),
                "^gradcoll warn: odd \\{\\}\n$");
}

TEST(Log, LinesAboveTheLevelAreLeftOut) {
    EXPECT_EXIT(leave_after("warn",
                            [] {
                                log(LogLevel::info, "not this");
                                log(LogLevel::error, "this");
                            }),
                ExitedWithCode(0), "^gradcoll error: this\n$");
}

TEST(Log, ABadLevelIsReportedOnceAndCountsAsWarn) {
    EXPECT_EXIT(
        leave_after("loud",
                    [] {
                        log(LogLevel::info, "not this");
                        log(LogLevel::warn, "this");
                    }),
        ExitedWithCode(0),
        "^gradcoll warn: environment: GC_LOG=loud is not allowed: error, warn, info, debug, trace; "
        "ignored, warn \\(default\\) holds\n"
        "gradcoll warn: this\n$");
}

TEST(Log, LinesOfSeveralThreadsDoNotMix) {
    EXPECT_EXIT(leave_after("warn",
                            [] {
                                std::vector<std::thread> threads;
                                for (int t = 0; t < 4; ++t)
                                    threads.emplace_back([] {
                                        for (int i = 0; i < 50; ++i)
                                            log(LogLevel::warn, "{}", std::string(200, 'x'));
                                    });
                                for (auto& thread : threads) thread.join();
                            }),
                ExitedWithCode(0), "^(gradcoll warn: x+\n)+$");
}

TEST(Log, ABadLevelIsNotReportedAgainWithAllTheOthers) {
    EXPECT_EXIT(leave_after("loud",
                            [] {
                                setenv("GC_YIELD", "maybe", 1);
                                log(LogLevel::info, "not this");
                                warn_about_options(options_of_process());
                            }),
                ExitedWithCode(0),
                "^gradcoll warn: environment: GC_LOG=loud [^\n]*\n"
                "gradcoll warn: environment: GC_YIELD=maybe is not allowed: auto, on, off; "
                "ignored, auto \\(default\\) holds\n$");
}

TEST(Log, UnknownVariablesAreReportedOnce) {
    EXPECT_EXIT(leave_after("warn",
                            [] {
                                setenv("GC_CODECC", "1", 1);
                                warn_about_options(options_of_process());
                                warn_about_options(options_of_process());
                            }),
                ExitedWithCode(0),
                "^gradcoll warn: the environment variable GC_CODECC is not a setting and is "
                "ignored; did you mean "
                "GC_CODEC\\?\n$");
}

TEST(ParseLogLevel, KnowsEveryWordThatTheTableAllows) {
    for (const std::string_view word : split_at_commas(info_of(OptionId::log).allowed))
        EXPECT_EQ(name_of(*parse_log_level(word)), word);
}

TEST(ParseLogLevel, KnowsEveryNameItPrints) {
    for (const LogLevel level :
         {LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug, LogLevel::trace})
        EXPECT_EQ(*parse_log_level(name_of(level)), level);
    EXPECT_EQ(parse_log_level("Info").status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace gradcoll
