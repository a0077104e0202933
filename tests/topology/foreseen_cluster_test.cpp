// tests/topology/foreseen_cluster_test.cpp - jobs on clusters that do not exist: recorded ones and
// made-up ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "topology/random_tree.hpp"
#include "topology/sources/job/foreseen.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

std::string file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "gradcoll_cluster_" + name;
    std::ofstream(path) << text;
    return path;
}

DiscoveredTree tree_of(const ClusterSpec& cluster) {
    Result<DiscoveredTree> tree = foreseen_cluster(cluster);
    EXPECT_TRUE(tree.ok()) << tree.status().message();
    return tree.ok() ? std::move(*tree) : DiscoveredTree{Tree::flat(1), "", {}};
}

std::string shape_of(const ClusterSpec& cluster) {
    return expression_of(tree_of(cluster).tree);
}

std::string error_of(const ClusterSpec& cluster) {
    const Result<DiscoveredTree> tree = foreseen_cluster(cluster);
    return tree.ok() ? "none" : tree.status().message();
}

/// Writes a file with two switches below one: n1 and n2 on the first, n10 on the second.
std::string fabric_file() {
    return file("conf",
                "SwitchName=top Switches=s[1-2]\nSwitchName=s1 Nodes=n[1-2]\n"
                "SwitchName=s2 Nodes=n10\n");
}

TEST(ForeseenCluster, HostsOfTheFabricComeInNaturalOrder) {
    const DiscoveredTree found = tree_of({"file:" + fabric_file(), {}});
    EXPECT_EQ(expression_of(found.tree), "((0 1)2)");
    EXPECT_EQ(found.tree.vertex(found.tree.root()).name, "top");
    EXPECT_EQ(found.notes, std::vector<std::string>{"nothing describes the insides of hosts: ranks "
                                                    "of one are equally near"});
    EXPECT_EQ(found.origin, "GC_TOPOLOGY file:" + fabric_file() + ", switches from topology.conf " +
                                fabric_file() +
                                "; assumed: 3 ranks on 3 hosts, one a core, in order");
}

TEST(ForeseenCluster, RanksAHostAndTheirCoresAreTaken) {
    const std::string both = "synthetic:pack:2 core:2 pu:1+file:" + fabric_file();
    EXPECT_EQ(shape_of({both, {}, 2}), "(((0 1)(2 3))(4 5))");
    EXPECT_EQ(shape_of({both, {"n2", "n10"}}), "(((0 1)(2 3))((4 5)(6 7)))");
    EXPECT_EQ(shape_of({"file:" + fabric_file(), {}, 2}), "(((0 1)(2 3))(4 5))");
    EXPECT_EQ(shape_of({"synthetic:core:2 pu:1", {"a", "b", "c"}}), "((0 1)(2 3)(4 5))");
}

TEST(ForeseenCluster, AHostThatIsNotDescribedTakesOneRankAndANote) {
    const std::string hosts = file("hosts", "n1 pack:2 core:2 pu:1\nn10 core:3 pu:1\n");
    const DiscoveredTree found = tree_of({"hosts:" + hosts + "+file:" + fabric_file(), {}});
    EXPECT_EQ(expression_of(found.tree), "((((0 1)(2 3))4)(5-7))");
    EXPECT_EQ(found.notes,
              std::vector<std::string>{"\"" + hosts +
                                       "\" does not describe n2: ranks there are equally near"});
}

/// Returns a machine of two CPUs; `usable` are those that may be used, `all` those that exist.
std::string two_cpus(const std::string& usable, const std::string& all) {
    return "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x3\" complete_cpuset=\"" +
           all + "\" allowed_cpuset=\"" + usable +
           "\" nodeset=\"0x1\" allowed_nodeset=\"0x1\">"
           "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"" +
           all +
           "\" nodeset=\"0x1\"/>"
           "<object type=\"Core\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\">"
           "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\"/></object>"
           "<object type=\"Core\" os_index=\"1\" cpuset=\"0x2\" nodeset=\"0x1\">"
           "<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" nodeset=\"0x1\"/></object>"
           "</object></topology>";
}

/// Makes a new folder with these files.
std::string folder_of(const std::string& name,
                      const std::vector<std::pair<std::string, std::string>>& files) {
    const std::filesystem::path folder = testing::TempDir() + "gradcoll_cluster_" + name;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (const auto& [file_name, text] : files) std::ofstream(folder / file_name) << text;
    return folder.string();
}

TEST(ForeseenCluster, AFolderDoesWithoutOneDamagedRecording) {
    const std::string folder = folder_of("folder", {{"n1.xml", two_cpus("0x3", "0x3")},
                                                    {"n2.xml", "<topology version=\"2.0\"><obj"},
                                                    {"n1.diff.xml", "<topologydiff/>"}});
    const DiscoveredTree found = tree_of({"hosts:" + folder, {}});
    EXPECT_EQ(expression_of(found.tree), "((0 1)2)");
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find(folder + "/n2.xml\": hwloc does not see it: line 1:"),
              std::string::npos)
        << found.notes[0];
    EXPECT_NE(error_of({"hosts:" + folder, {"n2"}}).find("no host of the job has a description"),
              std::string::npos);
}

TEST(ForeseenCluster, ARecordingMadeInsideAJobSaysSo) {
    const std::string xml = file("job.xml", two_cpus("0x3", "0xff"));
    const DiscoveredTree found = tree_of({"xml:" + xml, {"a"}});
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_EQ(found.notes[0], "\"" + xml +
                                  "\": it shows 2 of 8 CPUs: the others are offline, or the job "
                                  "that recorded it may not use them (lstopo --disallowed shows "
                                  "these)");
    // Other jobs may use what --disallowed records.
    EXPECT_EQ(shape_of({"xml:" + file("disallowed.xml", two_cpus("0x1", "0x3")), {"a"}}), "(0 1)");
}

/// Here n1 and n2 have an adapter in each of two subnets, n3 only in the second.
TEST(ForeseenCluster, SubnetsOfAFolderAreOneFabric) {
    const auto port = [](const char* leaf, int number, const char* adapter, const char* host) {
        return fmt::format("SW 1 {0} 0x{1} 4x QDR - CA 9 1 0x{2} ( 'leaf{1}' - '{3} HCA-1' )\n",
                           number, leaf, adapter, host);
    };
    const std::string folder = folder_of(
        "subnets", {{"ib-subnet-a.txt", port("a", 1, "a1", "n1") + port("a", 2, "a2", "n2")},
                    {"ib-subnet-b.txt", port("b", 1, "b1", "n1") + port("b", 2, "b2", "n2") +
                                            port("b", 3, "b3", "n3")},
                    {"ibroutes-a.txt", "not read"}});
    const DiscoveredTree found = tree_of({"synthetic:core:2 pu:1+file:" + folder, {}});
    EXPECT_EQ(expression_of(found.tree), "(((0 1)(2 3))(4 5))");  // the slow branch is apart
    std::map<std::string, double> rates;
    for (int id = 0; id < found.tree.vertex_count(); ++id)
        if (const Vertex& vertex = found.tree.vertex(id); vertex.kind == VertexKind::host)
            rates[vertex.name] = vertex.uplink.bandwidth_gbytes_per_s;
    EXPECT_EQ(rates, (std::map<std::string, double>{{"n1", 8}, {"n2", 8}, {"n3", 4}}));
}

TEST(ForeseenCluster, AHostThatTheFabricDoesNotKnowHangsAtTheRoot) {
    const DiscoveredTree found = tree_of({"file:" + fabric_file(), {"n1", "n2", "x"}});
    EXPECT_EQ(expression_of(found.tree), "((0 1)2)");
    ASSERT_EQ(found.notes.size(), 2u);
    EXPECT_NE(found.notes[1].find("x"), std::string::npos) << found.notes[1];
}

TEST(ForeseenCluster, FabricsThatNameRanksGiveThemPlaces) {
    const std::string coordinates =
        file("coordinates", "rank: group switch port\n0: 0 0 0\n1: 0 1 0\n2: 0 0 1\n3: 0 1 1\n");
    EXPECT_EQ(shape_of({"file:" + coordinates, {}}), "((0 2)(1 3))");
}

TEST(ForeseenCluster, ShufflingDealsRanksToHostsAndKeepsTheMachine) {
    const std::string both = "synthetic:pack:2 core:2 pu:1+file:" + fabric_file();
    const ClusterSpec shuffled{both, {}, 0, RankOrder::shuffled, 7};
    const DiscoveredTree found = tree_of(shuffled);
    EXPECT_EQ(found.tree.serialize(), tree_of(shuffled).tree.serialize());
    EXPECT_NE(found.tree.serialize(), tree_of({both, {}}).tree.serialize());
    EXPECT_NE(found.tree.serialize(),
              tree_of({both, {}, 0, RankOrder::shuffled, 8}).tree.serialize());
    EXPECT_EQ(found.tree.rank_count(), 12);
    EXPECT_EQ(found.tree.vertex_count(), tree_of({both, {}}).tree.vertex_count());
    EXPECT_NE(found.origin.find("shuffled with seed 7"), std::string::npos) << found.origin;
}

/// The permutation does not depend on the machine that makes it.
TEST(ForeseenCluster, ASeedMeansTheSameEverywhere) {
    const std::vector<std::string> hosts{"a", "b"};
    EXPECT_EQ(shape_of({"synthetic:core:4 pu:1", hosts, 0, RankOrder::shuffled, 1}),
              "((0 3-5)(1 2 6 7))");
}

TEST(ForeseenCluster, WholeTreesStandForThemselves) {
    EXPECT_EQ(shape_of({"((0 1) (2 3 4))", {"a"}, 7}), "((0 1)(2-4))");
    EXPECT_EQ(shape_of({"flat", {"a", "b"}, 2}), "(0-3)");
    EXPECT_EQ(shape_of({"file:" + test::golden_path("two_and_three.json"), {}}), "((0 1)(2-4))");
}

TEST(ForeseenCluster, ErrorsSayWhatIsMissing) {
    EXPECT_EQ(error_of({"auto", {}}),
              "no hosts are given, and neither a hosts folder nor switches name any");
    EXPECT_EQ(error_of({"probe", {"a"}}),
              "GC_TOPOLOGY probe: a cluster that is not there cannot be measured; expected "
              "file:FILE, probe:CACHE-FILE, slurm or none between hosts");
    EXPECT_EQ(error_of({"auto", {"a"}, -1}), "ranks per host is -1; allowed are 0 to 1048576");
    EXPECT_EQ(error_of({"auto", {"a", "b"}, max_tree_ranks}),
              "the hosts take more than 1048576 ranks");
    EXPECT_EQ(
        error_of({"xml:/nowhere/a.xml", {"a"}}),
        "GC_TOPOLOGY xml:/nowhere/a.xml: host a: hwloc XML file \"/nowhere/a.xml\": it cannot "
        "be read: No such file or directory");
}

/// The recorded cluster has 122 hosts, each with the cores that hwloc saw there, on the InfiniBand
/// fabric that connects them.
TEST(ForeseenCluster, ARecordedClusterHasItsHostsCoresAndSwitches) {
    const std::filesystem::path recorded = std::filesystem::path(GRADCOLL_RECORDED_DIR) / "plafrim";
    std::string fabric;
    for (const auto& entry : std::filesystem::directory_iterator(recorded / "ib-raw"))
        if (entry.path().filename().string().starts_with("ib-subnet")) fabric = entry.path();
    const std::string written = "hosts:" + (recorded / "hwloc").string() + "+file:" + fabric;
    const DiscoveredTree found = tree_of({written, {}});
    std::map<VertexKind, int> count;
    for (int id = 0; id < found.tree.vertex_count(); ++id) ++count[found.tree.vertex(id).kind];
    EXPECT_EQ(count[VertexKind::host], 122);  // and six with one rank each, which are leaves
    EXPECT_EQ(count[VertexKind::fabric_switch], 8);
    EXPECT_EQ(found.tree.rank_count(), 1314);
    ASSERT_EQ(found.notes.size(), 2u);
    EXPECT_NE(found.notes[0].find("does not describe mds01,oss[01-04],reine"), std::string::npos)
        << found.notes[0];
    EXPECT_NE(found.notes[1].find("fifi, loulou, riri"), std::string::npos) << found.notes[1];
}

}  // namespace
}  // namespace gradcoll
