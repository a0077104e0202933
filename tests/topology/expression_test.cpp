// tests/topology/expression_test.cpp - the nested expression: its meaning, and the places in its
// errors.
#include <gtest/gtest.h>

#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

std::string reread(std::string_view text, int rank_count = -1) {
    const Result<Tree> tree = tree_from_expression(text, rank_count);
    return tree.ok() ? expression_of(*tree) : tree.status().message();
}

void expect_error(std::string_view text, int rank_count, const std::string& expected) {
    const Result<Tree> tree = tree_from_expression(text, rank_count);
    ASSERT_FALSE(tree.ok()) << text;
    EXPECT_EQ(tree.status().code(), Code::invalid_argument);
    EXPECT_EQ(tree.status().message(), "topology expression: " + expected);
}

TEST(Expression, TwoAndThree) {
    const Result<Tree> tree = tree_from_expression("((0 1) (2 3 4))", 5);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_EQ(tree->vertex_count(), 8);
    EXPECT_EQ(expression_of(*tree), "((0 1)(2-4))");
}

TEST(Expression, CommasAndLineBreaksAreSpaces) {
    EXPECT_EQ(reread("\n(0,1,\n\t2 ,3)\n", 4), "(0-3)");
}

TEST(Expression, RangesStandForTheirRanks) {
    EXPECT_EQ(reread("((0-1)(2-2 3-9))", 10), "((0 1)(2-9))");
    EXPECT_EQ(reread("(2-4 0 1)"), "(2-4 0 1)");
}

TEST(Expression, OneRankNeedsNoParenthesis) {
    EXPECT_EQ(reread("0", 1), "0");
    EXPECT_EQ(reread("(((0)))", 1), "0");
}

TEST(Expression, KindAndNameStandBeforeTheParenthesis) {
    const Result<Tree> tree = tree_from_expression("switch:top.1(host:n-1(0 1) package(2 3))", 4);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_EQ(tree->vertex(0).kind, VertexKind::fabric_switch);
    EXPECT_EQ(tree->vertex(0).name, "top.1");
    EXPECT_EQ(tree->vertex(1).kind, VertexKind::host);
    EXPECT_EQ(tree->vertex(1).name, "n-1");
    EXPECT_EQ(tree->vertex(4).kind, VertexKind::package);
    EXPECT_EQ(tree->vertex(4).name, "");
}

TEST(Expression, RankErrorsPointAtTheRank) {
    expect_error("((0 1)\n (2 1))", -1,
                 "line 2, column 5: rank 1 is there twice, first at line 1, column 5");
    expect_error("(0-3 5 2-4)", -1,
                 "line 1, column 8: rank 2 is there twice, first at line 1, column 2");
    expect_error("(0 1 7)", 3, "line 1, column 6: rank 7 is unknown: there are 3 ranks, 0 to 2");
    expect_error("(0 1 3)", 4,
                 "line 1, column 8: rank 2 is missing: 3 ranks are named, 0 to 3 are expected");
    expect_error("(0 2)", -1,
                 "line 1, column 6: rank 1 is missing: 2 ranks are named, 0 to 1 are expected");
    expect_error("(0 1)", 5,
                 "line 1, column 6: rank 2 is missing: 2 ranks are named, 0 to 4 are expected");
    expect_error("(0-2000000000)", -1,
                 "line 1, column 2: rank 1048576 is too large: at most 1048576 ranks are allowed");
    expect_error("(0 99999999999999999999)", -1,
                 "line 1, column 4: rank 99999999999999999999 is too large: at most 1048576 ranks "
                 "are allowed");
    expect_error("(3-0)", -1, "line 1, column 2: the range 3-0 runs backwards: write 0-3");
}

TEST(Expression, ShapeErrorsSayWhatWasFoundAndExpected) {
    expect_error("", -1, "line 1, column 1: found the end of the text, expected ( or a rank");
    expect_error(" \n ", -1, "line 2, column 2: found the end of the text, expected ( or a rank");
    expect_error("()", -1,
                 "line 1, column 2: found ), expected a rank or (: the vertex at line 1, column 1 "
                 "has no ranks");
    expect_error("((0 1) ())", -1,
                 "line 1, column 9: found ), expected a rank or (: the vertex at line 1, column 8 "
                 "has no ranks");
    expect_error("((0 1)\n (2 3)", -1,
                 "line 2, column 7: found the end of the text, expected a rank, ( or the ) that "
                 "closes the ( at line 1, column 1");
    expect_error(
        "(0 1))", -1,
        "line 1, column 6: found ), expected the end: a tree has one outermost parenthesis");
    expect_error(
        "0 1", -1,
        "line 1, column 3: found 1, expected the end: a tree has one outermost parenthesis");
    expect_error(
        "0-3", -1,
        "line 1, column 2: found -3, expected the end: a tree has one outermost parenthesis");
    expect_error("(0 -1)", -1, "line 1, column 4: found -1, expected ( or a rank");
    expect_error("(0 1-)", -1, "line 1, column 6: found ), expected the last rank of the range");
    expect_error("(0y1)", -1, "line 1, column 3: found y1, expected a space, ( or )");
    expect_error("[0 1]", -1, "line 1, column 1: found [0, expected ( or a rank");
    expect_error("(0 host:n1)", -1, "line 1, column 11: found ), expected ( after kind and name");
    expect_error("host:(0)", -1, "line 1, column 6: found (, expected a name after the colon");
    expect_error("rank(0)", -1,
                 "line 1, column 1: found rank, expected another kind, or rank:3( for a rank that "
                 "others hang on: ranks alone are plain numbers");
    expect_error("rank:n1(0)", -1,
                 "line 1, column 6: found n1, expected a rank or * after the colon");
    expect_error("rank:0", -1,
                 "line 1, column 7: found the end of the text, expected ( after kind and name");
    expect_error("rank:1(0 1)", -1,
                 "line 1, column 10: rank 1 is there twice, first at line 1, column 6");
    expect_error("(0 hst(1))", -1,
                 "line 1, column 4: \"hst\" is no vertex kind: allowed are rank, core, cache, "
                 "numa, package, bridge, gpu, host, "
                 "switch, group");
}

TEST(Expression, HostileNestingIsRefusedNotFollowed) {
    const std::string open(1'000'000, '(');
    expect_error(
        open, -1,
        "line 1, column 1025: parentheses nest deeper than the 1024 levels that are allowed");
}

TEST(Expression, RepetitionsStandForWhatTheyRepeat) {
    EXPECT_EQ(reread("(2x(3x*))"), "((0-2)(3-5))");
    EXPECT_EQ(reread("(2x (* *) 2x(2x(2x*)))"), "((0 1)(2 3)((4 5)(6 7))((8 9)(10 11)))");
    EXPECT_EQ(reread("(4x*)", 4), "(0-3)");
}

TEST(Expression, AStarIsTheLowestRankThatIsWrittenNowhere) {
    EXPECT_EQ(reread("((* 1 *) (0 *))"), "((2 1 3)(0 4))");
    expect_error("(3x*)", 2, "line 1, column 6: rank 2 is unknown: there are 2 ranks, 0 to 1");
}

TEST(Expression, ARankThatOthersHangOnIsOneMoreBranch) {
    EXPECT_EQ(reread("rank:0(1 2)"), "(0-2)");
    EXPECT_EQ(reread("switch(rank:2(0 1) rank:3((4 5) 6))"), "((2 0 1)(3(4 5)6))");
    EXPECT_EQ(reread("rank:1(0)"), "(1 0)");
    EXPECT_EQ(reread("(2x rank:*(2x*))"), "((0-2)(3-5))");
    const Result<Tree> tree = tree_from_expression("switch(rank:0(1@2)@5 2)", 3);
    ASSERT_TRUE(tree.ok());
    EXPECT_EQ(tree->vertex(tree->leaf_of(0)).uplink.bandwidth_gbytes_per_s, 0);
    EXPECT_EQ(tree->vertex(tree->leaf_of(1)).uplink.bandwidth_gbytes_per_s, 2);
    EXPECT_EQ(tree->vertex(tree->vertex(tree->leaf_of(0)).parent).uplink.bandwidth_gbytes_per_s, 5);
}

TEST(Expression, LinksStandBehindTheirItem) {
    const Result<Tree> tree = tree_from_expression("switch(2x host(2x*@6)@12.5/1.5 4-5@3 )", 6);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    const auto uplink_of = [&](int vertex) { return tree->vertex(vertex).uplink; };
    for (const int host : {1, 4}) {
        EXPECT_EQ(uplink_of(host).bandwidth_gbytes_per_s, 12.5);
        EXPECT_EQ(uplink_of(host).latency_us, 1.5);
        EXPECT_EQ(uplink_of(host + 1).bandwidth_gbytes_per_s, 6);
    }
    EXPECT_EQ(uplink_of(tree->leaf_of(4)).bandwidth_gbytes_per_s, 3);
    EXPECT_EQ(uplink_of(tree->leaf_of(5)).bandwidth_gbytes_per_s, 3);
    expect_error("((0 1)@)", -1, "line 1, column 8: found ), expected the link's GB/s");
    expect_error("((0 1)@1/x 2)", -1,
                 "line 1, column 10: found x, expected the link's latency in us");
}

TEST(Expression, WhatCannotBeRepeatedIsNamed) {
    const std::string named =
        "what is repeated has a name or a rank's number in it: leave names out and write * for "
        "each rank";
    expect_error("(2x(0 1) 3)", -1, "line 1, column 2: " + named);
    expect_error("(2x host:a(2x*))", -1, "line 1, column 2: " + named);
    expect_error("(0x1)", -1, "line 1, column 2: repeated 0 times: 1 to 1048576 are allowed");
    expect_error("(2x)", -1, "line 1, column 4: found ), expected ( or a rank");
    expect_error("(2x", -1,
                 "line 1, column 4: found the end of the text, expected what is repeated: *, ( or "
                 "a kind");
}

TEST(Expression, RepetitionsEndAtALimitBeforeTheyTakeMemory) {
    std::string text = "*";
    for (int i = 0; i < 200; ++i) text = "1000000x(" + text + ")";
    const Result<Tree> tree = tree_from_expression("(" + text + ")", -1);
    ASSERT_FALSE(tree.ok());
    EXPECT_NE(tree.status().message().find("2097152 vertices"), std::string::npos);
}

TEST(ExpressionProperty, RandomTreesReadBackWithTheSameShape) {
    test::Random random(11);
    for (int i = 0; i < 3000; ++i) {
        const Tree tree = test::random_tree(random, 40);
        const std::string text = expression_of(tree);
        const Result<Tree> back = tree_from_expression(text, tree.rank_count());
        ASSERT_TRUE(back.ok()) << text << ": " << back.status().message();
        ASSERT_EQ(back->vertex_count(), tree.vertex_count());
        for (int id = 0; id < tree.vertex_count(); ++id) {
            ASSERT_EQ(back->vertex(id).parent, tree.vertex(id).parent);
            ASSERT_EQ(back->vertex(id).rank, tree.vertex(id).rank);
        }
        ASSERT_EQ(expression_of(*back), text);
    }
}

}  // namespace
}  // namespace gradcoll
