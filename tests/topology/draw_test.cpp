// tests/topology/draw_test.cpp - golden drawings of written trees (tests/golden/topologies), and
// properties of the drawings of any tree.
#include "topology/draw/draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "topology/draw/words.hpp"
#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

class Drawing : public testing::TestWithParam<const char*> {};

TEST_P(Drawing, OfAJsonTreeIsTheGoldenOne) {
    const std::string name = GetParam();
    const Result<Tree> tree =
        tree_from_json(test::file_bytes(test::golden_path(name + ".json")), -1);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    test::expect_golden(name + ".txt", draw_text(*tree));
    test::expect_golden(name + ".dot", draw_dot(*tree));
    test::expect_golden(name + ".normal.json", json_of(*tree));
    test::expect_golden(name + ".expression", expression_of(*tree) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Topologies, Drawing,
                         testing::Values("two_and_three", "lopsided_cluster", "odd_names",
                                         "flat_list", "four_kinds_of_hosts", "plafrim_fabric"));

Tree written(const std::string& expression) {
    return std::move(tree_from_expression(expression, -1)).value();
}

TEST(DrawText, FoldsRanksWithEqualLinksOnly) {
    const Result<Tree> tree = tree_from_json(
        R"({"children": [{"rank": 0}, {"rank": 1}, {"rank": 2, "latency_us": 3}, {"rank": 4},
        {"rank": 3}, {"rank": 5}]})",
        6);
    EXPECT_EQ(draw_text(*tree),
              "group: 6 branches, 6 ranks\n  ranks 0-1, 4, 3, 5\n  rank 2; uplink 3 us\n");
}

TEST(DrawText, OneRankIsOneLine) {
    EXPECT_EQ(draw_text(Tree::flat(1)), "rank 0\n");
}

TEST(DrawText, HostsThatDifferByNumbersAreOneLine) {
    EXPECT_EQ(draw_text(written("switch:top(host:n1(0-3) host:n2(4-7) host:n3(8-11))")),
              "switch \"top\": 3 branches, 12 ranks\n"
              "  x3 host \"n[1-3]\": 4 branches, 4 ranks each; ranks 0-11\n");
}

TEST(DrawText, AlikeIsWhatDiffersByRanksNumbersInNamesAndOrderOnly) {
    const auto lines = [](const std::string& expression) {
        const std::string text = draw_text(written(expression));
        return std::count(text.begin(), text.end(), '\n');
    };
    EXPECT_EQ(lines("(host:n1((0 1)2) host:n2(3(5 4)))"), 4);  // group, x2 host, group, rank
    EXPECT_GT(lines("(host:n1((0 1)2) host:m2(3(5 4)))"), 4);  // other letters
    EXPECT_GT(lines("(host:n1((0 1)2) group:n2(3(5 4)))"), 4);
    EXPECT_GT(lines("(host:n1((0 1)2) host:n2(3(5 4 6)))"), 4);
}

TEST(DrawText, ALongListInNoOrderIsToldAscending) {
    std::vector<int> ranks(64);
    std::iota(ranks.begin(), ranks.end(), 0);
    test::Random random(3);
    std::shuffle(ranks.begin(), ranks.end(), random);
    TreeSpec spec;
    for (const int rank : ranks) {
        spec.children.emplace_back();
        spec.children.back().rank = rank;
    }
    EXPECT_EQ(draw_text(std::move(Tree::make(spec)).value()),
              "group: 64 branches, 64 ranks\n  ranks 0-63 in another order\n");
}

TEST(DrawDot, TheHeadingCountsHostsOfOneRank) {
    const auto has = [](const char* expression, const char* heading) {
        const Tree tree = std::move(tree_from_expression(expression, -1)).value();
        return draw_dot(tree).find(std::string("label=\"") + heading + "\\l\"") !=
               std::string::npos;
    };
    EXPECT_TRUE(has("switch(host:a(0 1) host:b(2) host:c(3))", "4 ranks on 3 hosts"));
    EXPECT_TRUE(has("switch(host:a(0 1) host:b(2 3))", "4 ranks on 2 hosts"));
    EXPECT_TRUE(has("switch(host:a(0 1) 2 3)", "4 ranks"));  // no host of 2 and 3 is named
    EXPECT_TRUE(has("0", "1 rank"));
}

TEST(Words, NamesHaveTheNumberThatDiffersInBrackets) {
    EXPECT_EQ(common_name({"n1", "n2", "n3", "n7"}), "n[1-3,7]");
    EXPECT_EQ(common_name({"r1n09-ib0", "r1n10-ib0"}), "r1n[09-10]-ib0");
    EXPECT_EQ(common_name({"a", "a"}), "a");
    EXPECT_EQ(common_name({"r1n1", "r2n2"}), "r1n1 ... r2n2");
    EXPECT_EQ(common_name({"n1", "n01"}), "n1 ... n01");
    EXPECT_EQ(common_name({"n99999999999", "n2"}), "n99999999999 ... n2");
}

TEST(Words, NumbersAreRangesAndSteps) {
    const auto list = [](std::vector<int> numbers) { return number_list(numbers); };
    EXPECT_EQ(list({5}), "5");
    EXPECT_EQ(list({0, 1, 2, 7, 9, 10}), "0-2, 7, 9-10");
    EXPECT_EQ(list({0, 4, 8, 12, 13}), "0-12 step 4, 13");
    EXPECT_EQ(list({3, 2, 1, 0}), "3, 2, 1, 0");
}

TEST(DrawText, LinkFiguresHaveNoExponentWhereTheyAreLarge) {
    EXPECT_EQ(link_figures_text({23950, 0.0012}, ", "), "23950 GB/s, 0.0012 us");
    EXPECT_EQ(link_figures_text({12.5, 12345.6}, ", "), "12.5 GB/s, 12346 us");
}

TEST(Words, BytesAndTimesHaveThreeDigits) {
    EXPECT_EQ(bytes_words(0), "0 B");
    EXPECT_EQ(bytes_words(999), "999 B");
    EXPECT_EQ(bytes_words(53'687'091), "51.2 MiB");
    EXPECT_EQ(bytes_words(999'600), "976 KiB");
    EXPECT_EQ(bytes_words(1'048'576), "1 MiB");
    EXPECT_EQ(time_words(0.6), "0.6 us");
    EXPECT_EQ(time_words(4295), "4.29 ms");
    EXPECT_EQ(time_words(2.5e6), "2.5 s");
}

TEST(Draw, NamesCanNeitherEndAStringNorStartALine) {
    TreeSpec spec;
    spec.name = "a\"];\nb\\";
    spec.children.resize(2);
    spec.children[0].rank = 0;
    spec.children[1].rank = 1;
    const Tree tree = std::move(Tree::make(spec)).value();
    EXPECT_EQ(draw_text(tree), "group \"a\\\"];?b\\\\\": 2 branches, 2 ranks\n  ranks 0-1\n");
    EXPECT_NE(draw_dot(tree).find(
                  R"(v0 [label="group \"a\\\"];?b\\\\\"\n2 branches, 2 ranks", fillcolor)"),
              std::string::npos)
        << draw_dot(tree);
}

}  // namespace
}  // namespace gradcoll
