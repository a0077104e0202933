// tests/topology/fabric_formats_test.cpp - texts of fabrics: recorded ones give their golden trees,
// broken ones an error with a line.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "fabric/infiniband/ib_reader.hpp"
#include "fabric_outline.hpp"

namespace gradcoll {
namespace {

const std::filesystem::path recorded =
    std::filesystem::path(GRADCOLL_TESTS_DIR) / "golden" / "topologies" / "fabric";

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Returns the tree of a text of unknown format, or why there is none.
std::string outline(const std::string& text) {
    const FabricFormat* format = fabric_format_of(text);
    if (!format) return "no format";
    const Result<Fabric> fabric = format->read(text);
    if (!fabric) return fabric.status().message();
    const Result<SwitchTree> tree = switch_tree(*fabric);
    return tree ? test::outline_of(*tree) : tree.status().message();
}

std::string error(const std::string& text, std::string_view format) {
    const Result<Fabric> fabric = test::fabric_format(format).read(text);
    return fabric ? "no error" : fabric.status().message();
}

std::string_view name_of_format(std::string_view text) {
    const FabricFormat* format = fabric_format_of(text);
    return format ? format->name : "none";
}

TEST(RecordedFabric, PlaFrimIsOneRootWithSixUnlikeBranches) {
    const auto path = std::filesystem::path(GRADCOLL_RECORDED_DIR) / "plafrim" / "ib-raw" /
                      "ib-subnet-fe80:0000:0000:0000.txt";
    const std::string text = text_of(path);
    EXPECT_EQ(name_of_format(text), "ib-subnet");
    EXPECT_EQ(outline(text), text_of(recorded / "plafrim.tree.txt"));
}

TEST(RecordedFabric, NdrIsNineSpinesOverEightUnitsOfFourRails) {
    const std::string text = text_of(recorded / "ibnetdiscover-ndr-40-switches.out");
    EXPECT_EQ(name_of_format(text), "ibnetdiscover");
    EXPECT_EQ(outline(text), text_of(recorded / "ibnetdiscover-ndr-40-switches.tree.txt"));
}

TEST(FabricFormat, EachIsToldByItsFirstLines) {
    EXPECT_EQ(name_of_format("# x\n\nSwitchName=s1 Nodes=n1\n"), "topology.conf");
    EXPECT_EQ(name_of_format("blockname=b1 nodes=n1\n"), "topology.conf");
    EXPECT_EQ(name_of_format("---\n- topology: a\n"), "topology.yaml");
    EXPECT_EQ(name_of_format("- topology: a\n  tree:\n"), "topology.yaml");
    EXPECT_EQ(name_of_format("vendid=0x2c9\ndevid=1\n"), "ibnetdiscover");
    EXPECT_EQ(name_of_format("Switch\t36 \"S-1\" # \"x\"\n"), "ibnetdiscover");
    EXPECT_EQ(name_of_format("DR path slid 0; dlid 0\n"), "ib-subnet");
    EXPECT_EQ(name_of_format("SW 1 2 0x3 4x QDR\n"), "ib-subnet");
    EXPECT_EQ(name_of_format("host,switch\nn1,s1\n"), "CSV");
    EXPECT_EQ(name_of_format("any, thing\n0: 0 0 0\n"), "MPICH coordinates");
    EXPECT_EQ(name_of_format(""), "none");
    EXPECT_EQ(name_of_format("# only a comment\n"), "none");
    EXPECT_EQ(name_of_format("once upon a time\n"), "none");
}

TEST(FabricFormat, NamesAreDifferentAndEachIsListedByItselfOrByTheOneBefore) {
    std::set<std::string_view> names;
    std::string_view family;
    for (const FabricFormat& format : fabric_formats()) {
        EXPECT_TRUE(names.insert(format.name).second) << format.name;
        EXPECT_FALSE(format.family.empty()) << format.name;
        EXPECT_TRUE(!format.listed.empty() || format.family == family) << format.name;
        family = format.family;
    }
    for (const char* name : {"topology.conf", "MPICH coordinates", "CSV"})
        EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(InfiniBand, DataRatesAreLanesTimesSpeed) {
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("4x", "QDR"), 4);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("1x", "SDR"), 0.25);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("12x", "DDR"), 6);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("4x", "FDR10"), 5);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("4x", "EDR"), 12.5);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("2x", "HDR"), 12.5);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("4x", "NDR"), 50);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("8x", "XDR"), 200);
    EXPECT_DOUBLE_EQ(*ib_gbytes_per_s("4x", "???"), 0);
    EXPECT_FALSE(ib_gbytes_per_s("3x", "QDR"));
    EXPECT_FALSE(ib_gbytes_per_s("4", "QDR"));
}

TEST(InfiniBand, DescriptionsNameHostsUnlessTheyNameTheVendor) {
    EXPECT_EQ(ib_host_of("mirage006 HCA-1"), "mirage006");
    EXPECT_EQ(ib_host_of("a08-p1-dgx-04-c01 mlx5_5"), "a08-p1-dgx-04-c01");
    EXPECT_EQ(ib_host_of("MT4129 ConnectX7   Mellanox Technologies"), std::nullopt);
    EXPECT_EQ(ib_host_of("Mellanox Technologies Aggregation Node"), std::nullopt);
    EXPECT_EQ(ib_host_of("Quantum Mellanox Technologies"), std::nullopt);
    EXPECT_EQ(ib_host_of("localhost HCA-1"), std::nullopt);
    EXPECT_EQ(ib_host_of(""), std::nullopt);
}

TEST(InfiniBand, SwitchesHaveShortNames) {
    EXPECT_EQ(ib_switch_name_of("MF0;A09-P1-IBLEAF-04-04:MQM9701/U1"), "A09-P1-IBLEAF-04-04");
    EXPECT_EQ(ib_switch_name_of("MF0;director:SX6536/L03/U1"), "director/L03/U1");
    EXPECT_EQ(ib_switch_name_of("Voltaire 4036 # 4036-84FA"), "4036-84FA");
    EXPECT_EQ(ib_switch_name_of("leaf 7"), "leaf 7");
    EXPECT_EQ(ib_switch_name_of("Infiniscale-IV Mellanox Technologies"), "");
}

const std::string two_ports =
    "Switch 36 \"S-a\" # \"leaf\" base port 0\n"
    "[1] \"H-1\"[1](1) # \"n1 mlx5_0\" lid 3 4xHDR\n"
    "[2][ext 7] \"H-2\"[1](2) # \"n2 \"quoted\" mlx5_0\" lid 4 4xHDR\n";

TEST(InfiniBand, ACableThatIsListedFromBothEndsCountsOnce) {
    EXPECT_EQ(outline(two_ports + "Ca 1 \"H-1\" # \"n1 mlx5_0\"\n"
                                  "[1](1) \"S-a\"[1] # lid 3 lmc 0 \"leaf\" lid 1 4xHDR\n"),
              "leaf\n"
              "  2 hosts, 25 GB/s: n[1-2]\n");
}

TEST(InfiniBand, SwitchesWithoutANameOfTheirOwnGoByIdentifier) {
    EXPECT_EQ(outline("Switch 36 \"S-a\" # \"Quantum Mellanox Technologies\"\n"
                      "[1] \"H-1\"[1] # \"n1 mlx5_0\" lid 3 4xHDR\n"
                      "[2] \"S-b\"[1] # \"same\" lid 3 4xHDR\n"
                      "[3] \"S-c\"[1] # \"same\" lid 3 4xHDR\n"
                      "Switch 36 \"S-b\" # \"same\"\n"
                      "[2] \"H-2\"[1] # \"n2 mlx5_0\" lid 3 4xHDR\n"
                      "Switch 36 \"S-c\" # \"same\"\n"
                      "[2] \"H-3\"[1] # \"n3 mlx5_0\" lid 3 4x???\n"),
              "S-a\n"
              "  1 hosts, 25 GB/s: n1\n"
              "  same/S-b, 25 GB/s\n"
              "    1 hosts, 25 GB/s: n2\n"
              "  same/S-c, 25 GB/s\n"
              "    1 hosts: n3\n");
}

TEST(InfiniBand, BrokenLinesOfIbnetdiscoverAreNamed) {
    const auto told = [](const std::string& text) {
        return error("# comment\nvendid=0x1\n" + text, "ibnetdiscover");
    };
    EXPECT_EQ(told("Hub 3\n"), "line 3: found Hub 3, expected Switch, Ca, Rt, [port] or key=value");
    EXPECT_EQ(told("Switch 36 S-a\n"),
              "line 3: found Switch 36 S-a, expected a number of ports and an identifier (Switch "
              "36 \"S-0008f105001084fa\")");
    EXPECT_EQ(told("[1] \"H-1\"[1] # \"n1\" 4xHDR\n"),
              "line 3: found [1] \"H-1\"[1] # \"n1\" 4xHDR, expected a Switch, Ca or Rt line "
              "before its ports");
    EXPECT_EQ(told("Switch 36 \"S-a\"\n[1 \"H-1\"\n"),
              "line 4: found [1 \"H-1\", expected [port] \"identifier\"[port] ([35] "
              "\"S-2c5eab03\"[32])");
    EXPECT_EQ(told("Switch 36 \"S-a\"\n[1] \"H-1\"[1] # \"n1\" lid 3\n"),
              "line 4: found [1] \"H-1\"[1] # \"n1\" lid 3, expected width and speed at the end of "
              "the line, such as 4xNDR");
    EXPECT_EQ(told(""), "the fabric has no hosts, needed is at least one");
}

TEST(InfiniBand, BrokenLinesOfAnIbSubnetAreNamed) {
    const auto told = [](const std::string& text) {
        return error("DR path slid 0\n" + text, "ib-subnet");
    };
    EXPECT_EQ(told("SW 1 x 0x3 4x QDR\n"),
              "line 2: found SW 1 x 0x3 4x QDR, expected SW, CA or RT, lid, port, guid, width and "
              "speed");
    EXPECT_EQ(told("SW 1 2 0x3 5x QDR\n"),
              "line 2: found 5x, expected a width of 1x, 2x, 4x, 8x or 12x and a speed");
    EXPECT_EQ(told("SW 1 2 0x3 4x QDR - CA 1 1 0x4 ( 'leaf' - 'n1\n"),
              "line 2: found SW 1 2 0x3 4x QDR - CA 1 1 0x4 ( 'leaf' - 'n1, expected after the "
              "dash: SW, CA or RT, lid, port, guid, ( 'one end' - 'other end' )");
    EXPECT_EQ(told("SW 1 2 0x3 4x ???   'leaf'\n"),
              "the fabric has no hosts, needed is at least one");
}

TEST(Csv, IsATableOfHostsAndSwitches) {
    EXPECT_EQ(outline("# our cluster\n"
                      "host,switch,gbytes_per_s,latency_us\r\n"
                      "n[1-2,4],leaf1,12.5,1\r\n"
                      "\"n[5,6]\",leaf2,12.5\n"
                      "n3 , leaf2\n"
                      "\n"
                      "leaf1,top,50,2\n"
                      "switch:leaf2,top,25\n"
                      "switch:spare,top\n"),
              "top\n"
              "  leaf1, 50 GB/s, 2 us\n"
              "    3 hosts, 12.5 GB/s, 1 us: n[1-2,4]\n"
              "  leaf2, 25 GB/s\n"
              "    1 hosts: n3\n"
              "    2 hosts, 12.5 GB/s: n[5-6]\n");
}

TEST(Csv, BrokenLinesAreNamed) {
    const auto told = [](const std::string& line) { return error("n1,s1\n" + line + "\n", "CSV"); };
    const std::string columns = "host,switch[,gbytes_per_s[,latency_us]]";
    EXPECT_EQ(told("n2"), "line 2: found n2, expected " + columns);
    EXPECT_EQ(told("n2,"), "line 2: found n2,, expected " + columns);
    EXPECT_EQ(told(",s1"), "line 2: found ,s1, expected " + columns);
    EXPECT_EQ(told("n2,s1,1,2,3"), "line 2: found n2,s1,1,2,3, expected " + columns);
    EXPECT_EQ(told("n2,s1,-1"), "line 2: found -1, expected a finite number that is not negative");
    EXPECT_EQ(told("n2,s1,1,inf"),
              "line 2: found inf, expected a finite number that is not negative");
    EXPECT_EQ(told("s1,s1"),
              "line 2: found s1,s1, expected a switch below another one than itself");
    EXPECT_EQ(told("n[1-,s1").substr(0, 49), "line 2: found n[1-,s1, expected host,switch[,gbyt");
    EXPECT_EQ(told("n[3-1],s1").substr(0, 44), "line 2: found n[3-1], expected a host list: ");
}

TEST(Csv, ListsBeyondTheLimitsEndEarly) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "x" + std::to_string(i) + "n[0-599999],s\n";
    EXPECT_EQ(error(text, "CSV"),
              "the fabric has more than 1048576 switches and hosts, allowed are up to that many");
}

TEST(MpichCoordinates, AreGroupsOfSwitchesOfRanks) {
    EXPECT_EQ(outline("coordinates\n0: 0 0 0\n1: 0 1 0\n2: 1 0 0\n3: 1 0 1\n"),
              "all groups\n"
              "  group 0\n"
              "    group 0 switch 0\n"
              "      1 hosts: 0\n"
              "    group 0 switch 1\n"
              "      1 hosts: 1\n"
              "  group 1\n"
              "    group 1 switch 0\n"
              "      2 hosts: [2-3]\n");
}

TEST(MpichCoordinates, BrokenLinesAreNamed) {
    const auto told = [](const std::string& text) {
        return error("coordinates\n0: 0 0 0\n" + text, "MPICH coordinates");
    };
    EXPECT_EQ(told("1: 0 0\n"),
              "line 3: found 1: 0 0, expected rank: group switch port (3: 0 1 5)");
    EXPECT_EQ(told("-1: 0 0 0\n"),
              "line 3: found -1: 0 0 0, expected rank: group switch port (3: 0 1 5)");
    EXPECT_EQ(told("99999999999: 0 0 0\n"),
              "line 3: found 99999999999: 0 0 0, expected rank: group switch port (3: 0 1 5)");
    EXPECT_EQ(told("\n00: 0 0 1\n"), "line 4: found 00: 0 0 1, expected each rank once");
}

}  // namespace
}  // namespace gradcoll
