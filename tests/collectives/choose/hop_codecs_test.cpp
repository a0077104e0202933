// tests/collectives/choose/hop_codecs_test.cpp - the codecs that remain for exchanges between hosts
// when those inside are done in memory.
#include "collectives/choose/hop_codecs.hpp"

#include <gtest/gtest.h>

#include "topology/derived_trees.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

/// The tree has two hosts of two ranks below one switch, and one host of three beside it.
class CodecsBetweenLeaders : public testing::Test {
  protected:
    std::string text_of_leaders(std::string_view codecs) {
        const auto between =
            hop_codecs_from(codecs)->between_leaders(tree_, leaders_tree_, leaders_);
        return between ? between->text() : "none";
    }

    Tree tree_ = *tree_from_expression("(((0 1) (2 3)) (4 5 6))", 7);
    std::vector<int> leaders_ = {0, 2, 4};
    Tree leaders_tree_ = *tree_of_leaders(tree_, std::vector{0, 0, 2, 2, 4, 4, 4});
};

TEST_F(CodecsBetweenLeaders, KeepTheCodecOfTheirVertexThoughItsHeightIsAnother) {
    EXPECT_EQ(text_of_leaders("2:4"), "2:4,2:4");
    EXPECT_EQ(text_of_leaders("exact,2:4"), "2:4,2:4");
    EXPECT_EQ(text_of_leaders("exact,bf16,2:4"), "bf16,2:4");
    EXPECT_EQ(text_of_leaders("between=2:4"), "2:4,2:4");
    EXPECT_EQ(text_of_leaders("exact,int8+zstd"), "int8+zstd,int8+zstd");
}

TEST_F(CodecsBetweenLeaders, AreNoneWhereNothingIsLeftToCompress) {
    EXPECT_EQ(text_of_leaders("exact"), "none");
    EXPECT_EQ(text_of_leaders("2:4,exact"), "none");
}

TEST_F(CodecsBetweenLeaders, AreNoneIfHostsAreToCompressInside) {
    EXPECT_EQ(text_of_leaders("host=bf16,switch=2:4"), "none");
}

/// These vertices have one height among leaders and two in the tree.
TEST(CodecsBetweenOtherLeaders, AreNoneIfAListByLevelCannotSayThem) {
    const Tree tree = *tree_from_expression("(((0 1) (2 3)) (4 5))", 6);
    const std::vector leader_of{0, 0, 2, 2, 4, 5};
    const Tree leaders_tree = *tree_of_leaders(tree, leader_of);
    ASSERT_EQ(expression_of(leaders_tree), "((0 1)(2 3))");
    const auto between = [&](std::string_view codecs) {
        return hop_codecs_from(codecs)->between_leaders(tree, leaders_tree, leaders_in(leader_of));
    };
    EXPECT_FALSE(between("exact,2:4").has_value());
    EXPECT_TRUE(between("2:4").has_value());
}

}  // namespace
}  // namespace gradcoll
