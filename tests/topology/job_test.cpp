// tests/topology/job_test.cpp - jobs on several hosts, which one machine cannot have: what is
// between hosts, and what is odd about them, from made-up reports of ranks.
#include "topology/sources/job/job_tree.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fabric/host_list.hpp"
#include "topology/random_tree.hpp"
#include "topology/sources/job/reports.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using Notes = std::vector<std::string>;

/// Returns the tree that rank 0 makes of all reports.
Result<DiscoveredTree> tree_from(const std::string& written, std::span<const RankReport> reports) {
    Result<WrittenSource> source = written_source(written);
    if (source.ok()) source = resolved(std::move(*source));
    if (!source.ok()) return source.status();
    std::vector<std::string> bytes;
    for (const RankReport& report : reports) bytes.push_back(report_bytes(report));
    Notes notes;
    const Result<std::vector<JobHost>> hosts = hosts_of_reports(bytes, notes);
    if (!hosts.ok()) return hosts.status();
    Job job;
    job.hosts = *hosts;
    return JobSources(*source).tree_of(job, std::move(notes));
}

std::string shape_of(const std::string& written, std::span<const RankReport> reports) {
    const Result<DiscoveredTree> tree = tree_from(written, reports);
    return tree.ok() ? expression_of(tree->tree) : tree.status().message();
}

Notes notes_of(const std::string& written, std::span<const RankReport> reports) {
    const Result<DiscoveredTree> tree = tree_from(written, reports);
    return tree.ok() ? tree->notes : Notes{tree.status().message()};
}

/// Returns reports of two ranks on each of `names`, which share nothing but the host.
std::vector<RankReport> job_on(const Notes& names) {
    std::vector<RankReport> reports;
    for (std::size_t h = 0; h < names.size(); ++h)
        for (std::uint32_t core : {0u, 1u}) {
            RankReport report;
            report.first_on_host = static_cast<std::uint32_t>(2 * h);
            report.path = {names[h], {{VertexKind::core, core, "C"}}};
            report.world_rank = static_cast<int>(reports.size());
            report.facts.cores = 2;
            reports.push_back(report);
        }
    return reports;
}

void give_address(std::vector<RankReport>& reports, std::size_t host, const std::string& address,
                  const std::string& pattern = "switch.switch.node") {
    for (std::size_t r = 2 * host; r < 2 * host + 2; ++r) {
        reports[r].slurm_address = address;
        reports[r].slurm_pattern = pattern;
    }
}

std::string file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "gradcoll_job_" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
}

constexpr const char* three_hosts_two_switches = "(((0 1)(2 3))(4 5))";

/// Returns the note on links whose rate SLURM does not give: all are assumed to have that of an
/// interface of this machine.
std::string links_are_taken_for(const Tree& tree) {
    std::string said;
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        if (tree.vertex(vertex).kind == VertexKind::host)
            said = fmt::format("; links of hosts are taken for {:.3g} GB/s",
                               tree.vertex(vertex).uplink.bandwidth_gbytes_per_s);
    return said;
}

TEST(SlurmAddresses, OfAllHostsAreTakenUnasked) {
    std::vector<RankReport> reports = job_on({"a", "b", "c"});
    give_address(reports, 0, "top.s1.a");
    give_address(reports, 1, "top.s1.b");
    give_address(reports, 2, "top.s2.c");
    const Result<DiscoveredTree> found = tree_from("auto", reports);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), three_hosts_two_switches);
    EXPECT_EQ(found->origin,
              "discovered: hwloc + shared-memory split, switches from SLURM_TOPOLOGY_ADDR" +
                  links_are_taken_for(found->tree));
    EXPECT_EQ(found->notes, Notes{});
    EXPECT_EQ(shape_of("slurm", reports), three_hosts_two_switches);
    EXPECT_EQ(shape_of("hwloc", reports), "((0 1)(2 3)(4 5))");
}

TEST(SlurmAddresses, HostsWithoutOneHangAtTheRootWithANote) {
    std::vector<RankReport> reports = job_on({"a", "b", "c"});
    give_address(reports, 0, "top.s1.a");
    give_address(reports, 1, "top.s1.b");
    EXPECT_EQ(shape_of("auto", reports), three_hosts_two_switches);
    const Notes notes = notes_of("auto", reports);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0], "host c is not known to the source of the switches: below the topmost one");
}

TEST(SlurmAddresses, WithoutSwitchesInThemThereIsNoSwitchLevel) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    give_address(reports, 0, "a", "node");
    give_address(reports, 1, "b", "node");
    const Result<DiscoveredTree> found = tree_from("auto", reports);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), "((0 1)(2 3))");
    EXPECT_EQ(found->tree.vertex(0).kind, VertexKind::group);
    EXPECT_EQ(found->notes, Notes{});
}

TEST(SlurmAddresses, OfTheLowestRankCounts) {
    std::vector<RankReport> reports = job_on({"a", "b", "c"});
    give_address(reports, 0, "top.s1.a");
    give_address(reports, 1, "top.s1.b");
    give_address(reports, 2, "top.s2.c");
    reports[3].slurm_address = "top.s2.b";
    EXPECT_EQ(shape_of("auto", reports), three_hosts_two_switches);
    EXPECT_EQ(notes_of("auto", reports),
              Notes{"the ranks on b have different SLURM_TOPOLOGY_ADDR: that of the lowest rank "
                    "counts"});
    EXPECT_EQ(notes_of("hwloc", reports), Notes{});
}

TEST(SlurmAddresses, ThatAreMalformedAreANoteUnaskedAndAnErrorIfAskedFor) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    give_address(reports, 0, "top.s[1-.a");
    give_address(reports, 1, "top.s2.b");
    EXPECT_EQ(shape_of("auto", reports), "((0 1)(2 3))");
    const Notes notes = notes_of("auto", reports);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("host \"a\""), std::string::npos) << notes[0];
    EXPECT_NE(notes[0].find("; taken is no switch level"), std::string::npos) << notes[0];
    const std::string error = shape_of("slurm", reports);
    EXPECT_EQ(error.find("GC_TOPOLOGY slurm: SLURM_TOPOLOGY_ADDR "), 0u) << error;
}

TEST(SlurmAddresses, BeyondAllBoundsCountAsNone) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    give_address(reports, 0, std::string(1 << 20, 's') + ".a");
    EXPECT_EQ(shape_of("auto", reports), "((0 1)(2 3))");
}

class SlurmFiles : public testing::Test {
  protected:
    void SetUp() override { TearDown(); }
    void TearDown() override {
        for (const char* name : {"SLURM_CONF", "SLURM_JOB_ID"}) unsetenv(name);
    }

    /// Makes a folder with a topology.conf, which SLURM_CONF then names.
    static std::string configured(const std::string& topology) {
        const std::string folder =
            std::filesystem::path(file("slurm/topology.conf", topology)).parent_path();
        setenv("SLURM_CONF", (folder + "/slurm.conf").c_str(), 1);
        return folder;
    }
    static std::string two_switches() {
        return "SwitchName=t Switches=s[1-2]\nSwitchName=s1 Nodes=a,b\nSwitchName=s2 Nodes=c\n";
    }
};

TEST_F(SlurmFiles, StandInWhereNoHostHasAnAddress) {
    const std::string folder = configured(two_switches());
    const std::vector<RankReport> reports = job_on({"a", "b", "c"});
    const Result<DiscoveredTree> found = tree_from("slurm", reports);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), three_hosts_two_switches);
    EXPECT_EQ(found->origin,
              "GC_TOPOLOGY slurm on hosts told apart by the shared-memory split, switches from "
              "topology.conf " +
                  folder + "/topology.conf" + links_are_taken_for(found->tree));
    EXPECT_EQ(shape_of("auto", reports), "((0 1)(2 3)(4 5))");  // read without being asked for,
                                                                // only in SLURM's own jobs
}

TEST_F(SlurmFiles, StandInUnaskedInAJobOfSlurm) {
    const std::string folder = configured(two_switches());
    setenv("SLURM_JOB_ID", "1", 1);
    const Result<DiscoveredTree> found = tree_from("auto", job_on({"a", "b", "c"}));
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), three_hosts_two_switches);
    EXPECT_EQ(found->origin,
              "discovered: hwloc + shared-memory split, switches from topology.conf " + folder +
                  "/topology.conf" + links_are_taken_for(found->tree));
    EXPECT_EQ(found->notes, Notes{});
}

TEST_F(SlurmFiles, TellRatesOrLinksOfHostsAreTakenForThoseOfInterfaces) {
    configured(
        "SwitchName=t Switches=s[1-2] LinkSpeed=40\nSwitchName=s1 Nodes=a,b "
        "LinkSpeed=800Mbit\nSwitchName=s2 Nodes=c\n");
    const Result<DiscoveredTree> found = tree_from("slurm", job_on({"a", "b", "c"}));
    ASSERT_TRUE(found.ok()) << found.status().message();
    std::vector<double> rates;
    for (int vertex = 1; vertex < found->tree.vertex_count(); ++vertex)
        if (found->tree.vertex(vertex).kind == VertexKind::host)
            rates.push_back(found->tree.vertex(vertex).uplink.bandwidth_gbytes_per_s);
    ASSERT_EQ(rates.size(), 3u);
    EXPECT_DOUBLE_EQ(rates[0], 0.1);
    EXPECT_DOUBLE_EQ(rates[1], 0.1);
    EXPECT_GT(rates[2], 0);
}

TEST_F(SlurmFiles, StandInForAnAddressThatTheLauncherHandedOn) {
    configured(two_switches());
    setenv("SLURM_JOB_ID", "1", 1);
    std::vector<RankReport> reports = job_on({"a", "b", "c"});
    for (const std::size_t host : {0, 1, 2}) give_address(reports, host, "t.s1.a");
    for (const char* written : {"auto", "slurm"}) {
        EXPECT_EQ(shape_of(written, reports), three_hosts_two_switches);
        EXPECT_EQ(notes_of(written, reports), Notes{});
    }
}

TEST_F(SlurmFiles, AreNotReadUnaskedWhereAddressesSayThatThereAreNoSwitches) {
    configured(two_switches());
    setenv("SLURM_JOB_ID", "1", 1);
    std::vector<RankReport> reports = job_on({"a", "b", "c"});
    for (const std::size_t host : {0, 1, 2})
        give_address(reports, host, std::string(1, "abc"[host]), "node");
    EXPECT_EQ(shape_of("auto", reports), "((0 1)(2 3)(4 5))");
}

TEST_F(SlurmFiles, ThatDoNotKnowAllHostsAreNotTakenUnasked) {
    configured("SwitchName=t Switches=s1\nSwitchName=s1 Nodes=a,b\n");
    setenv("SLURM_JOB_ID", "1", 1);
    EXPECT_EQ(shape_of("auto", job_on({"a", "b", "c"})), "((0 1)(2 3)(4 5))");
    EXPECT_EQ(notes_of("auto", job_on({"a", "b", "c"})), Notes{});
}

TEST_F(SlurmFiles, ThatAreMalformedAreANoteUnasked) {
    configured("SwitchName=t Hosts=a\n");
    setenv("SLURM_JOB_ID", "1", 1);
    const Notes notes = notes_of("auto", job_on({"a", "b"}));
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("topology.conf"), std::string::npos) << notes[0];
    EXPECT_NE(notes[0].find("; taken is no switch level"), std::string::npos) << notes[0];
}

TEST(SlurmAddresses, ThatTheLauncherHandedOnAreNotThoseOfTheHosts) {
    std::vector<RankReport> reports = job_on({"a", "b", "c"});
    for (const std::size_t host : {0, 1, 2}) give_address(reports, host, "t.s1.a");
    EXPECT_EQ(shape_of("auto", reports), "((0 1)(2 3)(4 5))");
    EXPECT_NE(shape_of("slurm", reports).find("says nothing about switches"), std::string::npos);
}

TEST_F(SlurmFiles, ThatAreMissingAreNamed) {
    ASSERT_EQ(setenv("SLURM_CONF", "/nowhere/slurm.conf", 1), 0);
    const std::string error = shape_of("slurm", job_on({"a", "b"}));
    EXPECT_EQ(error,
              "GC_TOPOLOGY slurm: SLURM says nothing about switches: no host has "
              "a SLURM_TOPOLOGY_ADDR of its own with a switch in it (the scheduler needs "
              "TopologyPlugin=topology/tree or topology/block), and there is none of "
              "/nowhere/topology.yaml, /nowhere/topology.conf, /etc/slurm/topology.yaml, "
              "/etc/slurm/topology.conf");
}

TEST(FabricFiles, ConnectHostsByTheirNames) {
    const std::string table = file("table.csv", "host,switch\na,s1\nb,s1\nc,s2\n");
    const Result<DiscoveredTree> found =
        tree_from("hwloc+file:" + table, job_on({"a.org", "B", "c"}));
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), three_hosts_two_switches);
    const std::string inside = "synthetic:pack:2 core:1 pu:1+file:" + table;
    EXPECT_EQ(shape_of(inside, job_on({"a", "c"})), "((0 1)(2 3))");
}

TEST(FabricFiles, ThatNameRanksMeanThoseOfTheWorld) {
    const std::string coordinates =
        file("coordinates", "rank: group switch port\n0: 0 0 0\n2: 0 0 1\n5: 0 1 0\n");
    std::vector<RankReport> reports = job_on({"a", "b", "c"});
    EXPECT_EQ(shape_of("file:" + coordinates, reports), three_hosts_two_switches);
    // In another communicator the ranks run backwards, and the rank that the file names is not the
    // lowest of its host.
    for (RankReport& report : reports) report.world_rank = 5 - report.world_rank;
    EXPECT_EQ(shape_of("file:" + coordinates, reports), "((0 1)((2 3)(4 5)))");
    for (RankReport& report : reports) report.world_rank = -1;
    EXPECT_EQ(shape_of("file:" + coordinates, reports), "((0 1)(2 3)(4 5))");
}

TEST(FabricFiles, ErrorsNameTheFile) {
    const std::string bad = file("bad.conf", "SwitchName=s1 Nodes=a[1-\n");
    const std::string error = shape_of("file:" + bad, job_on({"a", "b"}));
    EXPECT_EQ(
        error.find("GC_TOPOLOGY file:" + bad + ": file \"" + bad + "\": topology.conf: line 1"), 0u)
        << error;
    const std::string cache = file("cache.json", "{\"gradcoll_probe\": 1}");
    const std::string damaged = shape_of("file:" + cache, job_on({"a", "b"}));
    EXPECT_EQ(damaged.find("GC_TOPOLOGY file:" + cache + ": probe cache \"" + cache + "\": "), 0u)
        << damaged;
}

TEST(NcclFiles, DescribeEveryHostAlike) {
    const std::string xml = test::golden_path("nccl/p4d-24xl-topo.xml");
    const Result<DiscoveredTree> found = tree_from("nccl:" + xml, job_on({"a", "b"}));
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), "((0 1)(2 3))");
    const std::string error = shape_of("nccl:/nowhere/n.xml", job_on({"a"}));
    EXPECT_EQ(error.find("GC_TOPOLOGY nccl:/nowhere/n.xml: file \"/nowhere/n.xml\" cannot be read"),
              0u)
        << error;
}

TEST(HostsFolders, DescribeHostsWithAndWithoutTheirDomain) {
    const std::string folder = testing::TempDir() + "gradcoll_job_hosts";
    std::filesystem::create_directories(folder);
    const auto copy = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(test::golden_path("hwloc/AMD-17h-Zen-2xEpyc-7451.xml"),
                               folder + "/a.xml", copy);
    std::filesystem::copy_file(test::golden_path("hwloc/nvidiaDGX2.xml"), folder + "/b.org.xml",
                               copy);
    const Result<DiscoveredTree> found = tree_from("hosts:" + folder, job_on({"a.org", "b", "c"}));
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), "((0 1)(2 3)(4 5))");
    EXPECT_EQ(found->notes,
              Notes{"\"" + folder + "\" does not describe c: ranks there are equally near"});
}

TEST(Oddities, OrdinaryHostsAreSilent) {
    EXPECT_EQ(notes_of("auto", job_on({"a", "b", "c"})), Notes{});
}

TEST(Oddities, DifferentCoreCountsMatterWhereRanksOutnumberCores) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    reports[0].facts.cores = 64;
    EXPECT_EQ(notes_of("auto", reports), Notes{});
    reports[2].facts.cores = 1;
    EXPECT_EQ(notes_of("auto", reports),
              Notes{"hosts have different numbers of cores: on b ranks outnumber them, which the "
                    "tree does not show"});
    reports[0].facts.cores = 1;  // now all are crowded
    EXPECT_EQ(notes_of("auto", reports), Notes{});
}

TEST(Oddities, RanksThatAreNotBoundMatterWhereThereIsSomethingToBindTo) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    for (RankReport& report : reports) {
        report.facts.unbound_over = "2 packages";
        report.path.objects.clear();
    }
    const Notes expected{
        "ranks on a,b are bound to none of its 2 packages: they are taken as equally near to all "
        "(a launcher binds with mpirun --bind-to core or srun --cpu-bind=cores)"};
    EXPECT_EQ(shape_of("auto", reports), "((0 1)(2 3))");
    EXPECT_EQ(notes_of("auto", reports), expected);
    reports[0].facts.unbound_over.clear();  // only some of them
    EXPECT_EQ(notes_of("auto", reports), expected);
    reports.erase(reports.begin() + 1, reports.begin() + 3);  // one rank on each host
    reports[1].first_on_host = 1;
    EXPECT_EQ(notes_of("auto", reports), Notes{});
}

TEST(Oddities, ContainersThatHideTheMachineAreTold) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    reports[0].facts.hidden_cpus = 62;
    reports[2].facts.shapeless = true;
    EXPECT_EQ(notes_of("auto", reports),
              Notes{"hwloc shows fewer CPUs on a than the system has (a container may hide them): "
                    "ranks on the others are taken as bound to none"});
    RankReport third = reports[3];
    reports.push_back(third);  // with three ranks there is more than one tree
    EXPECT_EQ(notes_of("auto", reports).front(),
              "hwloc shows neither packages nor caches on b (a container or a virtual machine may "
              "hide them): cores there are taken as equally near");
}

TEST(Oddities, HostsOfOneNameAreToldOnce) {
    EXPECT_EQ(notes_of("auto", job_on({"box", "box", "box"})),
              Notes{"several hosts that share no memory are called box (containers?): they are "
                    "taken as hosts of their own, at one place where a source names hosts"});
}

TEST(Oddities, ManyHostsAreCutShortInWords) {
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i) names.push_back("n" + std::to_string(i * i));
    const std::string words = hosts_in_words(names);
    EXPECT_LT(words.size(), 200u);
    EXPECT_NE(words.find("... (1000 hosts)"), std::string::npos) << words;
}

TEST(Oddities, TextsOfOtherRanksAreFitForAMessage) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    reports[1].trouble = "Pa\xff\n";
    reports[1].path.objects.clear();
    EXPECT_EQ(notes_of("auto", reports),
              Notes{"hwloc failed on rank 1: Pa??; such a rank is right below its host"});
}

TEST(Oddities, HwlocThatFailsOnManyRanksIsToldOfTheFirst) {
    std::vector<RankReport> reports = job_on({"a", "b"});
    for (const std::size_t r : {1u, 2u, 3u}) {
        reports[r].trouble = "no";
        reports[r].path.objects.clear();
    }
    EXPECT_EQ(shape_of("auto", reports), "((0 1)(2 3))");
    EXPECT_EQ(notes_of("auto", reports),
              Notes{"hwloc failed on rank 1: no (and on 2 ranks more); such a rank is right below "
                    "its host"});
}

}  // namespace
}  // namespace gradcoll
