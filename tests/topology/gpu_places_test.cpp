// tests/topology/gpu_places_test.cpp - PCI addresses, links between GPUs, and ranks below the GPUs
// that they use: made-up hosts.
#include "topology/sources/host/gpu_places.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "topology/outline.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/host/host_subtree.hpp"
#include "topology/sources/host/hwloc_xml.hpp"
#include "topology/sources/job/reports.hpp"

namespace gradcoll {
namespace {

std::string read_back(std::string_view text) {
    const auto address = PciAddress::from(text);
    return address ? address->text() : "none";
}

TEST(PciAddress, ReadsTheFormsOfDriversAndWritesOne) {
    EXPECT_EQ(read_back("0000:3b:00.0"), "0000:3b:00.0");
    EXPECT_EQ(read_back("00000000:3B:00.0"), "0000:3b:00.0");
    EXPECT_EQ(read_back("3b:1f.7"), "0000:3b:1f.7");
    EXPECT_EQ(read_back("10000:01:00.0"), "10000:01:00.0");
    EXPECT_EQ(PciAddress::from("0002:01:00.1")->index(), 0x20101u);
}

TEST(PciAddress, RefusesWhatIsNone) {
    for (const char* text :
         {"", ":", ".", "0000:3b:00", "3b.0", "0000:3b:20.0", "0000:3b:00.8", "0000:100:00.0",
          "x000:3b:00.0", "000000000:3b:00.0", "0000:3b:00.0 ", "-1:00.0", ":3b:00.0", "0:3b:.0"})
        EXPECT_EQ(read_back(text), "none") << text;
}

LinkedGpu gpu(const std::string& name, std::vector<GpuLink> links) {
    return {name, std::move(links)};
}

/// Returns a text such as "0 1 at 50 50; ", and the note.
std::string islands_in_words(const std::vector<LinkedGpu>& gpus) {
    const GpuIslands found = islands_of(gpus);
    std::string words;
    for (const GpuIsland& island : found.islands) {
        for (const std::size_t member : island.members) words += std::to_string(member) + " ";
        words += "at";
        for (const double figure : island.gbytes_per_s) words += fmt::format(" {}", figure);
        words += "; ";
    }
    return words + found.note;
}

TEST(GpuIslands, AreGpusThatAreJoinedEachWithEach) {
    EXPECT_EQ(islands_in_words(
                  {gpu("a", {{"b", false, 50}}), gpu("b", {{"a", false, 50}}), gpu("c", {})}),
              "0 1 at 50 50; ");
    EXPECT_EQ(islands_in_words({gpu("a", {{"b", false, 25}, {"c", false, 50}}),
                                gpu("b", {{"a", false, 25}, {"c", false, 25}}),
                                gpu("c", {{"a", false, 50}, {"b", false, 25}})}),
              "0 1 2 at 75 50 75; ");
    EXPECT_EQ(
        islands_in_words({gpu("a", {{"b"}}), gpu("b", {{"c"}}), gpu("c", {})}),
        "links between GPUs join 3 of them, but not each with each: the tree is that of PCIe");
}

TEST(GpuIslands, OneSwitchJoinsAll) {
    const std::vector<GpuLink> up{{"s1", true, 150}, {"s2", true, 150}};
    EXPECT_EQ(islands_in_words({gpu("a", up), gpu("b", up), gpu("c", {{"s1", true, 25}})}),
              "0 1 2 at 300 300 25; ");
    EXPECT_EQ(
        islands_in_words({gpu("a", {{"s1", true}}), gpu("b", {{"s1", true}, {"s2", true}}),
                          gpu("c", {{"s2", true}})}),
        "links between GPUs join 3 of them, but not each with each: the tree is that of PCIe");
}

/// This machine has eight GPUs in two packages, each pair of which shares a PCIe bridge, as in a
/// DGX-1: all four of a package are joined, and each has a partner in the other package.
TEST(GpuIslands, AMeshOfCubesIsTwoIslands) {
    std::vector<LinkedGpu> gpus;
    for (std::size_t i = 0; i < 8; ++i) {
        LinkedGpu one{std::to_string(i), {}, {1, 10 + i / 4, 100 + i / 2}};
        for (std::size_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j)
            if (j != i)
                one.links.push_back({std::to_string(j), false, i / 2 == j / 2 ? 50.0 : 25.0});
        one.links.push_back({std::to_string((i + 4) % 8), false, 25});
        gpus.push_back(std::move(one));
    }
    EXPECT_EQ(islands_in_words(gpus),
              "0 1 2 3 at 100 100 100 100; 4 5 6 7 at 100 100 100 100; links between GPUs join 8 "
              "of them, but not each with each: 2 groups of them are, else the tree is that of "
              "PCIe");
}

TEST(GpuIslands, LinksToGpusThatNobodyUsesDoNotCount) {
    EXPECT_EQ(islands_in_words({gpu("a", {{"b", false, 20}, {"x", false, 40}, {"x", false, 0}}),
                                gpu("b", {{"a", false, 20}, {"y", false, 40}})}),
              "0 1 at 20 20; ");
}

TEST(GpuIslands, AnUnknownSpeedMakesTheSumUnknown) {
    EXPECT_EQ(islands_in_words({gpu("a", {{"b", false, 0}}), gpu("b", {{"a", false, 40}})}),
              "0 1 at 0 40; ");
}

constexpr const char* gpu_a = "0000:3b:00.0";
constexpr const char* gpu_b = "0000:d8:00.0";

HostPath::Object package(std::uint32_t pu) {
    return {VertexKind::package, pu, fmt::format("P{}", pu)};
}
HostPath core(std::uint32_t pu) {
    return {"n", {package(pu / 4 * 4), {VertexKind::core, pu, fmt::format("C{}", pu)}}};
}
RankGpu used(const char* bus_id, std::uint32_t near_pu, std::vector<GpuLink> links = {}) {
    const std::uint32_t index = PciAddress::from(bus_id)->index();
    return {
        bus_id, {package(near_pu), {VertexKind::gpu, index, bus_id, {15.75, 0}}}, std::move(links)};
}

std::string outline_of(std::vector<HostPath> paths, const std::vector<RankGpu>& gpus) {
    std::vector<std::string> notes;
    place_on_gpus(paths, gpus, notes);
    std::vector<int> ranks(paths.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto tree = Tree::make(merge_host("n", paths, ranks));
    return tree.ok() ? test::outline_of(*tree) + test::lines_of(notes) : tree.status().message();
}

TEST(PlaceOnGpus, ARankIsBelowItsGpuWhereverItIsBound) {
    EXPECT_EQ(outline_of({core(0), core(1), core(4)}, {used(gpu_b, 4), {}, used(gpu_a, 0)}),
              "host \"n\"\n"
              "  gpu 0 \"0000:d8:00.0\", 15.75 GB/s\n"
              "  package \"P0\"\n"
              "    rank 1\n"
              "    gpu 2 \"0000:3b:00.0\", 15.75 GB/s\n");
}

TEST(PlaceOnGpus, RanksOfOneGpuAreLeavesBelowIt) {
    EXPECT_EQ(
        outline_of({core(0), core(1), core(4)}, {used(gpu_a, 0), used(gpu_a, 0), used(gpu_b, 4)}),
        "host \"n\"\n"
        "  gpu \"0000:3b:00.0\", 15.75 GB/s\n"
        "    rank 0\n"
        "    rank 1\n"
        "  gpu 2 \"0000:d8:00.0\", 15.75 GB/s\n");
}

TEST(PlaceOnGpus, TheLowestRankThatSawAGpuSpeaksForIt) {
    RankGpu blind = used(gpu_a, 0);
    blind.path.clear();
    EXPECT_EQ(
        outline_of({core(4), core(5), core(6)}, {blind, used(gpu_a, 0), used(gpu_a, 4)}),
        outline_of({core(4), core(5), core(6)}, {used(gpu_a, 0), used(gpu_a, 0), used(gpu_a, 0)}));
}

TEST(PlaceOnGpus, AGpuThatNobodySawIsWhereTheBindingsOfItsRanksMeet) {
    RankGpu a = used(gpu_a, 0), b = used(gpu_b, 4);
    a.path.clear();
    b.path.clear();
    EXPECT_EQ(outline_of({core(0), core(1), core(2), core(5)}, {a, a, {}, b}),
              "host \"n\"\n"
              "  package \"P0\"\n"
              "    gpu \"0000:3b:00.0\"\n"
              "      rank 0\n"
              "      rank 1\n"
              "    rank 2\n"
              "  gpu 3 \"0000:d8:00.0\"\n");
}

TEST(PlaceOnGpus, LinksReplaceThePathOverPcie) {
    const auto a = used(gpu_a, 0, {{gpu_b, false, 100}}), b = used(gpu_b, 4, {{gpu_a, false, 100}});
    EXPECT_EQ(outline_of({core(0), core(4), core(5)}, {a, b, {}}),
              "host \"n\"\n"
              "  group \"GPU links\"\n"
              "    gpu 0 \"0000:3b:00.0\", 100 GB/s\n"
              "    gpu 1 \"0000:d8:00.0\", 100 GB/s\n"
              "  rank 2\n");
}

TEST(PlaceOnGpus, WithoutGpusNothingChanges) {
    std::vector<HostPath> paths{core(0), core(5)};
    std::vector<std::string> notes;
    place_on_gpus(paths, std::vector<RankGpu>(2), notes);
    EXPECT_EQ(host_path_bytes(paths[0]), host_path_bytes(core(0)));
    EXPECT_EQ(host_path_bytes(paths[1]), host_path_bytes(core(5)));
}

/// Returns the error for a report with that GPU.
std::string verdict_on(const RankGpu& gpu) {
    RankReport report;
    report.path = core(0);
    report.gpu = gpu;
    std::vector<std::string> notes;
    const std::vector<std::string> reports{report_bytes(report)};
    const auto hosts = hosts_of_reports(reports, notes);
    return hosts.ok() ? "fine" : hosts.status().message().substr(0, 8);
}

TEST(GpuReports, ArriveWholeOrAreRefused) {
    EXPECT_EQ(verdict_on({}), "fine");
    EXPECT_EQ(verdict_on(used(gpu_a, 0, {{gpu_b, false, 25}})), "fine");
    RankGpu bad = used(gpu_a, 0);
    bad.bus_id = "GPU 0";
    EXPECT_EQ(verdict_on(bad), "rank 0: ");
    bad = used(gpu_a, 0);
    bad.path.pop_back();  // it ends with a package
    EXPECT_EQ(verdict_on(bad), "rank 0: ");
    EXPECT_EQ(verdict_on(used(gpu_a, 0, {{gpu_b, false, -1}})), "rank 0: ");
    bad = used(gpu_a, 0);
    bad.path.back().uplink.bandwidth_gbytes_per_s = std::numeric_limits<double>::infinity();
    EXPECT_EQ(verdict_on(bad), "rank 0: ");
}

TEST(GpuReports, CutShortTheyAreRefused) {
    RankReport report;
    report.path = core(0);
    report.gpu = used(gpu_a, 0, {{gpu_b, false, 25}});
    const std::string whole = report_bytes(report);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::vector<std::string> notes;
        const std::vector<std::string> reports{whole.substr(0, size)};
        EXPECT_FALSE(hosts_of_reports(reports, notes).ok()) << size;
    }
}

std::string matrix(const std::string& indexes, const std::string& values) {
    return "<topology><object type=\"PCIDev\" gp_index=\"7\" pci_busid=\"0000:01:00.0\" "
           "pci_type=\"0302 [10de:1]\"><object type=\"OSDev\" gp_index=\"8\"/></object>"
           "<object type=\"PCIDev\" gp_index=\"9\" pci_busid=\"0000:02:00.0\" "
           "pci_type=\"0680 [10de:2]\"/><distances2hetero name=\"NVLinkBandwidth\"><indexes>" +
           indexes + "</indexes><u64values>" + values +
           "</u64values></distances2hetero></topology>";
}

std::string links_in_words(const std::string& xml) {
    std::string words;
    for (const auto& [name, links] : gpu_links_in_hwloc_xml(xml))
        for (const GpuLink& link : links)
            words += fmt::format("{} {} {} {}; ", name, link.to_switch ? "switch" : "GPU",
                                 link.target, link.gbytes_per_s);
    return words;
}

TEST(HwlocLinks, AreReadFromTheMatrixOfBandwidths) {
    EXPECT_EQ(links_in_words(matrix("OSDev:8 PCIDev:9 Package:3", "9 50000 1 50000 0 1 1 1 1")),
              "0000:01:00.0 switch 0000:02:00.0 50; ");
}

/// Returns two GPUs of two tiles each, as hwloc shows Intel's: a tile is below its GPU.
std::string tiles(const char* number) {
    std::string xml = "<topology>";
    for (const char* gpu : {"1", "2"}) {
        const auto object = [&](const std::string& id) {
            return "<object type=\"OSDev\" " + std::string(number) + id + "\"";
        };
        xml += "<object type=\"PCIDev\" pci_busid=\"0000:0" + std::string(gpu) + ":00.0\">" +
               object(gpu) + ">" + object(gpu + std::string("0")) + "/>" +
               object(gpu + std::string("1")) + "/></object></object>";
    }
    return xml +
           "<distances2 name=\"XeLinkBandwidth\"><indexes>10 11 20 21</indexes><u64values>"
           "99000 98000 15000 0 98000 99000 0 16000 15000 0 99000 98000 0 16000 98000 99000"
           "</u64values></distances2></topology>";
}

TEST(HwlocLinks, PartsOfOneGpuShareItsLinks) {
    for (const char* number : {"gp_index=\"", "id=\"obj"})
        EXPECT_EQ(links_in_words(tiles(number)),
                  "0000:01:00.0 GPU 0000:02:00.0 16; 0000:02:00.0 GPU 0000:01:00.0 16; ");
    EXPECT_EQ(links_in_words(tiles("id=\"")), "") << "an id of hwloc begins with obj";
}

TEST(HwlocLinks, AMatrixThatContradictsItselfCountsAsNone) {
    EXPECT_EQ(links_in_words(matrix("OSDev:8 PCIDev:9", "9 50000 50000")), "");
    EXPECT_EQ(links_in_words(matrix("OSDev:8 PCIDev:9", "9 50000 50000 0 0")), "");
    EXPECT_EQ(links_in_words(matrix("OSDev:8 PCIDev:9", "9 -50000 50000 0")), "");
    EXPECT_EQ(links_in_words(matrix("OSDev:8", "9")), "");
    EXPECT_EQ(links_in_words(matrix("", "")), "");
    EXPECT_EQ(links_in_words(matrix("OSDev:1 PCIDev:2", "0 1 1 0")), "");
    EXPECT_EQ(links_in_words("<topology>NVLinkBandwidth"), "");
}

}  // namespace
}  // namespace gradcoll
