// tests/topology/fabric_tree_test.cpp - each rule by which a graph of switches becomes a tree.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/switch_tree.hpp"
#include "fabric_outline.hpp"

namespace gradcoll {
namespace {

/// Makes a fabric. Names that begin with a small h are hosts; "a-b a-b*4 b-h1*2.5" are cables, with
/// GB/s after *.
Fabric fabric_of(const std::string& cables, bool rooted = false) {
    FabricBuilder builder;
    builder.fabric().rooted = rooted;
    const auto node = [&](const std::string& name) {
        return name[0] == 'h' ? builder.host_named(name) : builder.switch_named(name);
    };
    std::size_t begin = 0;
    while (begin < cables.size()) {
        const std::size_t end = std::min(cables.find(' ', begin), cables.size());
        const std::string cable = cables.substr(begin, end - begin);
        const std::size_t dash = cable.find('-'), star = cable.find('*');
        const double gbytes_per_s = star == cable.npos ? 0 : std::stod(cable.substr(star + 1));
        const int a = node(cable.substr(0, dash));
        builder.add_cable(a, node(cable.substr(dash + 1, star - dash - 1)), gbytes_per_s);
        begin = end + 1;
    }
    return builder.take().value();
}

std::string outline(const std::string& cables, bool rooted = false) {
    const Result<SwitchTree> tree = switch_tree(fabric_of(cables, rooted));
    return tree ? test::outline_of(*tree) : tree.status().message();
}

constexpr bool rooted = true;

TEST(SwitchTree, ALoneLeafIsTheRoot) {
    EXPECT_EQ(outline("s-h1*2 s-h2*2"),
              "s\n"
              "  2 hosts, 2 GB/s: h[1-2]\n");
}

TEST(SwitchTree, SpinesAreOneAndTheirCablesAddUp) {
    EXPECT_EQ(outline("A-X*5 A-Y*5 B-X*5 B-Y*5 B-Y*5 A-h1 A-h2 B-h3"),
              "X,Y\n"
              "  A, 10 GB/s\n"
              "    2 hosts: h[1-2]\n"
              "  B, 15 GB/s\n"
              "    1 hosts: h3\n");
}

TEST(SwitchTree, ASpineThatLacksCablesIsOneWithTheOthers) {
    EXPECT_EQ(outline("A-X*5 B-X*5 C-X*5 A-Y*5 B-Y*5 A-h1 B-h2 C-h3"),
              "X,Y\n"
              "  A, 10 GB/s\n"
              "    1 hosts: h1\n"
              "  B, 10 GB/s\n"
              "    1 hosts: h2\n"
              "  C, 5 GB/s\n"
              "    1 hosts: h3\n");
}

TEST(SwitchTree, RailsAreOneSwitch) {
    EXPECT_EQ(outline("r1-h1*50 r2-h1*50 r1-h2*50 r2-h2*50 t-r1*100 t-r2*100 t-B*10 B-h3"),
              "t\n"
              "  r[1-2], 200 GB/s\n"
              "    2 hosts, 100 GB/s: h[1-2]\n"
              "  B, 10 GB/s\n"
              "    1 hosts: h3\n");
}

TEST(SwitchTree, AStorageHostOnTwoLeavesJoinsNothingAndHangsWhereTheyMeet) {
    EXPECT_EQ(outline("A-h1 A-h2 A-h3 A-h0*3 B-h0*3 B-h4 B-h5 B-h6 t-A*2 t-B*9"),
              "t\n"
              "  1 hosts, 5 GB/s: h0\n"
              "  A, 2 GB/s\n"
              "    3 hosts: h[1-3]\n"
              "  B, 9 GB/s\n"
              "    3 hosts: h[4-6]\n");
}

TEST(SwitchTree, AggregationSwitchesOfAPodAreOneAndPodsStayApart) {
    const std::string cables =
        "c1-a1 c1-b1 c2-a2 c2-b2 "  // each core is cabled to one aggregation switch of a pod
        "a1-A a1-B a2-A a2-B b1-C b1-D b2-C b2-D A-h1 B-h2 C-h3 D-h4";
    EXPECT_EQ(outline(cables),
              "c[1-2]\n"
              "  a[1-2]\n"
              "    A\n"
              "      1 hosts: h1\n"
              "    B\n"
              "      1 hosts: h2\n"
              "  b[1-2]\n"
              "    C\n"
              "      1 hosts: h3\n"
              "    D\n"
              "      1 hosts: h4\n");
}

TEST(SwitchTree, ASwitchBelowTwoWithHostsHangsWhereTheyMeetWithTheNarrowestOfEachWay) {
    EXPECT_EQ(outline("t-A*8 t-B*1 t-C*4 A-h1 A-h2 B-h3 B-h4 C-h6 D-A*2 D-B*2 D-h5"),
              "t\n"
              "  A, 8 GB/s\n"
              "    2 hosts: h[1-2]\n"
              "  B, 1 GB/s\n"
              "    2 hosts: h[3-4]\n"
              "  C, 4 GB/s\n"
              "    1 hosts: h6\n"
              "  D, 3 GB/s\n"  // 2 past A, and 1 past B
              "    1 hosts: h5\n");
}

TEST(SwitchTree, OfTwoConnectedSwitchesTheOneWithMoreHostsIsTheRoot) {
    EXPECT_EQ(outline("A-B*7 A-h1 B-h2 B-h3"),
              "B\n"
              "  2 hosts: h[2-3]\n"
              "  A, 7 GB/s\n"
              "    1 hosts: h1\n");
}

TEST(SwitchTree, EqualSwitchesInTheMiddleHangBelowOneMoreByTheCablesBetweenThem) {
    EXPECT_EQ(outline("A-B*7 A-h1 B-h2"),
              "(added)\n"
              "  A, 7 GB/s\n"
              "    1 hosts: h1\n"
              "  B, 7 GB/s\n"
              "    1 hosts: h2\n"
              "note: 2 switches are in the middle and hang below one more vertex\n");
}

TEST(SwitchTree, PodsThatOneCableConnectsKeepIt) {
    EXPECT_EQ(outline("X-A*9 X-B*9 Y-C*9 Y-D*9 X-Y*1 A-h1 B-h2 C-h3 D-h4"),
              "(added)\n"
              "  X, 1 GB/s\n"
              "    A, 9 GB/s\n"
              "      1 hosts: h1\n"
              "    B, 9 GB/s\n"
              "      1 hosts: h2\n"
              "  Y, 1 GB/s\n"
              "    C, 9 GB/s\n"
              "      1 hosts: h3\n"
              "    D, 9 GB/s\n"
              "      1 hosts: h4\n"
              "note: 2 switches are in the middle and hang below one more vertex\n");
}

TEST(SwitchTree, PartsThatNothingConnectsHangBelowOneMore) {
    EXPECT_EQ(outline("A-h1 B-h2 spare-unused"),
              "(added)\n"
              "  A\n"
              "    1 hosts: h1\n"
              "  B\n"
              "    1 hosts: h2\n"
              "note: 2 parts that no cable connects hang below one more vertex\n");
}

TEST(SwitchTree, SwitchesThatLeadToNoHostJoinNothing) {
    EXPECT_EQ(outline("t-A t-B A-h1 B-h2 A-spare B-other other-end"),
              "t\n"
              "  A\n"
              "    1 hosts: h1\n"
              "  B\n"
              "    1 hosts: h2\n");
}

TEST(SwitchTree, CablesWithinALevelAreLeftOutWithANote) {
    EXPECT_EQ(outline("t-A t-B t-C A-B A-B A-h1 B-h2 C-h3"),
              "t\n"
              "  A\n"
              "    1 hosts: h1\n"
              "  B\n"
              "    1 hosts: h2\n"
              "  C\n"
              "    1 hosts: h3\n"
              "note: 2 cables between switches of one level, or past a level, are left out\n");
}

TEST(SwitchTree, HostsWithoutASwitchHangOnTop) {
    EXPECT_EQ(outline("h1-h2 h1-h3"),
              "(added)\n"
              "  3 hosts: h[1-3]\n"
              "note: 2 cables lead from host to host and are left out\n"
              "note: 3 hosts have no cable to a switch and hang on top\n");
}

TEST(SwitchTree, ARootedFabricKeepsItsRootWhereverTheHostsAre) {
    EXPECT_EQ(outline("t-A t-m m-n n-B A-h1 B-h2 B-h3", rooted),
              "t\n"
              "  A\n"
              "    1 hosts: h1\n"
              "  m\n"
              "    n\n"
              "      B\n"
              "        2 hosts: h[2-3]\n");
}

TEST(SwitchTree, AChildThatIsListedUnderTwoParentsMakesThemOne) {
    EXPECT_EQ(outline("p-A p-B q-A q-B A-h1 B-h2", rooted),
              "p,q\n"
              "  A\n"
              "    1 hosts: h1\n"
              "  B\n"
              "    1 hosts: h2\n");
}

TEST(SwitchTree, ARootedFabricWithTwoTopsGetsOneMore) {
    EXPECT_EQ(outline("p-A p-B q-C q-D A-h1 B-h2 C-h3 D-h4", rooted),
              "(added)\n"
              "  p\n"
              "    A\n"
              "      1 hosts: h1\n"
              "    B\n"
              "      1 hosts: h2\n"
              "  q\n"
              "    C\n"
              "      1 hosts: h3\n"
              "    D\n"
              "      1 hosts: h4\n"
              "note: 2 parts that no cable connects hang below one more vertex\n");
}

TEST(SwitchTree, AHostListedUnderItsLeafAndAboveIsOnTheLeaf) {
    EXPECT_EQ(outline("t-h1 t-h2 t-A t-B A-h1 B-h2", rooted),
              "t\n"
              "  A\n"
              "    1 hosts: h1\n"
              "  B\n"
              "    1 hosts: h2\n");
}

TEST(SwitchTree, ARootedCycleIsRefusedWithItsSwitches) {
    EXPECT_EQ(outline("t-A A-B B-C C-A C-h1", rooted),
              "the switches run in a cycle, each above the next: A -> B -> C -> A");
    EXPECT_EQ(outline("A-A A-h1", rooted),
              "the switches run in a cycle, each above the next: A -> A");
}

TEST(SwitchTree, ACycleOfCablesIsNone) {
    EXPECT_EQ(outline("A-B B-C C-D D-A A-h1 B-h2 C-h3 D-h4"),
              "(added)\n"
              "  A\n"
              "    1 hosts: h1\n"
              "  B\n"
              "    1 hosts: h2\n"
              "  C\n"
              "    1 hosts: h3\n"
              "  D\n"
              "    1 hosts: h4\n"
              "note: 4 switches are in the middle and hang below one more vertex\n");
}

TEST(SwitchTree, FabricsBeyondTheLevelsOfATreeAreRefused) {
    std::string cables = "s0-h0";
    for (int i = 0; i < 600; ++i) cables += " s" + std::to_string(i) + "-s" + std::to_string(i + 1);
    EXPECT_EQ(outline(cables + " s600-h1", rooted),
              "the fabric has 601 levels of switches, allowed are up to 512");
}

TEST(SwitchTree, VirtualSwitchesWithLongNamesAreCalledByTheirEnds) {
    std::string cables;
    for (int i = 0; i < 20; ++i) {
        const std::string name = "spine" + std::string(1, static_cast<char>('a' + i)) + "x";
        cables += "A-" + name + " B-" + name + " ";
    }
    const SwitchTree tree = switch_tree(fabric_of(cables + "A-h1 B-h2")).value();
    EXPECT_EQ(tree.switches[0].name, "spineax ... spinetx (20 switches)");
}

TEST(FabricBuilder, RefusesWhatIsBeyondTheLimits) {
    FabricBuilder no_hosts;
    no_hosts.switch_named("s");
    EXPECT_EQ(no_hosts.take().status().message(),
              "the fabric has no hosts, needed is at least one");

    FabricBuilder long_name;
    long_name.host_named(std::string(1025, 'x'));
    EXPECT_FALSE(long_name.within_limits());
    EXPECT_NE(long_name.take().status().message().find("a name of 1025 bytes"), std::string::npos);

    FabricBuilder cables;
    const int host = cables.host_named("h"), place = cables.switch_named("s");
    for (int i = 0; i <= max_fabric_cables; ++i) cables.add_cable(place, host);
    EXPECT_EQ(cables.take().status().message(),
              "the fabric has more than 4194304 cables, allowed are up to that many");
}

TEST(SwitchTree, ACableToNowhereIsRefused) {
    Fabric fabric = fabric_of("A-h1");
    fabric.cables.push_back({0, 7, 0, 0});
    EXPECT_EQ(switch_tree(fabric).status().message(),
              "a cable of the fabric ends at a node that is not there: 0 - 7");
}

}  // namespace
}  // namespace gradcoll
