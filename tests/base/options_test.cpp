// The settings of this process.
#include "base/options.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <utility>

namespace gradcoll {
namespace {

TEST(OptionLayers, ValuesOfTheProcessAreCheckedDownHere) {
    const std::pair<OptionId, const char*> bad[] = {{OptionId::log, "loud"},
                                                    {OptionId::cpu, "sse9"},
                                                    {OptionId::yield, "maybe"},
                                                    {OptionId::enable, "2"},
                                                    {OptionId::dump_config, "please"},
                                                    {OptionId::report, "xml"},
                                                    {OptionId::report_error, "-1"},
                                                    {OptionId::report_error, "1000001"},
                                                    {OptionId::report_callsites, "yes"},
                                                    {OptionId::trace_spans, "0"},
                                                    {OptionId::trace_spans, "100000001"},
                                                    {OptionId::device, "cuda"},
                                                    {OptionId::device, "libplugin.so"}};
    for (const auto& [id, value] : bad) {
        const Status status = check_process_option(id, value);
        ASSERT_FALSE(status.ok()) << value;
        EXPECT_EQ(status.message(), fmt::format("{}={} is not allowed: {}", info_of(id).variable,
                                                value, info_of(id).allowed));
    }
    for (const char* device : {"auto", "off", "./libplugin.so", "/opt/lib/libplugin.so"})
        EXPECT_TRUE(check_process_option(OptionId::device, device).ok()) << device;
    for (const OptionInfo& row : option_table())
        EXPECT_TRUE(row.default_value.empty() ||
                    check_process_option(row.id, row.default_value).ok())
            << row.variable;
}

TEST(OptionsOfProcess, AreReadOnceWhicheverThreadComesFirst) {
    ASSERT_EQ(setenv("GC_CODEC", "2:4", 1), 0);
    std::vector<const std::string*> seen(8);
    std::vector<std::thread> threads;
    for (auto& slot : seen) threads.emplace_back([&slot] { slot = &option_text(OptionId::codec); });
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(setenv("GC_CODEC", "bf16", 1), 0);
    for (const auto* text : seen) EXPECT_EQ(text, seen[0]);
    EXPECT_EQ(option_text(OptionId::codec), "2:4");
    EXPECT_EQ(options_of_process().source(OptionId::codec), OptionSource::environment);
}

}  // namespace
}  // namespace gradcoll
