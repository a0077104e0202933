// Who tells whom, and what a group that is gathered from has in common.
#include "engine/circle.hpp"

#include <gtest/gtest.h>

#include "engine/gathering.hpp"
#include "engine/host_circles.hpp"

namespace gradcoll {
namespace {

std::vector<std::pair<int, int>> members_of(const Circle& circle) {
    std::vector<std::pair<int, int>> members;
    for (const Member& member : circle.members)
        members.emplace_back(member.rank, member.stands_for);
    return members;
}

using Members = std::vector<std::pair<int, int>>;

TEST(Circle, FlatOnesTellRank0) {
    EXPECT_EQ(members_of(flat_circle(0, 3)), (Members{{0, 1}, {1, 1}, {2, 1}}));
    EXPECT_TRUE(flat_circle(0, 3).coordinates());
    const Circle circle = flat_circle(2, 3);
    EXPECT_EQ(circle.parent, 0);
    EXPECT_FALSE(circle.gathers());
}

TEST(Circle, HostsTellThroughTheirLowestRank) {
    const Tree tree = tree_of_hosts({{3, 1, 5}, {0, 4}, {2}});
    const Circle top = circle_of_hosts(tree, 0);
    EXPECT_TRUE(top.coordinates());
    EXPECT_EQ(members_of(top), (Members{{0, 1}, {4, 1}, {1, 3}, {2, 1}}));
    const Circle leader = circle_of_hosts(tree, 1);
    EXPECT_EQ(leader.parent, 0);
    EXPECT_EQ(members_of(leader), (Members{{1, 1}, {3, 1}, {5, 1}}));
    EXPECT_EQ(circle_of_hosts(tree, 5).parent, 1);
    EXPECT_EQ(circle_of_hosts(tree, 4).parent, 0);
    EXPECT_EQ(circle_of_hosts(tree, 2).parent, 0);
    EXPECT_FALSE(circle_of_hosts(tree, 2).gathers());
}

TEST(Circle, WithoutHostsItIsFlat) {
    const Tree tree = Tree::flat(4);
    EXPECT_EQ(members_of(circle_of_hosts(tree, 0)), members_of(flat_circle(0, 4)));
    EXPECT_EQ(circle_of_hosts(tree, 3).parent, 0);
}

Ready ready_of(int rank, std::uint64_t shape) {
    Ready ready;
    ready.name = "w";
    ready.rank = rank;
    ready.shape = shape;
    ready.shape_text = std::to_string(shape) + " elements";
    ready.priority = rank;
    ready.pack = 9;
    return ready;
}

TEST(Gathering, CompleteOnesHaveTheHighestPriority) {
    Gathering gathering(circle_of_hosts(tree_of_hosts({{0}, {1, 2}}), 1).members);
    EXPECT_EQ(*gathering.add(1, ready_of(2, 7), 0), nullptr);
    GatheredGradient* const complete = *gathering.add(0, ready_of(1, 7), 0);
    ASSERT_NE(complete, nullptr);
    EXPECT_EQ(complete->ready.priority, 2);
    EXPECT_EQ(complete->ready.pack, 9U);
    EXPECT_TRUE(complete->ready.error.empty());
    EXPECT_EQ(gathering.add(1, ready_of(2, 7), 0).status().code(), Code::corrupt) << "twice";
    Gathering::release(*complete);
    EXPECT_TRUE(gathering.add(1, ready_of(2, 7), 0).ok());
}

/// The error names the ranks that differ, not those that told of them.
TEST(Gathering, DifferencesAreNamedByRankOverSeveralHops) {
    const Tree tree = tree_of_hosts({{0}, {1, 2}});
    Gathering host(circle_of_hosts(tree, 1).members);
    Gathering top(circle_of_hosts(tree, 0).members);
    ASSERT_TRUE(host.add(0, ready_of(1, 7), 0).ok());
    const Ready told = (*host.add(1, ready_of(2, 8), 0))->ready;
    ASSERT_TRUE(top.add(1, told, 0).ok());
    const Ready known = (*top.add(0, ready_of(0, 7), 0))->ready;
    EXPECT_EQ(known.error, "gradient \"w\": rank 1 has 7 elements, rank 2 has 8 elements");
    EXPECT_EQ(known.pack, 0U);
}

TEST(Gathering, StallsNameHostsByTheirLeader) {
    Gathering top(circle_of_hosts(tree_of_hosts({{0, 3}, {1, 2}}), 0).members);
    ASSERT_TRUE(top.add(0, ready_of(0, 7), 0).ok());
    EXPECT_EQ(
        top.stalls(60'000'000'000, 60'000'000'000),
        std::vector<std::string>{
            "gradient \"w\" waits for 3 of 4 ranks since 60 s: 3, 1 (or others of its host)"});
}

TEST(Gathering, NumbersAreGivenInTurn) {
    Gathering gathering({{0, 1}});
    EXPECT_TRUE(gathering.give_number("a", 0).ok());
    EXPECT_EQ(gathering.give_number("b", 2).code(), Code::corrupt);
    Ready ready;
    ready.number = 0;
    EXPECT_EQ((*gathering.add(0, ready, 0))->name, "a");
    ready.number = 1;
    EXPECT_EQ(gathering.add(0, ready, 0).status().code(), Code::corrupt);
}

}  // namespace
}  // namespace gradcoll
