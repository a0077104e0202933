// tests/topology/fabric_hang_test.cpp - hangs the hosts of a job below the switches of a source.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/switch_tree.hpp"
#include "fabric_outline.hpp"
#include "outline.hpp"

namespace gradcoll {
namespace {

SwitchTree switches_of(const std::string& csv) {
    return switch_tree(test::fabric_format("CSV").read(csv).value()).value();
}

HostSubtree host(const std::string& name, std::vector<int> ranks) {
    HostSubtree result;
    result.lowest_rank = ranks.front();
    result.spec.kind = VertexKind::host;
    result.spec.name = name;
    for (const int rank : ranks) {
        result.spec.children.emplace_back();
        result.spec.children.back().rank = rank;
    }
    return result;
}

/// Returns the tree, collapsed, and the notes.
std::string hung(const SwitchTree& switches, std::vector<HostSubtree> hosts) {
    std::vector<std::string> notes;
    const TreeSpec spec = hang_hosts(switches, std::move(hosts), notes);
    return test::outline_of(Tree::make(spec).value()) + test::lines_of(notes);
}

const char* const two_leaves =
    "A,t,8\n"
    "B,t,4\n"
    "n[1-2],A,2,1.5\n"
    "n[3-4],B,1\n";

TEST(HangHosts, BranchesAreInTheOrderOfTheirLowestRank) {
    EXPECT_EQ(hung(switches_of(two_leaves), {host("n4", {0, 1}), host("n1", {2, 3}),
                                             host("n3", {4, 5}), host("n2", {6, 7})}),
              "switch \"t\"\n"
              "  switch \"B\", 4 GB/s\n"
              "    host \"n4\", 1 GB/s\n"
              "      rank 0\n"
              "      rank 1\n"
              "    host \"n3\", 1 GB/s\n"
              "      rank 4\n"
              "      rank 5\n"
              "  switch \"A\", 8 GB/s\n"
              "    host \"n1\", 2 GB/s, 1.5 us\n"
              "      rank 2\n"
              "      rank 3\n"
              "    host \"n2\", 2 GB/s, 1.5 us\n"
              "      rank 6\n"
              "      rank 7\n");
}

TEST(HangHosts, SwitchesWithoutHostsOfTheJobAreLeftOut) {
    EXPECT_EQ(hung(switches_of(two_leaves), {host("n1", {0, 1}), host("n2", {2, 3})}),
              "switch \"A\"\n"
              "  host \"n1\", 2 GB/s, 1.5 us\n"
              "    rank 0\n"
              "    rank 1\n"
              "  host \"n2\", 2 GB/s, 1.5 us\n"
              "    rank 2\n"
              "    rank 3\n");
}

TEST(HangHosts, AnUnknownHostHangsOnTopWithANote) {
    EXPECT_EQ(
        hung(switches_of(two_leaves),
             {host("n1", {0, 1}), host("guest", {2, 3}), host("n2", {4, 5})}),
        "switch \"t\"\n"
        "  switch \"A\", 8 GB/s\n"
        "    host \"n1\", 2 GB/s, 1.5 us\n"
        "      rank 0\n"
        "      rank 1\n"
        "    host \"n2\", 2 GB/s, 1.5 us\n"
        "      rank 4\n"
        "      rank 5\n"
        "  host \"guest\"\n"
        "    rank 2\n"
        "    rank 3\n"
        "note: host guest is not known to the source of the switches: below the topmost one\n");
}

TEST(HangHosts, OfManyUnknownHostsTheFirstAreNamed) {
    std::vector<HostSubtree> hosts;
    for (int i = 0; i < 9; ++i) hosts.push_back(host("guest" + std::to_string(i), {i}));
    std::vector<std::string> notes;
    const TreeSpec spec = hang_hosts(switches_of(two_leaves), hosts, notes);
    EXPECT_EQ(spec.children.size(), 9U);
    EXPECT_EQ(test::lines_of(notes),
              "note: hosts guest0, guest1, guest2, guest3 and 5 more are not known to the source "
              "of the switches: below the topmost one\n");
}

std::string note_about(const std::string& csv, const std::string& name) {
    std::vector<std::string> notes;
    (void)hang_hosts(switches_of(csv), {host(name, {0, 1})}, notes);
    return test::lines_of(notes);
}

TEST(HangHosts, NamesAreFoundWithoutDomainAndWithoutRegardToCase) {
    EXPECT_EQ(note_about("node7,s", "node7"), "");
    EXPECT_EQ(note_about("node7,s", "node7.cluster.org"), "");
    EXPECT_EQ(note_about("node7.cluster.org,s", "node7"), "");
    EXPECT_EQ(note_about("Node7,s", "nODE7.cluster.org"), "");
    EXPECT_NE(note_about("node7,s", "node70"), "");
}

TEST(HangHosts, AnAddressHasNoDomain) {
    EXPECT_NE(note_about("10.0.0.7,s", "10.1.1.1"), "");
}

TEST(HangHosts, AShortNameThatStandsForTwoHostsIsNotKnown) {
    EXPECT_EQ(note_about("n.a,s\nn.b,s2\nswitch:s,t\nswitch:s2,t", "n.a"), "");
    EXPECT_NE(note_about("n.a,s\nn.b,s2\nswitch:s,t\nswitch:s2,t", "n"), "");
    EXPECT_EQ(note_about("Na,s\nnA,s2\nswitch:s,t\nswitch:s2,t", "nA"), "");
    EXPECT_NE(note_about("Na,s\nnA,s2\nswitch:s,t\nswitch:s2,t", "na"), "");
}

TEST(HangHosts, TheSameNameTwiceInAJobIsTwoHosts) {
    EXPECT_EQ(hung(switches_of(two_leaves), {host("n1", {0, 1}), host("n1", {2, 3})}),
              "switch \"A\"\n"
              "  host \"n1\", 2 GB/s, 1.5 us\n"
              "    rank 0\n"
              "    rank 1\n"
              "  host \"n1\", 2 GB/s, 1.5 us\n"
              "    rank 2\n"
              "    rank 3\n");
}

TEST(HangHosts, WhereTheSourceKnowsRanksTheLowestOfTheHostCounts) {
    const Fabric fabric = test::fabric_format("MPICH coordinates")
                              .read("header\n0: 0 0 0\n1: 0 0 1\n2: 0 1 0\n3: 0 1 1\n")
                              .value();
    EXPECT_EQ(hung(switch_tree(fabric).value(), {host("x", {0, 1}), host("x", {2, 3})}),
              "switch \"group 0\"\n"
              "  host \"x\"\n"
              "    rank 0\n"
              "    rank 1\n"
              "  host \"x\"\n"
              "    rank 2\n"
              "    rank 3\n");
}

}  // namespace
}  // namespace gradcoll
