// tests/topology/gpu_hosts_test.cpp - recorded machines with GPUs, and the trees of ranks that use
// them (golden: tests/golden/topologies/gpus).
#include <gtest/gtest.h>

#include <algorithm>

#include "topology/dealt_host.hpp"
#include "topology/draw/draw.hpp"
#include "topology/outline.hpp"
#include "topology/random_tree.hpp"
#include "topology/sources/host/machine.hpp"
#include "topology/sources/host/this_machine.hpp"
#include "topology/sources/job/foreseen.hpp"
#include "topology/sources/job/job_tree.hpp"
#include "topology/sources/job/reports.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

constexpr int no_gpu = -1;

Machine machine_of(const std::string& name) {
    Result<Machine> machine = Machine::xml(test::golden_path("hwloc/" + name + ".xml"));
    EXPECT_TRUE(machine.ok()) << machine.status().message();
    return std::move(machine).value();
}

/// Makes the tree in which rank r is bound to core r and uses the GPU with the number gpus[r].
Result<DiscoveredTree> tree_of(const Machine& machine, const std::vector<int>& gpus) {
    const std::vector<RankGpu> all = machine.gpus();
    const std::vector<HostPath> cores = machine.paths_of_cores();
    std::vector<std::string> reports;
    for (std::size_t r = 0; r < gpus.size(); ++r) {
        RankReport report;
        report.path = cores[r % cores.size()];
        report.path.host_name = "n1";
        if (gpus[r] != no_gpu) report.gpu = all.at(static_cast<std::size_t>(gpus[r]));
        reports.push_back(report_bytes(report));
    }
    std::vector<std::string> notes;
    const auto hosts = hosts_of_reports(reports, notes);
    if (!hosts.ok()) return hosts.status();
    Job job;
    job.hosts = *hosts;
    return JobSources(*written_source("")).tree_of(job, std::move(notes));
}

std::string text_of(const Result<DiscoveredTree>& found) {
    if (!found.ok()) return found.status().message() + "\n";
    return test::outline_of(found->tree) + test::lines_of(found->notes);
}

std::vector<int> one_rank_a_gpu(const Machine& machine) {
    std::vector<int> gpus(machine.gpus().size());
    std::iota(gpus.begin(), gpus.end(), 0);
    return gpus;
}

class RecordedGpus : public testing::TestWithParam<std::string> {};

TEST_P(RecordedGpus, RanksOnGpusGiveTheGoldenTrees) {
    const Machine machine = machine_of(GetParam());
    const std::vector<int> each = one_rank_a_gpu(machine);
    const int last = each.back();
    std::string text = "one rank a GPU\n" + text_of(tree_of(machine, each));
    text += "\ntwo ranks on the first GPU\n" + text_of(tree_of(machine, {0, 0}));
    text += "\ntwo ranks on the first GPU, one on the last, one on none\n" +
            text_of(tree_of(machine, {0, last, 0, no_gpu}));
    test::expect_golden("gpus/" + GetParam() + ".txt", text);
}

TEST_P(RecordedGpus, WithoutRanksOnGpusTheTreeIsThatOfTheCores) {
    const Machine machine = machine_of(GetParam());
    const std::vector<HostPath> cores = machine.paths_of_cores();
    std::vector<int> ranks(cores.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto found = tree_of(machine, std::vector<int>(cores.size(), no_gpu));
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->tree.hash(), Tree::make(dealt_host("n1", cores, ranks))->hash());
}

TEST_P(RecordedGpus, DescribedHostsTakeOneRankAGpu) {
    const std::string path = test::golden_path("hwloc/" + GetParam() + ".xml");
    const auto cluster = foreseen_cluster({"gpus:" + path, {"n1"}});
    ASSERT_TRUE(cluster.ok()) << cluster.status().message();
    const Machine machine = machine_of(GetParam());
    const auto found = tree_of(machine, one_rank_a_gpu(machine));
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(cluster->tree.serialize(), found->tree.serialize());
}

INSTANTIATE_TEST_SUITE_P(Hwloc, RecordedGpus,
                         testing::Values("32em64t-2n8c2t-pci-wholeio",
                                         "64intel64-3g2n+2n-irregulargroups+pci", "nvidiaDGX2",
                                         "power8gpudistances"),
                         [](const auto& param_info) {
                             std::string name = param_info.param;
                             for (char& c : name)
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name;
                         });

TEST(GpuHosts, GpusAreNamedInDrawings) {
    const Machine machine = machine_of("power8gpudistances");
    const auto found = tree_of(machine, {0, 0, 1, 2, 3});
    ASSERT_TRUE(found.ok()) << found.status().message();
    test::expect_golden("gpus/power8_five_ranks.txt", draw_text(found->tree));
    test::expect_golden("gpus/power8_five_ranks.dot", draw_dot(found->tree));
}

/// Returns the shape and the notes of a cluster with that many ranks on each host.
std::string shape_of(const std::string& written, std::vector<std::string> hosts, int ranks_a_host) {
    const auto found = foreseen_cluster({written, std::move(hosts), ranks_a_host});
    return found.ok() ? expression_of(found->tree) + test::lines_of(found->notes)
                      : found.status().message();
}

TEST(GpuHosts, AHostsFileMayMixHostsWithAndWithoutGpus) {
    const std::string path = testing::TempDir() + "gradcoll_gpu_hosts";
    std::ofstream(path) << "a " << test::golden_path("hwloc/power8gpudistances.xml")
                        << "\nb pack:2 core:2 pu:1\n";
    EXPECT_EQ(shape_of("gpus:" + path, {"a", "b"}, 0),
              "(((0 1)(2 3))((4 5)(6 7)))note: \"pack:2 core:2 pu:1\": no GPU is described: ranks "
              "are dealt to cores\n");
}

TEST(GpuHosts, AFolderAndAnNcclFileWorkAsWell) {
    const std::string nccl = "gpus:" + test::golden_path("nccl/topo_3p_pcie.xml");
    EXPECT_EQ(shape_of(nccl, {"a", "b"}, 0), "((0(1 2))(3(4 5)))");
    const std::string folder = "gpus:" + test::golden_path("hwloc");
    EXPECT_EQ(shape_of(folder, {"power8gpudistances"}, 0), "((0 1)(2 3))");
    EXPECT_EQ(shape_of(folder, {"power8gpudistances"}, 6), "(((0 4)(1 5))(2 3))");
    EXPECT_NE(shape_of("gpus:/nowhere", {"a"}, 0).find("/nowhere"), std::string::npos);
    EXPECT_NE(shape_of("gpus:", {"a"}, 0).find("nothing follows the colon"), std::string::npos);
}

TEST(GpuHosts, FilesOfHwloc3GiveTheSameGpusAndLinks) {
    for (const char* name : {"nvidiaDGX2", "power8gpudistances"}) {
        const auto tree_in = [&](const std::string& folder) {
            const auto cluster =
                foreseen_cluster({"gpus:" + test::golden_path(folder + name + ".xml"), {"n1"}});
            return cluster.ok() ? test::outline_of(cluster->tree) : cluster.status().message();
        };
        EXPECT_EQ(tree_in("hwloc3/"), tree_in("hwloc/"));
    }
}

TEST(GpuHosts, APartitionedGpuIsSeveralPlacesWithTheLinksOfOne) {
    const std::string whole = "gpus:" + test::golden_path("parts/whole.xml");
    const std::string cut = "gpus:" + test::golden_path("parts/cut-in-three.xml");
    EXPECT_EQ(shape_of(whole, {"a"}, 0), "(0 1)");
    EXPECT_EQ(shape_of(cut, {"a"}, 0),
              "((0-2)(3-5))note: \"" + test::golden_path("parts/cut-in-three.xml") +
                  "\": 6 devices are parts of 2 GPUs, whose links they share\n");
    const auto uplinks_of = [](const std::string& written) {
        const auto cluster = foreseen_cluster({written, {"a"}});
        std::vector<double> uplinks;
        for (int v = 0; v < cluster->tree.vertex_count(); ++v)
            if (cluster->tree.vertex(v).kind == VertexKind::gpu)
                uplinks.push_back(cluster->tree.vertex(v).uplink.bandwidth_gbytes_per_s);
        return uplinks;
    };
    EXPECT_EQ(uplinks_of(whole), (std::vector<double>{100, 100}));
    EXPECT_EQ(uplinks_of(cut), uplinks_of(whole));
}

TEST(GpuHosts, WhatElseIsBehindAnAddressMakesNoParts) {
    const auto parts_with = [](const std::string& first, const std::string& second) {
        std::string xml = test::file_bytes(test::golden_path("parts/whole.xml"));
        const std::string device = "<object type=\"OSDev\" osdev_type=\"1\" name=\"";
        xml.insert(xml.find("<object type=\"OSDev\""),
                   device + first + "\"/>" + device + second + "\"/>");
        const auto machine = Machine::xml_text(xml, "a machine");
        return machine.ok() ? machine->gpus().front().part_count : 0;
    };
    EXPECT_EQ(parts_with("card0", "renderD128"), 1U);
    EXPECT_EQ(parts_with("opencl0d0", "opencl1d0"), 1U);
    EXPECT_EQ(parts_with(":0.0", ":0.1"), 1U);
    EXPECT_EQ(parts_with("ze0.0", "ze0.1"), 2U);
}

TEST(GpuHosts, WhatIsAssumedNamesGpus) {
    const std::string written = "gpus:" + test::golden_path("hwloc/power8gpudistances.xml");
    const auto cluster = foreseen_cluster({written, {"a", "b"}});
    ASSERT_TRUE(cluster.ok()) << cluster.status().message();
    EXPECT_EQ(cluster->origin,
              "GC_TOPOLOGY " + written + "; assumed: 8 ranks on 2 hosts, one a GPU, in order");
    const auto here = foreseen_tree(written, 4);
    ASSERT_TRUE(here.ok()) << here.status().message();
    EXPECT_EQ(here->origin, "GC_TOPOLOGY " + written +
                                "; assumed: all 4 ranks on this host, dealt to its GPUs in order");
}

TEST(GpuHosts, DevicesAreNotLookedForUnlessAsked) {
    setenv("HWLOC_XMLFILE", test::golden_path("hwloc/power8gpudistances.xml").c_str(), 1);
    const Result<Machine> plain = Machine::local();
    const Result<Machine> whole = Machine::local(Machine::Devices::shown);
    unsetenv("HWLOC_XMLFILE");
    ASSERT_TRUE(plain.ok() && whole.ok());
    EXPECT_EQ(plain->gpus().size(), 0u);
    EXPECT_EQ(whole->gpus().size(), 4u);
    EXPECT_TRUE(whole->has_several_of_nvidia({2, 1, 0, 0}));
    EXPECT_FALSE(whole->has_several_of_nvidia({2, 2, 0, 0}));
}

TEST(ThisRankGpu, IsToldWithoutAPathWhereHwlocDoesNotShowIt) {
    const RankGpu gpu = this_rank_gpu("0000:FE:1F.7");
    EXPECT_EQ(gpu.bus_id, "0000:fe:1f.7");
    EXPECT_TRUE(gpu.path.empty());
    EXPECT_EQ(this_rank_gpu("GPU 1").bus_id, "");
}

}  // namespace
}  // namespace gradcoll
