// What every program's command line has in common: how it ends where there is nothing to run.
#include "tools/command_line/command_line.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "tools/command_line/forms.hpp"

namespace gradcoll {
namespace {

struct Numbers {
    int number = 0;
};

CommandLine<Numbers> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "elsewhere/prog");
    CLI::App app("Counts.", "prog");
    CommandLine<Numbers> line;
    app.add_option("--number", line.options.number, "how many")->check(CLI::Range(1, 9));
    parse_into(line, app, static_cast<int>(words.size()), words.data(), [&] {
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
