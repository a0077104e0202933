// tests/topology/json_test.cpp - both JSON forms, and the places in their errors.
#include <gtest/gtest.h>

#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

void expect_error(std::string_view text, int rank_count, const std::string& expected) {
    const Result<Tree> tree = tree_from_json(text, rank_count);
    ASSERT_FALSE(tree.ok()) << text;
    EXPECT_EQ(tree.status().code(), Code::invalid_argument);
    EXPECT_NE(tree.status().message().find(expected), std::string::npos) << tree.status().message();
}

TEST(Json, NestedFormKeepsNamesKindsAndFigures) {
    const Result<Tree> tree = tree_from_json(R"({"kind": "switch", "name": "top", "children": [
        {"kind": "host", "name": "n1", "bandwidth_gbytes_per_s": 12.5, "latency_us": 1.5, "children": [{"rank": 0}, {"rank": 1}]},
        {"rank": 2}]})",
                                             3);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_EQ(expression_of(*tree), "((0 1)2)");
    EXPECT_EQ(tree->vertex(0).name, "top");
    EXPECT_EQ(tree->vertex(1).kind, VertexKind::host);
    EXPECT_EQ(tree->vertex(1).uplink.bandwidth_gbytes_per_s, 12.5);
    EXPECT_EQ(tree->vertex(1).uplink.latency_us, 1.5);
}

TEST(Json, FlatListReadsInAnyOrder) {
    const Result<Tree> tree = tree_from_json(R"({"vertices": [
        {"id": "r2", "parent": "top", "rank": 2},
        {"id": 7, "parent": "top", "kind": "host", "name": "n1", "bandwidth_gbytes_per_s": 0.05},
        {"id": "r0", "parent": 7, "rank": 0}, {"id": "r1", "parent": 7, "rank": 1},
        {"id": "top", "parent": null, "kind": "switch"}]})",
                                             3);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_EQ(expression_of(*tree), "(2(0 1))");
    EXPECT_EQ(tree->vertex(2).uplink.bandwidth_gbytes_per_s, 0.05);
}

TEST(Json, SyntaxErrorsGiveLineAndColumn) {
    expect_error("{\"rank\": 0,\n  oops}", -1, "parse error at line 2, column 3");
    expect_error("", -1, "parse error at line 1, column 1");
    expect_error("{\"children\": [{\"rank\": 0}", -1, "unexpected end of input");
    expect_error("{\"rank\": 0} {}", -1, "parse error at line 1, column 13");
    expect_error("{\"rank\": 0, \"latency_us\": 1e999}", -1, "number overflow");
    expect_error("{\"name\": \"\xff\", \"rank\": 0}", -1, "parse error at line 1");
}

TEST(Json, FieldErrorsGiveThePointer) {
    expect_error("[]", -1, "/: found an array, expected an object");
    expect_error(R"({"children": [{"rank": 0}, 5]})", -1,
                 "/children/1: found 5, expected an object");
    expect_error(R"({"children": [{"rank": 0}, {"rank": "1"}]})", -1,
                 "/children/1/rank: found \"1\", expected a rank");
    expect_error(R"({"rank": 0.5})", -1, "/rank: found 0.5, expected a rank");
    expect_error(R"({"rank": -1})", -1, "/rank: found -1, expected a rank");
    expect_error(R"({"rank": 18446744073709551615})", -1,
                 "/rank: found 18446744073709551615, expected a rank");
    expect_error(R"({"rank": 0, "kind": "hsot"})", -1, "/kind: \"hsot\" is no vertex kind");
    expect_error(R"({"rank": 0, "name": 3})", -1, "/name: found 3, expected a string");
    expect_error(R"({"rank": 0, "bandwidth": 3})", -1, "/bandwidth: unknown key");
    expect_error(R"({"children": [{"rank": 0, "bandwidth_gbytes_per_s": -2}, {"rank": 1}]})", -1,
                 "/children/0/bandwidth_gbytes_per_s: found -2, expected a finite number that is "
                 "not negative");
    expect_error(R"({"rank": 0, "latency_us": "fast"})", -1, "/latency_us: found \"fast\"");
    expect_error(R"({"children": 3})", -1, "/children: found 3, expected an array");
}

TEST(Json, ARankThatOthersHangOnIsOneMoreBranch) {
    const auto nested = tree_from_json(R"({"rank": 2, "children": [{"rank": 0}, {"rank": 1}]})", 3);
    ASSERT_TRUE(nested.ok()) << nested.status().message();
    EXPECT_EQ(expression_of(*nested), "(2 0 1)");
    const auto flat = tree_from_json(R"({"vertices": [{"id": 7, "rank": 0},
        {"id": 8, "parent": 7, "rank": 1}, {"id": 9, "parent": 8, "rank": 2}]})",
                                     3);
    ASSERT_TRUE(flat.ok()) << flat.status().message();
    EXPECT_EQ(expression_of(*flat), "(0(1 2))");
}

TEST(Json, ShapeErrorsGiveThePointer) {
    expect_error("{}", -1, "/: has neither rank nor children");
    expect_error(R"({"children": []})", -1, "/children: is empty");
    expect_error(R"({"rank": 0, "children": []})", -1, "/children: is empty");
    expect_error(R"({"rank": 0, "children": [{"rank": 0}]})", -1,
                 "/children/0/rank: rank 0 is there twice");
    expect_error(R"({"children": [{"rank": 0}, {"children": [{"rank": 0}]}]})", -1,
                 "/children/1/children/0/rank: rank 0 is there twice");
    expect_error(R"({"children": [{"rank": 0}, {"rank": 4}]})", 3,
                 "/children/1/rank: rank 4 is unknown: there are 3 ranks, 0 to 2");
    expect_error(R"({"children": [{"rank": 0}, {"rank": 1}]})", 3, "rank 2 is missing");
    expect_error(R"({"kind": "rank", "children": [{"rank": 0}]})", -1,
                 "is of kind rank but does not say which rank it is");
}

TEST(Json, FlatListErrorsGiveThePointer) {
    const auto list = [](const std::string& rest) {
        return R"({"vertices": [{"id": 0}, )" + rest + "]}";
    };
    expect_error(R"({"vertices": []})", -1, "/vertices: is empty");
    expect_error(R"({"vertices": 3})", -1, "/vertices: found 3, expected an array");
    expect_error(R"({"vertices": [], "children": []})", -1, "vertices stands alone");
    expect_error(list(R"({"parent": 0, "rank": 0})"), -1, "/vertices/1: has no id");
    expect_error(list(R"({"id": [], "rank": 0})"), -1,
                 "/vertices/1/id: found an array, expected a string or an integer");
    expect_error(list(R"({"id": 1, "parent": 9, "rank": 0})"), -1,
                 "/vertices/1/parent: unknown vertex 9");
    expect_error(list(R"({"id": 1, "parent": "0", "rank": 0})"), -1,
                 "/vertices/1/parent: unknown vertex \"0\"");
    expect_error(list(R"({"id": 1, "rank": 0})"), -1,
                 "/vertices/1: a second root (a vertex without parent): the first is /vertices/0");
    expect_error(list(R"({"id": 0, "parent": 0, "rank": 0})"), -1,
                 "/vertices/1/id: not a tree: the vertex 0 is already at /vertices/0");
    expect_error(list(R"({"id": 1, "parent": [0, 0], "rank": 0})"), -1,
                 "/vertices/1/parent: not a tree: a vertex has one parent");
    expect_error(list(R"({"id": 1, "parent": 0, "rank": 0}, {"id": 2, "parent": 0})"), -1,
                 "/vertices/2: has no rank");
    expect_error(list(R"({"id": 1, "parent": 0, "rank": 0}, {"id": 2, "parent": 0, "rank": 0})"),
                 -1, "/vertices/2/rank: rank 0 is there twice");
}

TEST(Json, CyclesAreShown) {
    expect_error(
        R"({"vertices": [{"id": "a", "parent": "c"}, {"id": "b", "parent": "a"}, {"id": "c", "parent": "b"},
        {"id": "top"}, {"id": "r", "parent": "top", "rank": 0}]})",
        -1, "/vertices/0/parent: the parents run in a cycle: \"a\" -> \"c\" -> \"b\" -> \"a\"");
    expect_error(R"({"vertices": [{"id": 1, "parent": 1, "rank": 0}]})", -1,
                 "/vertices/0/parent: the parents run in a cycle: 1 -> 1");
}

TEST(Json, HostileNestingIsRefusedNotFollowed) {
    std::string nested;
    for (int i = 0; i < 100'000; ++i) nested += R"({"children":[)";
    expect_error(nested, -1, "deeper than the 1024 levels");
    expect_error(R"({"kind":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}", -1,
                 "deeper than the 1024 levels");
    nested += R"({"rank":0})";
    for (int i = 0; i < 100'000; ++i) nested += "]}";
    expect_error(nested, -1, "deeper than the 1024 levels");
    std::string flat = R"({"vertices":[{"id":0})";
    for (int i = 1; i <= 100'000; ++i)
        flat += R"(,{"id":)" + std::to_string(i) + R"(,"parent":)" + std::to_string(i - 1) + "}";
    expect_error(flat + R"(,{"id":"r","parent":100000,"rank":0}]})", -1,
                 "deeper than the 1024 levels");
}

TEST(JsonProperty, RandomTreesReadBackEqual) {
    test::Random random(21);
    for (int i = 0; i < 2000; ++i) {
        const Tree tree = test::random_tree(random, 24);
        const Result<Tree> back = tree_from_json(json_of(tree), tree.rank_count());
        ASSERT_TRUE(back.ok()) << back.status().message();
        ASSERT_EQ(back->serialize(), tree.serialize());
    }
}

TEST(Json, ALeafWithoutKindIsARank) {
    const Result<Tree> tree =
        tree_from_json(R"({"children": [{"rank": 0}, {"kind": "gpu", "rank": 1}]})", 2);
    ASSERT_TRUE(tree.ok());
    EXPECT_EQ(tree->vertex(1).kind, VertexKind::rank);
    EXPECT_EQ(tree->vertex(2).kind, VertexKind::gpu);
}

}  // namespace
}  // namespace gradcoll
