// tests/tools/options_test.cpp - the command line of gradcoll info, and the names of MPI's types
// and ops.
#include "options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace gradcoll::info {
namespace {

CommandLine parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "gradcoll info");
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// Returns the one line for a refused command line; empty if it was accepted.
std::string refusal_of(const std::vector<const char*>& arguments) {
    const CommandLine line = parse(arguments);
    if (line.run) return {};
    EXPECT_EQ(line.exit_status, 2) << line.text;
    EXPECT_EQ(std::count(line.text.begin(), line.text.end(), '\n'), 1) << line.text;
    EXPECT_EQ(line.text.rfind("gradcoll info: ", 0), 0U) << line.text;
    return line.text;
}

::testing::AssertionResult names(const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        if (text.find(word) == std::string::npos)
            return ::testing::AssertionFailure() << "'" << text << "' does not name " << word;
    return ::testing::AssertionSuccess();
}

TEST(Options, NothingSaidMeansOverview) {
    const CommandLine line = parse({});
    EXPECT_TRUE(line.run);
    EXPECT_EQ(line.options.mode, Mode::overview);
    EXPECT_FALSE(line.options.json);
}

TEST(Options, ModesTakeTheirValuesOrDoWithout) {
    EXPECT_EQ(parse({"--settings"}).options.pattern, "*");
    EXPECT_EQ(parse({"--settings", "GC_*BYTES"}).options.pattern, "GC_*BYTES");
    EXPECT_EQ(parse({"--topology"}).options.tree_format, GC_TREE_TEXT);
    EXPECT_EQ(parse({"--topology", "dot"}).options.tree_format, GC_TREE_DOT);
    EXPECT_EQ(parse({"--topology", "--format", "dot"}).options.tree_format, GC_TREE_DOT);
    EXPECT_EQ(parse({"--topology", "expression"}).options.tree_format, GC_TREE_EXPRESSION);
    EXPECT_EQ(parse({"--topology", "--json"}).options.tree_format, GC_TREE_JSON);
    EXPECT_EQ(parse({"--topology", "--ranks", "7"}).options.ranks, 7);
}

TEST(Options, APlanTakesACountATypeACodecAndAForm) {
    const Options options = parse({"--topology", "--plan", "16M", "--type", "f64", "--codec", "2:4",
                                   "--format", "dot", "-o", "plan.dot"})
                                .options;
    EXPECT_EQ(options.mode, Mode::topology);
    EXPECT_TRUE(options.plan);
    EXPECT_EQ(options.plan_count, std::uint64_t{16} << 20);
    EXPECT_EQ(options.type->name, "double");
    EXPECT_EQ(options.codec, "2:4");
    EXPECT_EQ(options.plan_format, GC_PLAN_DOT);
    EXPECT_EQ(options.output_file, "plan.dot");
    EXPECT_EQ(parse({"--topology", "--plan", "9"}).options.type->name, "float");
    EXPECT_EQ(parse({"--topology", "--plan", "9", "--json"}).options.plan_format, GC_PLAN_JSON);
    EXPECT_FALSE(parse({"--topology"}).options.plan);
}

TEST(Options, ExplainTakesSizeTypeAndOp) {
    const Options options =
        parse({"--explain", "64MiB", "MPI_FLOAT", "sum", "--codec", "2:4"}).options;
    EXPECT_EQ(options.mode, Mode::explain);
    EXPECT_EQ(options.size_bytes, std::uint64_t{64} << 20);
    EXPECT_EQ(options.type->name, "float");
    EXPECT_EQ(options.op->name, "sum");
    EXPECT_EQ(options.codec, "2:4");
}

TEST(Options, WhatIsWrongIsNamedWithWhatIsAllowed) {
    EXPECT_TRUE(names(refusal_of({"--bogus"}), {"--bogus"}));
    EXPECT_TRUE(names(refusal_of({"word"}), {"word"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "bmp"}),
                      {"--topology", "bmp", "text, json, dot, expression"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "svg"}),
                      {"--topology svg", "text, json, dot, expression", "Graphviz", "dot -Tsvg"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "--format", "bmp"}), {"--format bmp", "dot"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "dot", "--format", "json"}),
                      {"--format json", "--topology dot"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "expression", "--plan", "9"}),
                      {"--topology expression", "text, json, dot", "dot -Tsvg"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "--plan", "many"}), {"--plan many", "elements"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "--plan", "9", "--type", "flaot"}),
                      {"--type flaot", "did you mean float?"}));
    EXPECT_TRUE(names(refusal_of({"--plan", "9"}), {"--plan", "--topology"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "--type", "float"}), {"--type", "--plan"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "--codec", "2:4"}), {"--codec", "--plan"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "dot", "--json"}), {"--json", "dot"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "--ranks", "0"}), {"--ranks", "0"}));
    EXPECT_TRUE(names(refusal_of({"--topology", "--ranks", "many"}), {"--ranks", "many"}));
    EXPECT_TRUE(names(refusal_of({"--ranks", "4"}), {"--ranks 4", "--topology", "--explain"}));
    EXPECT_TRUE(names(refusal_of({"--codec", "2:4"}), {"--codec", "--explain"}));
    EXPECT_TRUE(names(refusal_of({"--settings", "--topology"}), {"--settings", "--topology"}));
}

TEST(Options, ABadCallIsNamedByItsPart) {
    EXPECT_TRUE(names(refusal_of({"--explain", "64MB", "float", "sum"}), {"SIZE", "64MB"}));
    EXPECT_TRUE(names(refusal_of({"--explain", "-1", "float", "sum"}), {"-1"}));
    EXPECT_TRUE(names(refusal_of({"--explain", "1K", "flaot", "sum"}),
                      {"TYPE", "flaot", "did you mean float?", "bfloat16"}));
    EXPECT_TRUE(names(refusal_of({"--explain", "1K", "float", "MPI_SUMM"}),
                      {"OP", "MPI_SUMM", "did you mean sum?", "maxloc"}));
    EXPECT_TRUE(
        names(refusal_of({"--explain", "6", "float", "sum"}), {"SIZE 6", "float", "4 bytes"}));
    EXPECT_TRUE(names(refusal_of({"--explain", "1K", "float"}), {"--explain"}));
}

TEST(Options, HelpAndVersionEndWell) {
    const CommandLine help = parse({"--help"});
    EXPECT_FALSE(help.run);
    EXPECT_EQ(help.exit_status, 0);
    EXPECT_TRUE(names(help.text, {"Examples", "--settings", "--topology", "--explain", "--ranks",
                                  "--codec", "--json", "--version"}));
    const CommandLine version = parse({"--version"});
    EXPECT_EQ(version.exit_status, 0);
    EXPECT_TRUE(names(version.text, {"Gradcoll"}));
}

TEST(Names, AreFoundWithOrWithoutPrefixInAnyCase) {
    for (const char* name : {"float", "FLOAT", "MPI_FLOAT", "mpi_float", "fp32", "float32"})
        EXPECT_EQ(find_type(name)->name, "float") << name;
    for (const char* name : {"half", "fp16", "float16", "GC_FLOAT16"})
        EXPECT_EQ(find_type(name)->name, "half") << name;
    EXPECT_EQ(find_type("GC_BFLOAT16")->name, "bfloat16");
    EXPECT_EQ(find_op("MPI_LAND")->name, "land");
    EXPECT_EQ(find_type("floats"), nullptr);
    EXPECT_EQ(find_op(""), nullptr);
}

TEST(Names, AreUnique) {
    std::set<std::string_view> seen;
    for (const TypeName& type : type_names())
        EXPECT_TRUE(seen.insert(type.name).second) << type.name;
    for (const OpName& op : op_names()) EXPECT_TRUE(seen.insert(op.name).second) << op.name;
}

}  // namespace
}  // namespace gradcoll::info
