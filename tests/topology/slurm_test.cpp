// tests/topology/slurm_test.cpp - SLURM's files and addresses: their fabrics, what is refused, and
// the trees that they become.
#include "fabric/slurm/slurm.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fabric/slurm/slurm_fabric.hpp"
#include "fabric/switch_tree.hpp"
#include "topology/outline.hpp"
#include "topology/random_tree.hpp"

namespace gradcoll {
namespace {

/// Returns "upper>lower" for each cable, hosts in quotes, then the notes; or why there is none.
std::string cables_of(const Result<Fabric>& fabric) {
    if (!fabric.ok()) return fabric.status().message();
    const auto name = [&](int i) {
        const Fabric::Node& node = fabric->nodes[static_cast<std::size_t>(i)];
        return node.is_host ? "'" + node.name + "'" : node.name;
    };
    std::string out = fabric->rooted ? "" : "not rooted ";
    for (const Fabric::Cable& cable : fabric->cables) {
        out += fmt::format("{}>{}", name(cable.a), name(cable.b));
        out += cable.gbytes_per_s > 0 ? fmt::format("@{:.4g} ", cable.gbytes_per_s) : " ";
    }
    return out + test::lines_of(fabric->notes);
}

std::string conf(std::string_view text) {
    return cables_of(fabric_from_slurm_conf(text));
}
std::string yaml(std::string_view text) {
    return cables_of(fabric_from_slurm_yaml(text));
}
std::string addresses(const std::vector<SlurmAddress>& hosts) {
    return cables_of(fabric_from_slurm_addresses(hosts));
}

// ---- topology.conf ------------------------------------------------------------------------------

TEST(TopologyConf, LinesHangHostsAndSwitchesBelowSwitches) {
    EXPECT_EQ(conf("SwitchName=a Nodes=n[1-2]\nSwitchName=top Switches=a\n"),
              "a>'n1' a>'n2' top>a ");
    EXPECT_EQ(conf("SwitchName=a Switches=b Nodes=n1\nSwitchName=b Nodes=n2"),
              "a>b a>'n1' b>'n2' ");
}

TEST(TopologyConf, CommentsContinuationsQuotesAndCase) {
    EXPECT_EQ(conf("# nothing\n\n  switchNAME = \"a\"  \\\r\n nodes=n1 # Nodes=n2 \\\n# more\n"),
              "a>'n1' ");
    EXPECT_EQ(conf("SwitchName=a Nodes=n1 \\"), "a>'n1' ");
}

TEST(TopologyConf, ErrorsNameTheLine) {
    EXPECT_EQ(conf("SwitchName=a Nodes=n1\n\nNodes=n1"),
              "topology.conf: line 3: found Nodes, expected SwitchName, BlockName, BlockSizes or "
              "RingName");
    EXPECT_EQ(conf("SwitchName=a \\\n  Hosts=n1"),
              "topology.conf: line 1: found Hosts after SwitchName, expected Switches, Nodes or "
              "LinkSpeed");
    EXPECT_EQ(
        conf("SwitchName=a Nodes=n[1-"),
        "topology.conf: line 1: host list \"n[1-\": column 5: found the end, expected a number");
    EXPECT_EQ(conf("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2"),
              "topology.conf: line 2: \"a\" is there twice, first in line 1");
    EXPECT_EQ(conf("SwitchName=a Nodes=n1 Nodes=n2"),
              "topology.conf: line 1: Nodes is there twice");
    EXPECT_EQ(conf("SwitchName=\"a Nodes=n1"),
              "topology.conf: line 1: a quotation mark is not closed");
    EXPECT_EQ(conf("hello world"),
              "topology.conf: line 1: found \"hello world\", expected KEY=VALUE");
    EXPECT_EQ(conf("SwitchName=a[1-2] Nodes=n1"),
              "topology.conf: line 1: found the name \"a[1-2]\", expected one name of up to 1024 "
              "bytes without spaces, commas and brackets");
    EXPECT_EQ(conf("BlockName=a Switches=b"),
              "topology.conf: line 1: found Switches after BlockName, expected Nodes");
    EXPECT_EQ(conf("SwitchName=a"),
              "topology.conf: the fabric has no hosts, needed is at least one");
}

TEST(TopologyConf, WhatScontrolPrintsIsTheSame) {
    EXPECT_EQ(
        conf("SwitchName=a Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
             "SwitchName=b Level=0 LinkSpeed=100G Nodes=n3\n"
             "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=a,b\n"),
        "a>'n1' a>'n2' b>'n3'@12.5 top>a top>b note: SLURM leaves the unit of LinkSpeed open: "
        "numbers alone are taken as Gbit/s of each link below the switch\n");
    EXPECT_EQ(
        conf("BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n"
             "AggregatedBlock=b[1-2] BlockIndex=1 Nodes=n[1-4] BlockSize=4\n"),
        "b1>'n1' b1>'n2' note: aggregated blocks are sizes to plan jobs with, and no switches: "
        "not used\n");
    EXPECT_EQ(conf("RingName=r Nodes=n[1-2] RingSize=2"),
              "r>'n1' r>'n2' note: a ring is taken as one switch\n");
    EXPECT_EQ(conf("TorusName=t Dims=2x1x1 Nodes=n[1-2]\n"
                   "  TorusName=t PlacementDims=1x1x1(1) Anchors=2\n"),
              "t>'n1' t>'n2' note: a torus is taken as one switch\n");
}

TEST(TopologyConf, HostsOfAllLinesTogetherAreBounded) {
    EXPECT_EQ(
        conf("SwitchName=s Nodes=n[1-900000]\nSwitchName=t Nodes=m[1-200000]"),
        "topology.conf: line 2: the fabric has more than 1048576 switches and hosts, allowed are "
        "up to that many");
}

TEST(TopologyConf, AllNodesIsAFabricWithoutNames) {
    EXPECT_EQ(conf("SwitchName=a Nodes=ALL"),
              "note: a switch has ALL nodes: those that no other one names hang below the root\n");
}

TEST(LinkSpeed, IsReadWithItsUnitOrAsGbits) {
    EXPECT_DOUBLE_EQ(*gbytes_per_s_of_link_speed("100"), 12.5);
    EXPECT_DOUBLE_EQ(*gbytes_per_s_of_link_speed("200Gb/s"), 25);
    EXPECT_DOUBLE_EQ(*gbytes_per_s_of_link_speed("40Gbit"), 5);
    EXPECT_DOUBLE_EQ(*gbytes_per_s_of_link_speed("12.5GB/s"), 12.5);
    EXPECT_DOUBLE_EQ(*gbytes_per_s_of_link_speed("800M"), 0.1);
    EXPECT_DOUBLE_EQ(*gbytes_per_s_of_link_speed("1.6Tbps"), 200);
    for (const char* text :
         {"", "fast", "-1", "0", "nan", "inf", "10000", "1Gx", "1e3", "1e999G", "100 G"})
        EXPECT_FALSE(gbytes_per_s_of_link_speed(text)) << text;
}

TEST(LinkSpeed, IsThatOfTheLinksBelowAndNoted) {
    EXPECT_EQ(
        conf("SwitchName=a Nodes=n[1-2] LinkSpeed=100\nSwitchName=t Switches=a LinkSpeed=10000"),
        "a>'n1'@12.5 a>'n2'@12.5 t>a note: SLURM leaves the unit of LinkSpeed open: numbers "
        "alone are taken as Gbit/s of each link below the switch\nnote: LinkSpeed=10000 is "
        "left out: expected a number up to 1600, or one with a unit such as 100Gb/s or "
        "12.5GB/s\n");
}

// ---- topology.yaml ------------------------------------------------------------------------------

TEST(TopologyYaml, TheClustersDefaultIsTaken) {
    EXPECT_EQ(
        yaml("- topology: a\n  tree: {switches: [{switch: s, nodes: n1}]}\n"
             "- topology: b\n  cluster_default: True\n"
             "  tree: {switches: [{switch: t, nodes: 'n[2-3]'}, {switch: u, children: t}]}\n"),
        "t>'n2' t>'n3' u>t note: topology \"b\" is taken, the other 1 of the file are left "
        "out\n");
}

TEST(TopologyYaml, WithoutADefaultTheFirstIsTaken) {
    EXPECT_EQ(yaml("- topology: a\n  block: {blocks: [{block: b, nodes: n1}, {block: c}]}\n"),
              "b>'n1' ");
}

TEST(TopologyYaml, AFlatDefaultGivesWayToSwitches) {
    EXPECT_EQ(yaml("- topology: f\n  cluster_default: true\n  flat: true\n"
                   "- topology: a\n  tree: {switches: [{switch: s, nodes: n1}]}\n"),
              "s>'n1' note: topology \"a\" is taken, the other 1 of the file are left out\n");
    EXPECT_EQ(yaml("- topology: f\n  flat: true\n"), "");
}

TEST(TopologyYaml, RingsAndToriAreSwitches) {
    EXPECT_EQ(yaml("- topology: r\n  ring: {rings: [{ring: r0, nodes: 'n[1-2]'}]}\n"),
              "r0>'n1' r0>'n2' note: a ring is taken as one switch\n");
    EXPECT_EQ(
        yaml("- topology: flat\n  cluster_default: true\n  flat: {alpha_step_rank: true}\n"
             "- topology: t\n  torus3d:\n    toruses:\n"
             "    - name: pod1\n      dims: {x: 2, y: 1, z: 1}\n      nodes: n[1-2]\n"
             "      placements: [{dims: {x: 1, y: 1, z: 1}}]\n"
             "    - name: pod2\n      dims: {x: 2, y: 2, z: 1}\n      regions:\n"
             "      - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: 'm[1-2]'}\n"
             "      - {anchor: {x: 0, y: 1, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: k}\n"),
        "pod1>'n1' pod1>'n2' pod2>'m1' pod2>'m2' pod2>'k' note: topology \"t\" is taken, the "
        "other 1 of the file are left out\nnote: a torus is taken as one switch\n");
}

TEST(TopologyYaml, ErrorsNameTheLine) {
    EXPECT_EQ(yaml("a: b"),
              "topology.yaml: line 1: expected a list of topologies, such as \"- topology: a\"");
    EXPECT_EQ(yaml(""), "topology.yaml: expected a list of topologies, such as \"- topology: a\"");
    EXPECT_EQ(yaml("- topology: a\n- b\n"), "topology.yaml: line 2: expected \"topology: NAME\"");
    EXPECT_EQ(yaml("- topology: a\n  tree:\n    switches: 3\n"),
              "topology.yaml: line 3: expected \"switches:\" and a list");
    EXPECT_EQ(yaml("- topology: a\n  tree:\n    switches:\n    - nodes: n1\n"),
              "topology.yaml: line 4: expected \"switch: NAME\"");
    EXPECT_EQ(yaml("- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: [n1]\n"),
              "topology.yaml: line 5: expected a host list after \"nodes:\"");
    EXPECT_EQ(
        yaml("- topology: a\n  tree: {switches: [{switch: s, nodes: 'n['}]}\n"),
        "topology.yaml: line 2: host list \"n[\": column 3: found the end, expected a number");
    EXPECT_EQ(yaml("- topology: [a\n"), "topology.yaml: line 2: end of sequence flow not found");
    EXPECT_EQ(yaml("- topology: a\n  torus3d: {}\n"),
              "topology.yaml: line 2: expected \"toruses:\" and a list");
    const std::string torus = "- topology: a\n  torus3d:\n    toruses:\n    - name: t\n      ";
    EXPECT_EQ(yaml(torus + "regions: n1\n"),
              "topology.yaml: line 5: expected \"regions:\" and a list");
    EXPECT_EQ(yaml(torus + "regions:\n      - anchor: {x: 0, y: 0, z: 0}\n"),
              "topology.yaml: line 6: expected a region with \"nodes:\"");
    EXPECT_EQ(yaml(torus + "regions:\n      - nodes: [n1]\n"),
              "topology.yaml: line 6: expected a host list after \"nodes:\"");
    EXPECT_EQ(yaml(torus + "nodes: n1\n      regions:\n      - nodes: n2\n"),
              "topology.yaml: line 4: found both \"nodes:\" and \"regions:\"");
    EXPECT_EQ(yaml("- topology: a\n"),
              "topology.yaml: the fabric has no hosts, needed is at least one");
}

TEST(TopologyYaml, DepthIsBoundedBeforeItIsParsed) {
    EXPECT_EQ(yaml("a\n" + std::string(100'000, '[')),
              "topology.yaml: line 2: more than 16 levels within each other, or 100 spaces");
    std::string dashes;
    for (int i = 0; i < 100'000; ++i) dashes += "- ";
    EXPECT_EQ(yaml(dashes),
              "topology.yaml: line 1: more than 16 levels within each other, or 100 spaces");
    std::string steps;
    for (int i = 0; i < 2'000; ++i) steps += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    EXPECT_EQ(yaml(steps),
              "topology.yaml: line 102: more than 16 levels within each other, or 100 spaces");
}

// ---- addresses ----------------------------------------------------------------------------------

TEST(SlurmAddresses, NameTheSwitchesFromTheTop) {
    EXPECT_EQ(addresses({{"n1", "root.leaf1.n1", "switch.switch.node"},
                         {"n2", "root.leaf1.n2", "switch.switch.node"},
                         {"n3", "root.leaf2.n3", "switch.switch.node"}}),
              "root>leaf1 leaf1>'n1' leaf1>'n2' root>leaf2 leaf2>'n3' ");
}

TEST(SlurmAddresses, ABracketedLevelIsOneVirtualSwitchWithAllThatShareAMember) {
    EXPECT_EQ(addresses({{"n1", "s[4-6].leaf1.n1", "switch.switch.node"},
                         {"n2", "s[6-7].leaf2.n2", "switch.switch.node"},
                         {"n3", "s7.leaf3.n3", "switch.switch.node"},
                         {"n4", "s8.leaf4.n4", "switch.switch.node"}}),
              "s[4-7]>leaf1 leaf1>'n1' s[4-7]>leaf2 leaf2>'n2' s[4-7]>leaf3 leaf3>'n3' s8>leaf4 "
              "leaf4>'n4' ");
}

TEST(SlurmAddresses, LevelsMayBeMissing) {
    EXPECT_EQ(addresses({{"n1", "root.mid.leaf1.n1", "switch.switch.switch.node"},
                         {"n2", "root..leaf2.n2", "switch.switch.switch.node"},
                         {"n3", "root.leaf3.n3", "switch.switch.node"},
                         {"n4", "n4", "node"},
                         {"n5", "", ""}}),
              "root>mid mid>leaf1 leaf1>'n1' root>leaf2 leaf2>'n2' root>leaf3 leaf3>'n3' ");
}

TEST(SlurmAddresses, BlocksAndNoSwitches) {
    EXPECT_EQ(addresses({{"n1", "b1.n1", "block.node"}, {"n2", "b2.n2", "block.node"}}),
              "b1>'n1' b2>'n2' ");
    EXPECT_EQ(addresses({{"n1", "n1", "node"}, {"n2", "n2", "node"}}),
              "note: SLURM names no switches above the hosts\n");
}

TEST(SlurmAddresses, NamesMayHoldDots) {
    EXPECT_EQ(addresses({{"n1", "switch.2.1.switch.1.[1-2].n1", "switch.switch.node"}}),
              "switch.2.1>switch.1.[1-2] switch.1.[1-2]>'n1' ");
    EXPECT_EQ(addresses({{"n1.site.org", "root.leaf.n1.site.org", "switch.switch.node"}}),
              "root>leaf leaf>'n1.site.org' ");
    EXPECT_EQ(addresses({{"n1", "root.leaf.n1.site", "switch.switch.node"}}),
              "root>leaf leaf>'n1' ");
}

TEST(SlurmAddresses, TheFirstOfEqualNamesCounts) {
    EXPECT_EQ(addresses({{"n1", "a.n1", "switch.node"}, {"n1", "b.n1", "switch.node"}}), "a>'n1' ");
}

TEST(SlurmAddresses, ErrorsNameTheHostAndItsAddress) {
    const auto error = [](const std::string& address, const std::string& why) {
        return "SLURM_TOPOLOGY_ADDR \"" + address + "\" of host \"n1\": " + why +
               "; expected names of switches and the node with dots between them, such as "
               "root.s[4-7].node12";
    };
    EXPECT_EQ(addresses({{"n1", "root.", "switch.node"}}),
              error("root.", "no node name at the end"));
    EXPECT_EQ(addresses({{"n1", "s[4.n1", "switch.switch.node"}}),
              error("s[4.n1", "a bracket is not closed"));
    EXPECT_EQ(addresses({{"n1", "a.b.c.n1", "switch.switch.node"}}),
              error("a.b.c.n1", "3 words for the names of 2 switches"));
    EXPECT_EQ(addresses({{"n1", "a.n1", "switch.switch"}}),
              error("a.n1", "the pattern \"switch.switch\" does not end in \"node\""));
    EXPECT_EQ(addresses({{"n1", "s[x].n1", "switch.node"}}),
              error("s[x].n1", "host list \"s[x]\": column 3: found \"x\", expected a number"));
}

// ---- trees --------------------------------------------------------------------------------------

/// Returns the tree of a job with one rank on every host of the fabric; on two other hosts if it
/// names none.
std::string tree_of(const Result<Fabric>& fabric) {
    if (!fabric.ok()) return fabric.status().message();
    const Result<SwitchTree> switches = switch_tree(*fabric);
    if (!switches.ok()) return switches.status().message();
    std::vector<std::string> names;
    for (const Fabric::Node& node : fabric->nodes)
        if (node.is_host) names.push_back(node.name);
    if (names.empty()) names = {"unnamed1", "unnamed2"};
    std::vector<HostSubtree> hosts;
    for (const std::string& name : names) {
        const int rank = static_cast<int>(hosts.size());
        hosts.push_back(
            {rank, {VertexKind::host, name, -1, {}, {{VertexKind::rank, "", rank, {}, {}}}}});
    }
    std::vector<std::string> notes = switches->notes;
    const Result<Tree> tree = Tree::make(hang_hosts(*switches, std::move(hosts), notes));
    return tree.ok() ? test::outline_of(*tree) + test::lines_of(notes) : tree.status().message();
}

class SlurmFile : public testing::TestWithParam<const char*> {};

TEST_P(SlurmFile, BecomesTheGoldenTree) {
    const std::string name = std::string("slurm/") + GetParam();
    const std::string text = test::file_bytes(test::golden_path(name));
    ASSERT_FALSE(text.empty());
    const bool is_yaml = name.ends_with(".yaml");
    test::expect_golden(name + ".txt", tree_of(is_yaml ? fabric_from_slurm_yaml(text)
                                                       : fabric_from_slurm_conf(text)));
}

INSTANTIATE_TEST_SUITE_P(
    Slurm, SlurmFile,
    testing::Values("two-levels.conf", "unbalanced.conf", "several-parents.conf",
                    "no-common-root.conf", "lone-trunks.conf", "all-nodes.conf", "blocks.conf",
                    "topograph-tree.conf", "four-levels.conf", "ring.conf", "blanks.conf",
                    "scontrol.conf", "host-on-two-switches.conf", "tree.yaml",
                    "topograph-partitions.yaml", "dynamic-nodes.yaml", "flat.yaml", "torus.yaml"));

TEST(SlurmTree, AddressesAndConfOfOneClusterAgree) {
    const Result<Fabric> from_addresses = fabric_from_slurm_addresses(
        std::vector<SlurmAddress>{{"c0", "spine[0-1].leaf0.c0", "switch.switch.node"},
                                  {"c1", "spine[0-1].leaf0.c1", "switch.switch.node"},
                                  {"c2", "spine[0-1].leaf1.c2", "switch.switch.node"},
                                  {"c3", "spine[0-1].leaf1.c3", "switch.switch.node"}});
    const Result<Fabric> from_conf = fabric_from_slurm_conf(
        "SwitchName=leaf0 Nodes=c[0-1]\nSwitchName=leaf1 Nodes=c[2-3]\n"
        "SwitchName=spine0 Switches=leaf[0-1]\n"
        "SwitchName=spine1 Switches=leaf[0-1]\n");
    EXPECT_EQ(tree_of(from_addresses), tree_of(from_conf));
}

TEST(SlurmTree, SwitchesInACircleAreRefused) {
    EXPECT_EQ(tree_of(fabric_from_slurm_conf(
                  "SwitchName=a Switches=b\nSwitchName=b Switches=a Nodes=n1")),
              "the switches run in a cycle, each above the next: a -> b -> a");
}

}  // namespace
}  // namespace gradcoll
