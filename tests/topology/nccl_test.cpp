// tests/topology/nccl_test.cpp - hosts from NCCL's topology files: recorded ones and made-up ones.
#include "topology/sources/host/nccl.hpp"

#include <gtest/gtest.h>

#include "topology/outline.hpp"
#include "topology/pci_address.hpp"
#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

std::vector<int> ranks_to(int count) {
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

/// Returns the tree of `count` ranks and the notes, or why there is none.
std::string outline_from(const std::string& xml, int count) {
    std::vector<std::string> notes;
    const Result<TreeSpec> host = host_from_nccl(xml, ranks_to(count), notes);
    if (!host.ok()) return host.status().message();
    const Result<Tree> tree = Tree::make(*host);
    if (!tree.ok()) return tree.status().message();
    return test::outline_of(*tree) + test::lines_of(notes);
}

std::string expression_from(const std::string& xml, int count) {
    std::vector<std::string> notes;
    const Result<TreeSpec> host = host_from_nccl(xml, ranks_to(count), notes);
    if (!host.ok()) return host.status().message();
    const Result<Tree> tree = Tree::make(*host);
    return (tree.ok() ? expression_of(*tree) : tree.status().message()) + test::lines_of(notes);
}

std::string pci(const std::string& id, const std::string& inside,
                const std::string& link = "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"",
                const std::string& kind = "0x060400") {
    return "<pci busid=\"" + id + "\" class=\"" + kind + "\" " + link + ">" + inside + "</pci>";
}
std::string gpu(const std::string& id, const std::string& links = "",
                const std::string& link = "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"") {
    return pci(id, links, link, "0x030200");
}
std::string cpu(int numa, const std::string& inside) {
    return "<cpu numaid=\"" + std::to_string(numa) + "\">" + inside + "</cpu>";
}
std::string in_system(const std::string& inside) {
    return "<system version=\"1\">" + inside + "</system>";
}

struct Recorded {
    const char* file;
    int ranks;
};

class RecordedGpuHost : public testing::TestWithParam<Recorded> {};

TEST_P(RecordedGpuHost, OneRankAGpuGivesTheGoldenTree) {
    const std::string name = std::string("nccl/") + GetParam().file;
    test::expect_golden(
        name + ".txt",
        outline_from(test::file_bytes(test::golden_path(name + ".xml")), GetParam().ranks));
}

INSTANTIATE_TEST_SUITE_P(Nccl, RecordedGpuHost,
                         testing::Values(Recorded{"g5.48xl-topo", 8}, Recorded{"ndv4-topo", 8},
                                         Recorded{"ndv5-topo", 8}, Recorded{"p4d-24xl-topo", 8},
                                         Recorded{"topo_16p1h", 16}, Recorded{"topo_3p_pcie", 3},
                                         Recorded{"topo_8p_940", 8},
                                         Recorded{"topo_8p_rome_n4", 8}));

TEST(PcieLink, CarriesWhatItsEncodingLeaves) {
    EXPECT_DOUBLE_EQ(pcie_gbytes_per_s(2.5, 8), 2);
    EXPECT_DOUBLE_EQ(pcie_gbytes_per_s(5, 16), 8);
    EXPECT_NEAR(pcie_gbytes_per_s(8, 16), 15.75, 0.01);
    EXPECT_NEAR(pcie_gbytes_per_s(16, 16), 31.51, 0.01);
    EXPECT_NEAR(pcie_gbytes_per_s(32, 16), 63.02, 0.01);
    EXPECT_DOUBLE_EQ(pcie_gbytes_per_s(64, 16), 121);
    EXPECT_EQ(pcie_gbytes_per_s(0, 16), 0);
    EXPECT_EQ(pcie_gbytes_per_s(16, 255), 0);
    EXPECT_EQ(pcie_gbytes_per_s(1e300, 16), 0);
}

const std::string two_and_one =
    in_system(cpu(0, pci("b0", gpu("g0") + gpu("g1"))) + cpu(1, pci("b1", gpu("g2"))));

TEST(GpuHost, MoreRanksThanGpusGoRoundRobin) {
    EXPECT_EQ(expression_from(two_and_one, 3), "((0 1)2)");
    EXPECT_EQ(expression_from(two_and_one, 5), "(((0 3)(1 4))2)");
    EXPECT_EQ(expression_from(two_and_one, 2), "(0 1)");
    EXPECT_EQ(expression_from(two_and_one, 1), "0");
}

TEST(GpuHost, RanksThatSayWhichGpuTheyUseAreThere) {
    const std::string xml =
        in_system(cpu(0, gpu("0000:10:00.0") + gpu("0000:1B:00.0")) + cpu(1, gpu("0000:a0:00.0")));
    const auto shape = [&](const std::vector<std::string>& gpus) {
        std::vector<std::string> notes;
        const auto host = host_from_nccl(xml, ranks_to(static_cast<int>(gpus.size())), notes, gpus);
        return host.ok() ? expression_of(*Tree::make(*host)) : host.status().message();
    };
    EXPECT_EQ(shape({"0000:a0:00.0", "0000:1b:00.0", "0000:10:00.0"}), "((2 1)0)");
    EXPECT_EQ(shape({"0000:a0:00.0", "0000:1b:00.0", "0000:1b:00.0"}), "((1 2)0)");
    EXPECT_EQ(shape({"0000:a0:00.0", "", "0000:10:00.0"}), "((0 1)2)");
    EXPECT_EQ(shape({"0000:a0:00.0", "0000:ff:00.0", "0000:10:00.0"}), "((0 1)2)");
}

TEST(GpuHost, DevicesWithNumbersAreInTheirOrder) {
    EXPECT_EQ(expression_from(
                  in_system(cpu(0, gpu("g0", "<gpu dev=\"2\"/>") + gpu("g1", "<gpu dev=\"0\"/>")) +
                            cpu(1, gpu("g2", "<gpu dev=\"1\"/>"))),
                  3),
              "((2 0)1)");
}

TEST(GpuHost, GpusJoinedEachWithEachAreAnIsland) {
    const auto to = [](const std::string& target) {
        return "<nvlink target=\"" + target + "\" count=\"2\" tclass=\"0x030200\"/>";
    };
    const auto with = [&](const std::string& links) { return "<gpu>" + links + "</gpu>"; };
    EXPECT_EQ(
        expression_from(in_system(cpu(0, gpu("g0", with(to("g2"))) + gpu("g1", with(to("g3")))) +
                                  cpu(1, gpu("g2", with(to("g0"))) + gpu("g3", with(to("g1"))))),
                        4),
        "((0 2)(1 3))");
    EXPECT_EQ(
        expression_from(in_system(cpu(0, gpu("g0", with(to("g1"))) + gpu("g1", with(to("g2")))) +
                                  cpu(1, gpu("g2", ""))),
                        3),
        "((0 1)2)note: links between GPUs join 3 of them, but not each with each: a group of "
        "them is, else the tree is that of PCIe\n");
}

TEST(GpuHost, GpusOfOneNvSwitchAreAnIsland) {
    const std::string link =
        "<gpu><nvlink target=\"fffffff:ffff:ff\" count=\"12\" tclass=\"0x068000\"/></gpu>";
    EXPECT_EQ(
        outline_from(in_system(cpu(0, gpu("g0", link)) + cpu(1, gpu("g1", link) + gpu("g2", link))),
                     3),
        "host\n  gpu 0 \"g0\"\n  gpu 1 \"g1\"\n  gpu 2 \"g2\"\n");
}

TEST(GpuHost, LinksMayWriteAddressesWithALongerDomain) {
    const auto joined_to = [](const std::string& target) {
        return "<gpu><nvlink target=\"" + target + "\" count=\"4\" tclass=\"0x030200\"/></gpu>";
    };
    EXPECT_EQ(expression_from(in_system(cpu(0, gpu("0000:1b:00.0", joined_to("00000000:A0:00.0"))) +
                                        cpu(1, gpu("0000:a0:00.0", joined_to("00000000:1B:00.0")) +
                                                   gpu("0000:b0:00.0"))),
                              3),
              "(2(0 1))");
}

TEST(GpuHost, APartitionedGpuIsSeveralPlaces) {
    const std::string parts = "<gpu dev=\"0\" mlopart=\"0\"/><gpu dev=\"0\" mlopart=\"1\"/>";
    const std::string xml = in_system(cpu(0, gpu("g0", parts) + gpu("g1", "<gpu dev=\"1\"/>")));
    EXPECT_EQ(expression_from(xml, 3), "((0 1)2)");
    EXPECT_EQ(expression_from(xml, 6), "((0 1 3 4)(2 5))");
    EXPECT_EQ(count_nccl_places(xml).value(), 3U);
    EXPECT_EQ(count_nccl_places(two_and_one).value(), 3U);
    EXPECT_EQ(count_nccl_places(in_system(cpu(0, "") + cpu(1, ""))).value(), 2U);
    EXPECT_EQ(count_nccl_places("").status().message(),
              "NCCL topology: line 1: No document element found");
}

TEST(GpuHost, TheShortClassOfAGpuWithoutOneIsRead) {
    EXPECT_EQ(expression_from(in_system(cpu(0, pci("g0", "", "", "0x03") + gpu("g1"))), 2),
              "(0 1)");
}

TEST(GpuHost, AFasterLinkToTheCpuReplacesPcie) {
    const auto beside_cpu = [](const char* id, const char* bw) {
        return pci("b" + std::string(id),
                   gpu(id, "<gpu><c2c bw=\"" + std::string(bw) + "\" count=\"10\"/></gpu>"));
    };
    EXPECT_EQ(outline_from(in_system(cpu(0, beside_cpu("g0", "44712") + beside_cpu("g1", "1") +
                                                beside_cpu("g2", "-9") + beside_cpu("g3", "nan"))),
                           4),
              "host\n  gpu 0 \"g0\", 447.1 GB/s\n  gpu 1 \"g1\", 31.51 GB/s\n  gpu 2 \"g2\", "
              "31.51 GB/s\n  gpu 3 \"g3\", 31.51 GB/s\n");
}

TEST(GpuHost, OfSeveralHostsTheFirstIsTaken) {
    const auto cpu_of = [](const char* host, const std::string& inside) {
        return "<cpu host_hash=\"" + std::string(host) + "\" numaid=\"0\">" + inside + "</cpu>";
    };
    const std::string xml = in_system(cpu_of("0x1", gpu("g0")) + cpu_of("0x2", gpu("g0")) +
                                      cpu_of("0x1", gpu("g1")) + cpu_of("0x2", gpu("g1")));
    EXPECT_EQ(expression_from(xml, 2),
              "(0 1)note: the NCCL topology shows 2 hosts: the first is taken\n");
    EXPECT_EQ(count_nccl_places(xml).value(), 2U);
}

TEST(GpuHost, ImplausibleLinksAreNotKnownAndNoted) {
    EXPECT_EQ(
        outline_from(in_system(cpu(0, gpu("g0", "", "link_speed=\"2.5 GT/s\" link_width=\"16\"") +
                                          gpu("g1", "", "link_speed=\"16 GT/s\" link_width=\"1\"") +
                                          gpu("g2", "", "link_speed=\"16 GT/s\" link_width=\"8\"") +
                                          gpu("g3", "", "link_speed=\"Unknown\" link_width=\"\""))),
                     4),
        "host\n  gpu 0 \"g0\"\n  gpu 1 \"g1\"\n  gpu 2 \"g2\", 15.75 GB/s\n  gpu 3 \"g3\"\nnote: "
        "the "
        "NCCL topology states implausible PCIe links, taken as not known: g0 (2.5 GT/s, 16 lanes) "
        "and 1 more\n");
}

TEST(GpuHost, ErrorsNameTheLine) {
    EXPECT_EQ(expression_from("<system>\n<cpu>\n</system>", 1),
              "NCCL topology: line 3: Start-end tags mismatch");
    EXPECT_EQ(expression_from("<graphs/>", 1),
              "NCCL topology: line 1: no <system> is there, as NCCL_TOPO_DUMP_FILE writes it");
    EXPECT_EQ(expression_from("", 1), "NCCL topology: line 1: No document element found");
    EXPECT_EQ(expression_from("\n<system/>", 1), "NCCL topology: line 2: <system> has no <cpu>");
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "<pci class=\"0x060400\">";
    deep += "<pci/>";
    for (int i = 0; i < 100; ++i) deep += "</pci>";
    EXPECT_EQ(expression_from("<system><cpu>\n" + deep + "</cpu></system>", 1),
              "NCCL topology: line 2: more than 64 <pci> within each other");
    EXPECT_EQ(expression_from("<system/>", 0), "NCCL topology: a described host has no ranks");
}

}  // namespace
}  // namespace gradcoll
