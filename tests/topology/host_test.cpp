// tests/topology/host_test.cpp - hosts as hwloc shows them: described, recorded from real machines,
// and this one.
#include "topology/sources/host/host_subtree.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "topology/dealt_host.hpp"
#include "topology/random_tree.hpp"
#include "topology/sources/host/machine.hpp"
#include "topology/sources/host/this_machine.hpp"
#include "topology/sources/job/reports.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

std::vector<int> ranks_to(int count) {
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

std::string expression_from(std::string_view description, int rank_count) {
    const Result<TreeSpec> host = host_from_description(description, ranks_to(rank_count));
    if (!host.ok()) return host.status().message();
    const Result<Tree> tree = Tree::make(*host);
    return tree.ok() ? expression_of(*tree) : tree.status().message();
}

TEST(DescribedHost, RanksAreDealtToCoresInOrder) {
    EXPECT_EQ(expression_from("pack:2 core:3 pu:2", 6), "((0-2)(3-5))");
    EXPECT_EQ(expression_from("pack:2 core:3 pu:2", 4), "((0-2)3)");
    EXPECT_EQ(expression_from("pack:2 [numa] l3:2 core:2 pu:1", 8), "(((0 1)(2 3))((4 5)(6 7)))");
}

TEST(DescribedHost, MoreRanksThanCoresGoRoundRobinAndStayLeaves) {
    EXPECT_EQ(expression_from("pack:2 core:1 pu:1", 3), "((0 2)1)");
    EXPECT_EQ(expression_from("pack:1 core:1 pu:1", 4), "(0-3)");
}

TEST(DescribedHost, WithoutCoresRanksAreDealtToPus) {
    EXPECT_EQ(expression_from("pack:2 pu:2", 4), "((0 1)(2 3))");
}

TEST(DescribedHost, CoresThatShareALevel2CacheAreNear) {
    EXPECT_EQ(expression_from("pack:1 l2:2 core:2 pu:1", 4), "((0 1)(2 3))");
    EXPECT_EQ(expression_from("pack:1 l3:1 l2:2 core:2 pu:1", 4), "((0 1)(2 3))");
    EXPECT_EQ(expression_from("pack:1 l3:1 l2:4 core:1 pu:2", 4), "(0-3)");
    EXPECT_EQ(expression_from("pack:2 l2:2 core:1 pu:1", 4), "((0 1)(2 3))");
}

TEST(DescribedHost, ErrorsQuoteTheStringAndHwlocsReason) {
    EXPECT_EQ(expression_from("pakc:2 core:3", 2),
              "synthetic topology \"pakc:2 core:3\": hwloc does not take it: Invalid argument; "
              "expected levels such as "
              "\"pack:2 numa:1 core:4 pu:1\"");
    EXPECT_EQ(expression_from("pack:100000 core:100000 pu:1", 2),
              "synthetic topology \"pack:100000 core:100000 pu:1\": more than 1048576 objects in a "
              "level");
    EXPECT_EQ(expression_from("/nowhere/a.xml", 2),
              "hwloc XML file \"/nowhere/a.xml\": it cannot be read: No such file or directory");
    EXPECT_EQ(host_from_description("pack:1 pu:1", {}).status().message(),
              "a described host has no ranks");
}

TEST(DescribedHost, XmlThatIsNotHwlocsIsRefused) {
    const std::string path = testing::TempDir() + "gradcoll_not_hwloc.xml";
    std::ofstream(path) << "<hello><world/></hello>\n";
    const Result<TreeSpec> host = host_from_description(path, ranks_to(2));
    ASSERT_FALSE(host.ok());
    EXPECT_EQ(host.status().code(), Code::invalid_argument);
    EXPECT_NE(host.status().message().find(path), std::string::npos) << host.status().message();
    EXPECT_NE(host.status().message().find("hwloc does not"), std::string::npos)
        << host.status().message();
}

/// Returns the kinds of the vertices from the `package`-th package down to its first rank.
std::string kinds_below(const TreeSpec& host, std::size_t package) {
    std::string kinds;
    for (const TreeSpec* at = &host.children[package]; !at->children.empty();
         at = &at->children.front())
        kinds += std::string(name_of(at->kind)) + " ";
    return kinds;
}

TEST(RecordedMachines, AGpuIsNearWhereItIsAloneAndElseTheBridgeThatAllShare) {
    const Result<TreeSpec> host = host_from_description(
        test::golden_path("hwloc/32em64t-2n8c2t-pci-wholeio.xml"), ranks_to(16));
    ASSERT_TRUE(host.ok()) << host.status().message();
    ASSERT_EQ(host->children.size(), 2u);
    EXPECT_EQ(kinds_below(*host, 0),
              "bridge gpu package core ");  // a Tesla, and a console that does not count
    EXPECT_EQ(kinds_below(*host, 1),
              "bridge package core ");  // three GPUs below one host bridge
    const Result<TreeSpec> dgx2 =
        host_from_description(test::golden_path("hwloc/nvidiaDGX2.xml"), ranks_to(4));
    EXPECT_EQ(kinds_below(*dgx2, 0),
              "package core ");  // eight GPUs below two host bridges
}

TEST(MergeHost, RanksThatNameTheSameObjectsShareThemInOrderOfTheirFirstRank) {
    const HostPath::Object pack0{VertexKind::package, 0, "P0"};
    const HostPath::Object pack1{VertexKind::package, 4, "P1"};
    const auto core = [](std::uint32_t pu) { return HostPath::Object{VertexKind::core, pu, "C"}; };
    const std::vector<HostPath> paths{{"n", {pack1, core(4)}},
                                      {"n", {pack0, core(0)}},
                                      {"n", {pack1, core(4)}},
                                      {"n", {pack0}},
                                      {"n", {}}};
    const TreeSpec host = merge_host("n", paths, std::vector<int>{10, 3, 7, 12, 20});
    ASSERT_EQ(host.kind, VertexKind::host);
    EXPECT_EQ(host.name, "n");
    ASSERT_EQ(host.children.size(), 3u);
    EXPECT_EQ(host.children[0].name, "P0");  // rank 3 comes first
    EXPECT_EQ(host.children[1].name, "P1");
    EXPECT_EQ(host.children[2].rank, 20);
    ASSERT_EQ(host.children[1].children.size(), 1u);              // one core ...
    EXPECT_EQ(host.children[1].children[0].children.size(), 2u);  // ... with two ranks
    EXPECT_EQ(host.children[0].children[1].rank, 12);             // bound to the package as a whole
}

TEST(ThisMachine, BoundToOneCoreThePathEndsAtThatCore) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const Result<HostPath> bound = this_rank_path();
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    const Result<HostPath> free = this_rank_path();
    ASSERT_TRUE(bound.ok() && free.ok());
    ASSERT_FALSE(bound->objects.empty());
    EXPECT_EQ(bound->objects.back().kind, VertexKind::core);
    EXPECT_FALSE(bound->host_name.empty());
    EXPECT_LE(free->objects.size(), bound->objects.size());
}

TEST(ThisMachine, HwlocsOwnVariablesShowAnotherMachine) {
    ASSERT_EQ(setenv("HWLOC_SYNTHETIC", "pack:2 core:2 pu:1", 1), 0);
    const Result<Machine> machine = Machine::local();
    unsetenv("HWLOC_SYNTHETIC");
    ASSERT_TRUE(machine.ok()) << machine.status().message();
    for (const auto& object : machine->path_of_this_process().objects)
        EXPECT_EQ(object.kind, VertexKind::numa);  // not bound there: the whole machine
}

Result<Machine> machine_in(const std::string& xml_file) {
    setenv("HWLOC_XMLFILE", xml_file.c_str(), 1);
    Result<Machine> machine = Machine::local();
    unsetenv("HWLOC_XMLFILE");
    return machine;
}

std::string cores_in(const std::string& xml_file) {
    const Result<Machine> machine = machine_in(xml_file);
    if (!machine.ok()) return machine.status().message();
    std::string bytes;
    for (const HostPath& path : machine->paths_of_cores()) bytes += host_path_bytes(path);
    return bytes;
}

/// hwloc 2.9 itself refuses version 3, and version 3 of hwloc version 1.
TEST(ThisMachine, HwlocsVariableMayNameAFileOfEveryVersion) {
    const std::string name = "Intel-RaptorLake-Corei7-1370P.xml";
    const Result<Machine> machine = machine_in(test::golden_path("hwloc3/" + name));
    ASSERT_TRUE(machine.ok()) << machine.status().message();
    EXPECT_EQ(machine->paths_of_cores().size(), 14U);
    EXPECT_EQ(machine->facts().cores, 0U);  // it is not this one
    const std::string cores = cores_in(test::golden_path("hwloc/" + name));
    EXPECT_EQ(cores_in(test::golden_path("hwloc3/" + name)), cores);
    EXPECT_EQ(cores_in(test::golden_path("hwloc1/" + name)), cores);
    setenv("HWLOC_SYNTHETIC", "pack:2 core:2 pu:1", 1);  // goes before it, as in hwloc
    const Result<Machine> other = machine_in(test::golden_path("hwloc3/" + name));
    unsetenv("HWLOC_SYNTHETIC");
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_EQ(other->paths_of_cores().size(), 4U);
}

TEST(ThisMachine, AFileThatHwlocsVariableNamesInVainIsAnError) {
    EXPECT_EQ(cores_in("/nowhere/a.xml"),
              "HWLOC_XMLFILE \"/nowhere/a.xml\": it cannot be read: No such file or directory");
    const std::string path = testing::TempDir() + "gradcoll_not_hwloc_either.xml";
    std::ofstream(path) << "<topology version=\"4.0\"/>\n";
    EXPECT_NE(cores_in(path).find("found version 4.0, expected 1, 2.0 or 3.0"), std::string::npos)
        << cores_in(path);
}

/// Returns what a process would report on a machine that hwloc takes for this one.
MachineFacts facts_on(const char* synthetic) {
    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    const Result<Machine> machine = Machine::local();
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    EXPECT_TRUE(machine.ok()) << machine.status().message();
    return machine.ok() ? machine->facts() : MachineFacts{};
}

bool may_use_cpus(int count) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < count; ++cpu)
        if (!CPU_ISSET(cpu, &set)) return false;
    return true;
}

TEST(MachineFacts, CoresWithoutPackagesAndCachesHaveNoShape) {
    EXPECT_EQ(facts_on("core:4 pu:2").cores, 4u);
    EXPECT_EQ(facts_on("pu:4").cores, 4u);
    EXPECT_TRUE(facts_on("pu:4").shapeless);
    EXPECT_FALSE(facts_on("pu:2").shapeless);
    EXPECT_FALSE(facts_on("pack:1 core:4 pu:1").shapeless);
    EXPECT_FALSE(facts_on("l2:1 core:4 pu:1").shapeless);
    EXPECT_FALSE(facts_on("numa:2 core:2 pu:1").shapeless);
}

TEST(MachineFacts, AProcessThatMayRunEverywhereIsBoundToNoPart) {
    if (!may_use_cpus(2)) GTEST_SKIP() << "needs CPUs 0 and 1";
    EXPECT_EQ(facts_on("pack:2 core:1 pu:1").unbound_over, "2 packages");
    EXPECT_EQ(facts_on("pack:1 numa:2 core:1 pu:1").unbound_over, "2 NUMA nodes");
    EXPECT_EQ(facts_on("pack:1 [numa][numa] l3:2 core:1 pu:1").unbound_over, "2 level 3 caches");
    EXPECT_EQ(facts_on("pack:1 [numa][numa] core:2 pu:1").unbound_over, "");  // nothing to choose
    EXPECT_EQ(facts_on("pack:1 core:2 pu:1").unbound_over, "");
}

TEST(MachineFacts, CpusThatHwlocDoesNotShowAreCounted) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    EXPECT_EQ(facts_on("pack:1 core:1 pu:1").hidden_cpus, static_cast<std::uint32_t>(online - 1));
    EXPECT_EQ(facts_on("pack:1 core:4096 pu:1").hidden_cpus, 0u);
    EXPECT_EQ(this_machine_facts().hidden_cpus, 0u);
}

TEST(MachineFacts, AnotherMachineHasNone) {
    const Result<Machine> machine = Machine::synthetic("pack:2 core:2 pu:1");
    ASSERT_TRUE(machine.ok());
    EXPECT_EQ(machine->facts().cores, 0u);
    EXPECT_EQ(machine->facts().unbound_over, "");
}

TEST(HostPathBytes, ComeBackEqual) {
    const HostPath path{
        "n1", {{VertexKind::package, 0, "Package#0"}, {VertexKind::gpu, 0xffff0000u, ""}}};
    const Result<HostPath> back = host_path_from(host_path_bytes(path));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(host_path_bytes(*back), host_path_bytes(path));
    EXPECT_EQ(host_path_from(host_path_bytes(path) + "x").status().code(), Code::corrupt);
    EXPECT_EQ(host_path_from("").status().code(), Code::corrupt);
}

}  // namespace
}  // namespace gradcoll
