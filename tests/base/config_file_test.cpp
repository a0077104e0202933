// Files of settings: what a line may look like, and what is said about those that cannot be read.
#include "base/config_file.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>

namespace gradcoll {
namespace {

using std::string_literals::operator""s;

ConfigFile parsed(std::string_view text) {
    return parse_config(text, "run.conf");
}

std::string only_complaint(const ConfigFile& file) {
    return file.complaints.size() == 1 ? file.complaints[0]
                                       : std::to_string(file.complaints.size()) + " complaints";
}

TEST(ConfigFile, EverySpellingOfANameIsTheSameSetting) {
    for (const OptionInfo& row : option_table()) {
        if (row.id == OptionId::config_file || is_part(row)) continue;
        std::string small(row.variable);
        for (char& c : small) c = static_cast<char>(std::tolower(c));
        for (const std::string& name : {std::string(row.variable), small, small.substr(3),
                                        std::string(row.variable.substr(3))}) {
            const ConfigFile file = parsed(name + "=x");
            ASSERT_EQ(file.entries.size(), 1U) << name;
            EXPECT_EQ(file.entries[0].option, row.id);
            EXPECT_TRUE(file.complaints.empty());
        }
    }
}

TEST(ConfigFile, LinesHaveNumbersWhateverStandsBetween) {
    const ConfigFile file =
        parsed("\xEF\xBB\xBFGC_CODEC=2:4\r\n\r\n# comment\r\n\tlog = info \r\n");
    ASSERT_EQ(file.entries.size(), 2U);
    EXPECT_EQ(file.entries[0].text, "2:4");
    EXPECT_EQ(file.entries[0].line, 1);
    EXPECT_EQ(file.entries[1].text, "info");
    EXPECT_EQ(file.entries[1].line, 4);
    EXPECT_TRUE(file.complaints.empty());
}

TEST(ConfigFile, CommentsBeginAtABlankAndQuotesKeepThem) {
    const std::pair<const char*, const char*> cases[] = {{"tuning_file = a#b.json", "a#b.json"},
                                                         {"tuning_file = a #b.json", "a"},
                                                         {"tuning_file = # nothing", ""},
                                                         {"tuning_file = \"a #b\" # c", "a #b"},
                                                         {"tuning_file = 'say \"x\"'", "say \"x\""},
                                                         {"tuning_file = ''", ""},
                                                         {"tuning_file = \" a \"", " a "},
                                                         {"tuning_file = a=b", "a=b"},
                                                         {"tuning_file = it's", "it's"}};
    for (const auto& [line, value] : cases) {
        const ConfigFile file = parsed(line);
        ASSERT_EQ(file.entries.size(), 1U) << line;
        EXPECT_EQ(file.entries[0].text, value) << line;
    }
}

TEST(ConfigFile, LinesThatCannotBeReadAreNamedAndTheOthersCount) {
    const std::pair<const char*, const char*> cases[] = {
        {"GC_CODEC 2:4", "run.conf:2: 'GC_CODEC 2:4' is ignored; allowed is NAME = VALUE"},
        {"gc_min_byte = 1",
         "run.conf:2: gc_min_byte is not a setting and is ignored; did you mean "
         "GC_COMPRESS_BYTES?"},
        {"= 1", "run.conf:2: '= 1' is ignored; allowed is NAME = VALUE"},
        {"codec = \"2:4", "run.conf:2: the quote of codec is not closed; ignored"},
        {"codec = \"2:4\" x", "run.conf:2: 'x' follows the quotes of codec; ignored"},
        {"engine = ring,thread=2",
         "run.conf:2: GC_ENGINE=ring,thread=2: 'thread=' is no word of GC_ENGINE; allowed: "
         "threads=, bytes=, pack=, coordinator=, replan=, stall=; ignored"},
        {"config_file = other",
         "run.conf:2: GC_CONFIG_FILE cannot be set in the file itself and is ignored"}};
    for (const auto& [line, complaint] : cases) {
        const ConfigFile file = parsed("log = info\n"s + line + "\ncheck = local\n");
        EXPECT_EQ(only_complaint(file), complaint);
        ASSERT_EQ(file.entries.size(), 2U) << line;
        EXPECT_EQ(file.entries[1].line, 3);
    }
}

TEST(ConfigFile, OfANameGivenTwiceTheLastCountsWithAComplaint) {
    const ConfigFile file = parsed("codec=1:4\nGC_CODEC=2:4\n");
    ASSERT_EQ(file.entries.size(), 1U);
    EXPECT_EQ(file.entries[0].text, "2:4");
    EXPECT_EQ(file.entries[0].line, 2);
    EXPECT_EQ(only_complaint(file), "run.conf:2: GC_CODEC is set again and replaces line 1");
}

TEST(ConfigFile, LinesOfOneSettingMayNameDifferentParts) {
    const ConfigFile file =
        parsed("engine = ring\nengine = threads=2\nengine = threads=3,bytes=8M\n");
    ASSERT_EQ(file.entries.size(), 3U);
    EXPECT_EQ(file.entries[0].text, "ring");
    EXPECT_EQ(file.entries[1].text, "3");
    EXPECT_EQ(only_complaint(file),
              "run.conf:3: GC_ENGINE=threads is set again and replaces line 2");
}

TEST(ConfigFile, LongLinesAndBinaryAndHugeFilesAreRefused) {
    const std::string long_line = "codec=" + std::string(longest_config_line, 'x');
    const ConfigFile with_long_line = parsed(long_line + "\nlog=info");
    EXPECT_EQ(with_long_line.entries.size(), 1U);
    EXPECT_NE(only_complaint(with_long_line).find("run.conf:1: a line of 65542 bytes"),
              std::string::npos);
    const ConfigFile binary = parsed("log=info\ncod\0ec=2:4\n"s);
    EXPECT_TRUE(binary.entries.empty());
    EXPECT_EQ(only_complaint(binary),
              "run.conf is ignored: line 2 holds a NUL byte, so it is no text");
    std::string huge(largest_config_bytes, '\n');
    EXPECT_TRUE(parsed(huge).complaints.empty());
    huge += "\n";
    EXPECT_EQ(only_complaint(parsed(huge)), "run.conf is ignored: it is larger than 1048576 bytes");
}

TEST(ConfigFile, ManyComplaintsAreCounted) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "nonsense\n";
    const ConfigFile file = parsed(text);
    EXPECT_EQ(file.complaints.size(), 21U);
    EXPECT_EQ(file.complaints.back(), "run.conf: 980 more complaints");
}

class FilesOnDisk : public testing::Test {
  protected:
    FilesOnDisk() { std::filesystem::create_directory(folder); }
    ~FilesOnDisk() override { std::filesystem::remove_all(folder); }
    std::string written(const std::string& text) const {
        const std::string path = folder / "a.conf";
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("gradcoll-config-" + std::to_string(getpid()));
};

TEST_F(FilesOnDisk, AreReadWhole) {
    const ConfigFile file = read_config_file(written("codec = 2:4"));
    ASSERT_EQ(file.entries.size(), 1U);
    EXPECT_EQ(file.entries[0].text, "2:4");
    EXPECT_TRUE(read_config_file(written("")).complaints.empty());
    EXPECT_NE(only_complaint(read_config_file(written(std::string(largest_config_bytes + 1, '#'))))
                  .find("larger"),
              std::string::npos);
}

TEST_F(FilesOnDisk, WhatIsNoFileIsNamed) {
    EXPECT_NE(only_complaint(read_config_file(folder / "none")).find("No such file"),
              std::string::npos);
    EXPECT_NE(only_complaint(read_config_file(folder)).find("Is a directory"), std::string::npos);
    EXPECT_NE(only_complaint(read_config_file("/dev/zero")).find("it is a character device"),
              std::string::npos);
    EXPECT_FALSE(read_config_file(std::string(100'000, 'x')).complaints.empty());
    EXPECT_FALSE(read_config_file(written("") + "/below").complaints.empty());
}

}  // namespace
}  // namespace gradcoll
