// tests/topology/kept_networks_test.cpp - measurements kept for later communicators and jobs, and
// what the system says of interfaces.
#include "topology/sources/cluster/kept_networks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "topology/sources/cluster/interfaces.hpp"

namespace gradcoll {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
  protected:
    Folder() : folder_(fs::temp_directory_path() / ("gradcoll_kept_" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~Folder() override { fs::remove_all(folder_); }

    void write(const fs::path& path, const std::string& text) const {
        fs::create_directories((folder_ / path).parent_path());
        std::ofstream(folder_ / path) << text;
    }
    std::vector<fs::path> files() const {
        std::vector<fs::path> files;
        for (const auto& entry : fs::recursive_directory_iterator(folder_))
            if (entry.is_regular_file()) files.push_back(entry.path());
        return files;
    }

    fs::path folder_;
};

class KeptNetworks : public Folder {
  protected:
    KeptNetworks() { setenv("XDG_CACHE_HOME", folder_.c_str(), 1); }
    ~KeptNetworks() override {
        forget_network(tree_of({"a", "b", "c"}));
        unsetenv("XDG_CACHE_HOME");
    }

    static SwitchTree tree_of(const std::vector<std::string>& names, double gbytes_per_s = 1) {
        SwitchTree tree;
        tree.switches = {{"probed0", -1, {}}, {"probed1", 0, {gbytes_per_s, 2}}};
        for (const std::string& name : names) tree.hosts[name] = {1, {gbytes_per_s, 1}};
        return tree;
    }
    static std::vector<JobHost> job_of(const std::vector<std::string>& names) {
        std::vector<JobHost> hosts;
        for (const std::string& name : names) hosts.emplace_back().name = name;
        return hosts;
    }
    static double rate_of(const std::optional<Switches>& found) {
        return found ? found->tree->switches[1].uplink.bandwidth_gbytes_per_s : 0;
    }
    /// Removes what this process keeps: a new process has only files.
    void forget_process() const {
        const fs::path away = folder_.string() + ".away";
        fs::rename(folder_, away);
        forget_network(tree_of({"a", "b", "c"}));
        fs::rename(away, folder_);
    }
};

TEST_F(KeptNetworks, TellOfAllWhoseHostsTheyCover) {
    EXPECT_FALSE(kept_network(job_of({"a", "b"})));
    keep_network(tree_of({"a", "b", "c"}), false);
    EXPECT_TRUE(kept_network(job_of({"a", "b", "c"})));
    EXPECT_TRUE(kept_network(job_of({"c", "a"})));
    EXPECT_FALSE(kept_network(job_of({"a", "d"})));
    EXPECT_FALSE(kept_network(job_of({"a", "a"}))) << "which of them is which?";
    EXPECT_TRUE(files().empty());
}

TEST_F(KeptNetworks, TheLatestCounts) {
    keep_network(tree_of({"a", "b", "c"}, 1), false);
    keep_network(tree_of({"c", "b", "a"}, 3), false);
    EXPECT_EQ(rate_of(kept_network(job_of({"a", "b"}))), 3);
    forget_network(tree_of({"a", "b", "c"}));
    EXPECT_FALSE(kept_network(job_of({"a", "b"})));
}

TEST_F(KeptNetworks, LaterJobsOfTheSameHostsFindTheFile) {
    keep_network(tree_of({"a", "b", "c"}, 2), true);
    forget_process();
    EXPECT_EQ(rate_of(kept_network(job_of({"b", "c", "a"}))), 2);
    EXPECT_FALSE(kept_network(job_of({"a", "b"}))) << "another set of hosts has another file";
    ASSERT_EQ(files().size(), 1U);
    std::ofstream(files().front()) << "{\"gradcoll_probe\": 1";
    EXPECT_FALSE(kept_network(job_of({"a", "b", "c"}))) << "damaged";
}

TEST_F(KeptNetworks, AFileThatTellsOfOtherHostsIsAsGoodAsNone) {
    keep_network(tree_of({"a", "b", "c"}), true);
    const fs::path path = files().front();
    forget_network(tree_of({"a", "b", "c"}));
    EXPECT_FALSE(fs::exists(path));
    keep_network(tree_of({"a", "b", "x"}), true);
    fs::copy_file(files().front(), path);
    EXPECT_FALSE(kept_network(job_of({"a", "b", "c"})));
    forget_network(tree_of({"a", "b", "x"}));
}

TEST_F(Folder, TheFastestInterfaceCounts) {
    EXPECT_EQ(fastest_interface_gbytes_per_s(folder_), 0);
    write("net/eth0/speed", "1000\n");
    write("net/wlan0/speed", "-1\n");
    fs::create_directories(folder_ / "net/lo");
    EXPECT_DOUBLE_EQ(fastest_interface_gbytes_per_s(folder_), 0.125);
    write("infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
    EXPECT_DOUBLE_EQ(fastest_interface_gbytes_per_s(folder_), 12.5);
}

}  // namespace
}  // namespace gradcoll
