// tests/topology/draw_test.cpp - golden drawings of written trees (tests/golden/topologies).
#include "topology/draw/draw.hpp"

#include <gtest/gtest.h>

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
                                         "flat_list"));

TEST(DrawText, FoldsRanksWithEqualLinksOnly) {
    const Result<Tree> tree = tree_from_json(
        R"({"children": [{"rank": 0}, {"rank": 1}, {"rank": 2, "latency_us": 3}, {"rank": 4},
        {"rank": 3}, {"rank": 5}]})",
        6);
    EXPECT_EQ(draw_text(*tree),
              "group: 6 branches, 6 ranks\n  ranks 0-1\n  rank 2; uplink 3 us\n  ranks 4, 3, 5\n");
}

TEST(DrawText, OneRankIsOneLine) {
    EXPECT_EQ(draw_text(Tree::flat(1)), "rank 0\n");
}

TEST(Draw, NamesCanNeitherEndAStringNorStartALine) {
    TreeSpec spec;
    spec.name = "a\"];\nb\\";
    spec.children.resize(2);
    spec.children[0].rank = 0;
    spec.children[1].rank = 1;
    const Tree tree = std::move(Tree::make(spec)).value();
    EXPECT_EQ(draw_text(tree), "group \"a\\\"];?b\\\\\": 2 branches, 2 ranks\n  ranks 0-1\n");
    EXPECT_NE(draw_dot(tree).find(R"(v0 [label="group \"a\\\"];?b\\\\\"\n2 branches"];)"),
              std::string::npos)
        << draw_dot(tree);
}

}  // namespace
}  // namespace gradcoll
