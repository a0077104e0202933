// What GC_DUMP_CONFIG prints.
#include "settings/config_dump.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/config_file.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

/// Returns what is in the line of a setting, with one blank for many.
std::string line_of(const std::string& table, const std::string& name) {
    const std::size_t begin = table.find("\n" + name + " ") + 1;
    std::string line;
    for (const char c : table.substr(begin, table.find('\n', begin) - begin))
        if (c != ' ' || line.empty() || line.back() != ' ') line += c;
    return line;
}

const std::vector<std::string_view> environment = {"GC_COMPRESS_BYTES=1M", "GC_ENGINE=threads=2",
                                                   "GC_TRACE=a #b.json", "GC_REPORT=file='x',y",
                                                   "GC_CONFIG_FILE=run.conf"};

OptionSet example() {
    return OptionSet(environment, parse_config("codec = 2:4\ncompress_bytes = 2M\n", "run.conf"));
}

TEST(ConfigTable, EverySettingHasALineWithValueAndPlace) {
    const std::string table = config_table(example());
    for (const OptionInfo& row : option_table())
        EXPECT_NE(is_part(row),
                  table.find("\n" + std::string(row.variable) + " ") != std::string::npos ||
                      row.id == OptionId::config_file)
            << row.variable;
    EXPECT_EQ(line_of(table, "GC_ENGINE"), "GC_ENGINE = tree,threads=2 # environment");
    EXPECT_EQ(line_of(table, "GC_COMPRESS_BYTES"), "GC_COMPRESS_BYTES = 1M # environment");
    EXPECT_EQ(line_of(table, "GC_CODEC"), "GC_CODEC = 2:4 # run.conf:1");
    EXPECT_EQ(line_of(table, "GC_LOG"), "GC_LOG = warn # default");
    EXPECT_EQ(line_of(table, "GC_TUNING_FILE"), "GC_TUNING_FILE = # default");
    EXPECT_EQ(line_of(table, "# GC_CONFIG_FILE"), "# GC_CONFIG_FILE = run.conf # environment");
}

TEST(ConfigTable, ReadsAsAFileThatSaysTheSame) {
    const OptionSet set = example();
    const ConfigFile file = parse_config(config_table(set), "dump");
    EXPECT_TRUE(file.complaints.empty()) << file.complaints[0];
    const OptionSet again({}, file);
    for (const OptionInfo& row : option_table()) {
        if (row.id == OptionId::config_file) continue;
        EXPECT_EQ(again.text(row.id), set.text(row.id));
    }
}

TEST(ConfigTable, IsPrintedByRank0OnceAndOnlyIfAskedFor) {
    const auto run = [](const char* wanted) {
        setenv("GC_DUMP_CONFIG", wanted, 1);
        setenv("GC_COMPRESS_BYTES", "lots", 1);
        dump_config_once(1);
        dump_config_once(0);
        dump_config_once(0);
        std::exit(0);
    };
    EXPECT_EXIT(run("1"), testing::ExitedWithCode(0),
                "^# settings of gradcoll[^\n]*\n(GC_|# GC_CONFIG_FILE)([^\n]*\n)+$");
    EXPECT_EXIT(run("1"), testing::ExitedWithCode(0), "GC_COMPRESS_BYTES +=[ ]64K +# default");
    EXPECT_EXIT(run("off"), testing::ExitedWithCode(0), "^$");
    EXPECT_EXIT(run("please"), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace gradcoll
