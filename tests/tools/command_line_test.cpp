// tests/tools/command_line_test.cpp - what all command lines share: how they end if there is
// nothing to run.
#include "command_line/option_parser.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "command_line/forms.hpp"

namespace gradcoll {
namespace {

struct Numbers {
    int number = 0;
};

CommandLine<Numbers> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "elsewhere/prog");
    OptionParser app("Counts.", "prog");
    CommandLine<Numbers> line;
    app.add_option("--number", line.options.number, "how many")->in_range(1, 9);
    app.parse_into(line, static_cast<int>(words.size()), words.data(), [&] {
        return line.options.number == 4 ? Problem("--number 4: allowed are others") : Problem();
    });
    return line;
}

void expect_end(const CommandLine<Numbers>& line, int exit_status, const std::string& text) {
    EXPECT_FALSE(line.run);
    EXPECT_EQ(line.exit_status, exit_status);
    EXPECT_EQ(line.text, text);
}

TEST(CommandLine, WhatIsRightRuns) {
    const auto line = parse({"--number", "5"});
    EXPECT_TRUE(line.run);
    EXPECT_EQ(line.exit_status, 0);
    EXPECT_EQ(line.text, "");
    EXPECT_EQ(line.options.number, 5);
}

TEST(CommandLine, ErrorsAreOneLineWithTheNameOfTheProgram) {
    expect_end(parse({"--bogus"}), 2,
               "prog: The following argument was not expected: --bogus; prog --help shows how it "
               "is used\n");
    expect_end(parse({"--number", "4"}), 2, "prog: --number 4: allowed are others\n");
    const auto line = parse({"--number", "a\nb"});
    EXPECT_EQ(line.exit_status, 2);
    EXPECT_EQ(line.text.find('\n'), line.text.size() - 1) << line.text;
}

TEST(CommandLine, HelpAndVersionAreNoErrors) {
    const auto version = parse({"--version"});
    EXPECT_EQ(version.exit_status, 0);
    EXPECT_EQ(version.text.rfind("prog of Gradcoll ", 0), 0) << version.text;
    const auto line = parse({"--help"});
    EXPECT_FALSE(line.run);
    EXPECT_EQ(line.exit_status, 0);
    EXPECT_NE(line.text.find("Usage: prog"), std::string::npos) << line.text;
    EXPECT_NE(line.text.find("how many"), std::string::npos) << line.text;
}

TEST(CommandLine, FormsThatAreNotKnownAreNamedWithThoseThatAre) {
    constexpr Forms<int, 2> forms = {{{"text", 3}, {"dot", 8}}};
    int form = 0;
    EXPECT_EQ(find_form("--draw", "dot", forms, form), std::nullopt);
    EXPECT_EQ(form, 8);
    EXPECT_EQ(find_form("--draw", "svg", forms, form),
              "--draw svg: allowed are text, dot; Graphviz makes pictures of dot: dot -Tsvg");
    EXPECT_EQ(form, 8);
}

TEST(CommandLine, WhatABodyThrowsEndsTheProgramWithItsName) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(guarded(
                  "prog", [](int count, char**) { return count; }, 7, nullptr),
              7);
    EXPECT_EQ(
        guarded(
            "prog", [](int, char**) -> int { throw std::invalid_argument("no sofa"); }, 0, nullptr),
        1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "prog: no sofa\n");
}

struct Paints {
    std::string colour = "red";
    std::vector<std::string> rooms;
    double litres = 1;
    std::uint64_t bytes = 0;
    bool twice = false;
};

CommandLine<Paints> parse_paints(std::vector<const char*> words) {
    words.insert(words.begin(), "prog");
    OptionParser app("Paints.", "prog");
    CommandLine<Paints> line;
    Paints& paints = line.options;
    auto* colour = app.add_option("-c,--colour", paints.colour, "of the walls")
                       ->one_of({"red", "green"})
                       ->capture_default_str();
    app.add_option("--rooms", paints.rooms)->delimiter(',')->check([](const std::string& room) {
        return room == "hall" ? "the hall is done" : "";
    });
    auto* litres = app.add_option("--litres", paints.litres)->positive()->needs(colour);
    app.add_option("--bytes", paints.bytes)->size_in_bytes()->excludes(litres);
    app.add_flag("--twice", paints.twice, "two coats")->excludes("--bytes");
    app.parse_into(line, static_cast<int>(words.size()), words.data(),
                   [&] { return app.count("--colour") > 1 ? Problem("one colour") : Problem(); });
    return line;
}

TEST(OptionParser, WhatIsSaidArrives) {
    const auto line =
        parse_paints({"-c", "green", "--rooms", "attic,cellar", "--litres", "2.5", "--twice"});
    ASSERT_TRUE(line.run) << line.text;
    EXPECT_EQ(line.options.colour, "green");
    EXPECT_EQ(line.options.rooms, (std::vector<std::string>{"attic", "cellar"}));
    EXPECT_EQ(line.options.litres, 2.5);
    EXPECT_TRUE(line.options.twice);
    EXPECT_EQ(parse_paints({"--bytes", "64K"}).options.bytes, 65536u);
}

TEST(OptionParser, WhatIsWrongIsNamed) {
    const std::pair<std::vector<const char*>, const char*> wrong[] = {
        {{"--colour", "blue"}, "--colour: blue not in {red,green}"},
        {{"--rooms", "attic,hall"}, "--rooms: the hall is done"},
        {{"-c", "red", "--litres", "0"}, "--litres: 0 must be a number above 0;"},
        {{"--litres", "1"}, "--litres requires --colour"},
        {{"--bytes", "1", "--twice"}, "--bytes excludes --twice"},
        {{"--bytes", "much"}, "--bytes"}};
    for (const auto& [words, said] : wrong) {
        const auto line = parse_paints(words);
        EXPECT_EQ(line.exit_status, usage_error);
        EXPECT_NE(line.text.find(said), std::string::npos) << said << ": " << line.text;
    }
}

TEST(OptionParser, HelpTellsDefaults) {
    const auto line = parse_paints({"--help"});
    EXPECT_EQ(line.exit_status, 0);
    EXPECT_NE(line.text.find("-c,--colour TEXT:{red,green}=red"), std::string::npos) << line.text;
}

TEST(CommandLine, FilesAreWrittenOrTheOptionIsNamed) {
    const std::string path =
        testing::TempDir() + "gradcoll_command_line_" + std::to_string(getpid());
    EXPECT_EQ(write_file("--out", path, "two\nlines\n"), std::nullopt);
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "two\nlines\n");
    ::unlink(path.c_str());
    EXPECT_EQ(write_file("--out", "/nonexistent/file", "text"),
              "--out /nonexistent/file cannot be written: No such file or directory");
}

}  // namespace
}  // namespace gradcoll
