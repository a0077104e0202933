// tests/topology/discover_hosts_test.cpp - several hosts under mpirun on one: every two ranks are
// made to believe that they have a host of their own, a recorded one with a name.
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "topology/random_tree.hpp"
#include "topology/sources/job/discover.hpp"
#include "topology/text.hpp"

struct PretendedHost {
    const char* xml;
    const char* name;                 ///< the host name in the file
    std::array<const char*, 2> gpus;  ///< two of the GPUs that it shows
};
constexpr std::array<PretendedHost, 3> hosts{
    {{"hwloc/32em64t-2n8c2t-pci-wholeio.xml", "conan", {"0000:03:00.0", "0000:84:00.1"}},
     {"hwloc/64intel64-3g2n+2n-irregulargroups+pci.xml",
      "condor",
      {"0002:01:00.0", "0004:01:00.0"}},
     {"hwloc/power8gpudistances.xml",
      "drac-12.grenoble.grid5000.fr",
      {"0002:01:00.0", "000b:01:00.0"}}}};

static int host_of_this_rank() {
    int world_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    return world_rank / 2;
}

/// Replaces the MPI library's function in this program: the library under test asks which ranks
/// share memory, and gets every two ranks of the world.
extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int /*type*/, int key, MPI_Info /*info*/,
                                    MPI_Comm* host) {
    return MPI_Comm_split(comm, host_of_this_rank(), key, host);
}

/// Replaces the C library's function. The MPI library gets the true name while it starts.
extern "C" int gethostname(char* name, std::size_t size) noexcept {
    int initialized = 0;
    MPI_Initialized(&initialized);
    utsname system{};
    uname(&system);
    const char* own =
        initialized ? hosts[static_cast<std::size_t>(host_of_this_rank())].name : system.nodename;
    std::snprintf(name, size, "%s", own);
    return 0;
}

namespace gradcoll {
namespace {

class PretendedHosts : public testing::Test {
  protected:
    /// Runs before hwloc is asked for the first time.
    static void SetUpTestSuite() {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        setenv("HWLOC_XMLFILE", test::golden_path(hosts[index(rank)].xml).c_str(), 1);
    }
    void SetUp() override {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        forget_slurm();
    }
    void TearDown() override { forget_slurm(); }

    static std::size_t index(int rank) { return static_cast<std::size_t>(rank / 2); }
    static void forget_slurm() {
        for (const char* name : {"SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN"})
            unsetenv(name);
    }
    void give_address(const std::string& switches) const {
        const std::string name = hosts[index(rank_)].name;
        setenv("SLURM_TOPOLOGY_ADDR", (switches + name.substr(0, name.find('.'))).c_str(), 1);
        setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node", 1);
    }
    /// Makes a file that exists only on rank 0; the others get a path to nowhere.
    std::string on_rank_0(const std::string& name, const std::string& text) const {
        if (rank_ != 0) return "/nowhere/" + name;
        const std::string path =
            testing::TempDir() + "gradcoll_hosts_" + std::to_string(size_) + name;
        std::ofstream(path) << text;
        return path;
    }
    static std::string seen(const Result<DiscoveredTree>& found) {
        return found.ok() ? told_origin(*found) + found->tree.serialize()
                          : found.status().message();
    }
    /// Returns the shape or the error, which all ranks must have in the same bytes as rank 0.
    /// Collective.
    static std::string shape(MPI_Comm comm, const Result<DiscoveredTree>& found) {
        const std::string mine = seen(found);
        int size = static_cast<int>(mine.size());
        MPI_Bcast(&size, 1, MPI_INT, 0, comm);
        std::string root = mine;
        root.resize(static_cast<std::size_t>(size));
        MPI_Bcast(root.data(), size, MPI_BYTE, 0, comm);
        EXPECT_EQ(root, mine);
        return found.ok() ? expression_of(found->tree) : found.status().message();
    }
    static std::string shape(const std::string& written) {
        return shape(MPI_COMM_WORLD, discover_tree(MPI_COMM_WORLD, written));
    }
    /// Returns the shape, by the number of ranks, with conan and condor on one switch and drac-12
    /// on another.
    const std::string& on_two_switches() const {
        static const std::array<std::string, 5> shapes{"0", "(0 1)", "((0 1)2)", "((0 1)(2 3))",
                                                       "(((0 1)(2 3))4)"};
        return shapes.at(static_cast<std::size_t>(size_ - 1));
    }
    const std::string& on_no_switch() const {
        static const std::array<std::string, 5> shapes{"0", "(0 1)", "((0 1)2)", "((0 1)(2 3))",
                                                       "((0 1)(2 3)4)"};
        return shapes.at(static_cast<std::size_t>(size_ - 1));
    }

    int rank_ = 0;
    int size_ = 0;
};

TEST_F(PretendedHosts, WithoutMoreThanHwlocAreSideBySide) {
    for (const char* written : {"", "auto", "hwloc", "hwloc+none", "discover"})
        EXPECT_EQ(shape(written), on_no_switch()) << written;
    const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, "");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->notes, std::vector<std::string>{});
    EXPECT_TRUE(found->origin.starts_with("discovered: hwloc + shared-memory split"))
        << found->origin;
}

TEST_F(PretendedHosts, RanksAreGpusWhereTheySaySo) {
    const PretendedHost& host = hosts[index(rank_)];
    const char* gpu = host.gpus[static_cast<std::size_t>(rank_ % 2)];
    const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, "", {gpu});
    EXPECT_EQ(shape(MPI_COMM_WORLD, found), on_no_switch());
    ASSERT_TRUE(found.ok()) << found.status().message();
    const Vertex& leaf = found->tree.vertex(found->tree.leaf_of(rank_));
    const bool alone = (rank_ ^ 1) >= size_;
    EXPECT_EQ(leaf.kind, VertexKind::gpu);
    EXPECT_EQ(leaf.name, alone && size_ > 1 ? host.name : gpu);
}

TEST_F(PretendedHosts, RanksAreOnTheirGpusOfDescribedHostsToo) {
    const std::string xml = test::golden_path(hosts[2].xml);
    const std::array<const char*, 2> unlinked{"000b:01:00.0", "0003:01:00.0"};
    const Result<DiscoveredTree> found = discover_tree(
        MPI_COMM_WORLD, "gpus:" + xml, {unlinked[static_cast<std::size_t>(rank_ % 2)]});
    EXPECT_EQ(shape(MPI_COMM_WORLD, found), on_no_switch());
    ASSERT_TRUE(found.ok()) << found.status().message();
    if ((rank_ ^ 1) < size_) {
        EXPECT_EQ(found->tree.vertex(found->tree.leaf_of(rank_)).name,
                  unlinked[static_cast<std::size_t>(rank_ % 2)]);
    }
}

TEST_F(PretendedHosts, OneRankAloneMayUseAGpu) {
    const char* gpu = rank_ == 0 ? hosts[0].gpus[1] : "";
    const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, "auto", {gpu});
    EXPECT_EQ(shape(MPI_COMM_WORLD, found), on_no_switch());
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (int rank = 0; rank < size_; ++rank)
        EXPECT_EQ(found->tree.vertex(found->tree.leaf_of(rank)).kind,
                  rank == 0 ? VertexKind::gpu : VertexKind::rank);
}

TEST_F(PretendedHosts, HangBelowTheSwitchesOfTheirAddresses) {
    give_address(index(rank_) < 2 ? "top.s[1-2]." : "top.s3.");
    EXPECT_EQ(shape("auto"), on_two_switches());
    EXPECT_EQ(shape("slurm"), on_two_switches());
    EXPECT_EQ(shape("synthetic:core:8 pu:1+slurm"), on_two_switches());
    EXPECT_EQ(shape("hwloc"), on_no_switch());
}

TEST_F(PretendedHosts, WithoutAnAddressHangAtTheRootWithTheSameNoteEverywhere) {
    if (index(rank_) < 2) give_address("top.s1.");
    EXPECT_EQ(shape("auto"), on_two_switches());
    const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, "auto");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->notes.size(), size_ > 4 ? 1u : 0u);
}

TEST_F(PretendedHosts, FilesOfSwitchesAreReadOnRankZeroAlone) {
    const std::string table = on_rank_0("table.csv",
                                        "conan,s1\ncondor,s1\n"
                                        "drac-12,s2\n");
    EXPECT_EQ(shape("file:" + table), on_two_switches());
    EXPECT_EQ(shape("hwloc+file:" + table), on_two_switches());
    const std::string conf =
        on_rank_0("topology.conf",
                  "SwitchName=t Switches=a,b\nSwitchName=a Nodes=conan,condor\n"
                  "SwitchName=b Nodes=drac-12\n");
    EXPECT_EQ(shape("file:" + conf), on_two_switches());
}

TEST_F(PretendedHosts, FilesThatNameRanksMeanThoseOfTheWorldInEveryCommunicator) {
    const std::string written =
        "file:" + on_rank_0("coordinates",
                            "rank: group switch port\n0: 0 0 0\n1: 0 0 0\n2: 0 0 1\n3: 0 0 1\n"
                            "4: 0 1 0\n");
    EXPECT_EQ(shape(written), on_two_switches());
    MPI_Comm backwards = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_, &backwards);
    const std::string there = rank_ == size_ - 1
                                  ? "file:" + testing::TempDir() + "gradcoll_hosts_" +
                                        std::to_string(size_) + "coordinates"
                                  : "nonsense";  // only rank 0 reads it
    const std::array<std::string, 5> shapes{"0", "(0 1)", "(0(1 2))", "((0 1)(2 3))",
                                            "(0((1 2)(3 4)))"};
    EXPECT_EQ(shape(backwards, discover_tree(backwards, there)),
              shapes.at(static_cast<std::size_t>(size_ - 1)));
    MPI_Comm_free(&backwards);
}

TEST_F(PretendedHosts, AreDescribedByAFolderOfTheirNames) {
    const std::string folder = testing::TempDir() + "gradcoll_hosts_" + std::to_string(size_) + "d";
    if (rank_ == 0) {
        std::filesystem::create_directories(folder);
        for (const PretendedHost& host : hosts)
            std::filesystem::copy_file(test::golden_path(host.xml),
                                       folder + "/" + std::string(host.name) + ".xml",
                                       std::filesystem::copy_options::overwrite_existing);
    }
    EXPECT_EQ(shape("hosts:" + folder), on_no_switch());
    EXPECT_EQ(shape("file:" + folder + "+none"), on_no_switch());
    if (rank_ == 0) std::filesystem::remove(folder + "/condor.xml");
    const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, "hosts:" + folder);
    EXPECT_EQ(shape(MPI_COMM_WORLD, found), on_no_switch());
    EXPECT_EQ(found->notes.size(), size_ > 2 ? 1u : 0u);
}

TEST_F(PretendedHosts, AreMeasuredOnceAndReadFromTheCacheAfterwards) {
    const std::string cache = on_rank_0("cache", "");
    if (rank_ == 0) std::filesystem::remove(cache);
    const Result<DiscoveredTree> measured = discover_tree(MPI_COMM_WORLD, "probe:" + cache);
    shape(MPI_COMM_WORLD, measured);
    ASSERT_TRUE(measured.ok()) << measured.status().message();
    EXPECT_EQ(measured->tree.rank_count(), size_);
    if (size_ < 3) return;  // one host has nothing to measure
    EXPECT_NE(measured->origin.find("switches from measurements"), std::string::npos)
        << measured->origin;
    for (const std::string& again : {"probe:" + cache, "file:" + cache}) {
        const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, again);
        shape(MPI_COMM_WORLD, found);
        ASSERT_TRUE(found.ok()) << found.status().message();
        EXPECT_EQ(found->tree.serialize(), measured->tree.serialize()) << again;
    }
}

TEST_F(PretendedHosts, ErrorsAreTheSameOnAllRanks) {
    for (const char* bad : {"slurm", "file:/nowhere/f", "hwloc+file:/nowhere/f", "hosts:/nowhere/d",
                            "nccl:/nowhere/n", "hwloc+", "probe:", "file:/+none"}) {
        const std::string error = shape(bad);
        EXPECT_EQ(error.find("GC_TOPOLOGY"), 0u) << bad << ": " << error;
    }
}

}  // namespace
}  // namespace gradcoll
