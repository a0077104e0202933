// tests/topology/probe_test.cpp - measures under mpirun, with each rank as a host: it ends, all
// ranks agree, and what was kept is used again. The tree is not checked, since these are no hosts.
#include "topology/sources/cluster/probe.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "topology/probe/cache.hpp"
#include "topology/sources/cluster/probe_slices.hpp"

namespace gradcoll {
namespace {

class Probe : public testing::Test {
  protected:
    void SetUp() override {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        int id = static_cast<int>(getpid());
        MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
        file_ = std::filesystem::temp_directory_path() / ("gradcoll_probe_" + std::to_string(id));
    }
    void TearDown() override {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0) std::filesystem::remove(file_);
    }

    /// Makes every `step`-th rank a host of its own.
    std::vector<ProbeHost> hosts(int step = 1) const {
        std::vector<ProbeHost> hosts;
        for (int r = 0; r < size_; r += step) hosts.push_back({r, "n" + std::to_string(r)});
        return hosts;
    }
    std::vector<ProbeHost> two_hosts() const { return {{0, "n0"}, {size_ - 1, "last"}}; }
    void write(const std::string& text) const {
        if (rank_ == 0) std::ofstream(file_) << text;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    std::string file_text() const {
        MPI_Barrier(MPI_COMM_WORLD);
        const Result<std::string> text = read_file(file_);
        MPI_Barrier(MPI_COMM_WORLD);
        return text.ok() ? *text : "";
    }

    /// Measures, or reads, and checks that every rank got the same. Collective.
    Result<SwitchTree> probed(const std::vector<ProbeHost>& of, const std::string& cache = "") {
        Result<SwitchTree> tree =
            probe_switches(MPI_COMM_WORLD, of, {.cache_file = cache, .job = "test"});
        expect_same_everywhere(tree.ok() ? probe_cache_text(*tree) : tree.status().message());
        return tree;
    }
    void expect_same_everywhere(const std::string& mine) const {
        int bytes = static_cast<int>(mine.size());
        MPI_Bcast(&bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
        std::string root = mine;
        root.resize(static_cast<std::size_t>(bytes));
        MPI_Bcast(root.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        EXPECT_EQ(mine, root) << "rank " << rank_;
    }
    static bool has_note(const SwitchTree& tree, const std::string& part) {
        for (const std::string& note : tree.notes)
            if (note.find(part) != std::string::npos) return true;
        return false;
    }

    int rank_ = 0;
    int size_ = 0;
    std::string file_;
};

TEST_F(Probe, EveryHostIsInTheTreeByItsRankWithFigures) {
    const Result<SwitchTree> tree = probed(hosts());
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_TRUE(tree->by_rank);
    ASSERT_EQ(tree->hosts.size(), static_cast<std::size_t>(size_));
    for (int r = 0; r < size_; ++r) EXPECT_EQ(tree->hosts.count(std::to_string(r)), 1U);
    EXPECT_EQ(tree->switches.front().parent, -1);
    for (const auto& [name, host] : tree->hosts)
        EXPECT_EQ(host.uplink.bandwidth_gbytes_per_s > 0, size_ > 1) << name;
}

TEST_F(Probe, InSlicesAllRanksLearnTheSameAtTheSameTime) {
    for (const int step : {1, 2}) {
        auto slices = ProbeSlices::make(MPI_COMM_WORLD, hosts(step));
        ASSERT_TRUE(slices.ok()) << slices.status().message();
        for (int time = 0; time < 2; ++time) {
            ProbeSlices::Slice slice;
            for (int count = 0; !slice.tree && !slice.disturbed; ++count) {
                ASSERT_LT(count, 1000);
                auto next = (*slices)->measure(time == 0 ? 1 : 1'000'000'000);
                ASSERT_TRUE(next.ok()) << next.status().message();
                slice = std::move(*next);
            }
            expect_same_everywhere(std::to_string(slice.took_ns));
            expect_same_everywhere(slice.tree ? probe_cache_text(*slice.tree) : "disturbed");
            if (slice.disturbed) continue;  // as this machine is busy
            EXPECT_FALSE(slice.tree->by_rank);
            EXPECT_EQ(slice.tree->hosts.size(), hosts(step).size());
            EXPECT_EQ(slice.tree->hosts.count("n0"), 1U);
        }
    }
}

TEST_F(Probe, RanksThatMeasureForNoHostGetTheAnswerToo) {
    const Result<SwitchTree> tree = probed(hosts(2));
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_EQ(tree->hosts.size(), static_cast<std::size_t>((size_ + 1) / 2));
}

TEST_F(Probe, WhatWasKeptIsUsedAgainAndByFewerHosts) {
    if (size_ == 1) GTEST_SKIP() << "one host is not measured";
    const Result<SwitchTree> first = probed(hosts(), file_);
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_TRUE(has_note(*first, "kept in"));
    const std::string kept = file_text();
    const Result<SwitchTree> kept_tree = switches_from_probe_cache(kept);
    ASSERT_TRUE(kept_tree.ok()) << kept_tree.status().message();
    EXPECT_EQ(kept_tree->hosts.count("n1"), 1U);
    for (const int step : {1, 2}) {
        const Result<SwitchTree> again = probed(hosts(step), file_);
        ASSERT_TRUE(again.ok()) << again.status().message();
        EXPECT_TRUE(has_note(*again, "read from")) << step;
        EXPECT_EQ(again->hosts.at("0").at, first->hosts.at("0").at);
        EXPECT_EQ(again->hosts.at("0").uplink.bandwidth_gbytes_per_s,
                  first->hosts.at("0").uplink.bandwidth_gbytes_per_s);
    }
    EXPECT_EQ(file_text(), kept);
}

TEST_F(Probe, AHostThatIsNotInTheFileMakesItMeasureAnew) {
    if (size_ < 3) GTEST_SKIP() << "needs hosts to leave out";
    ASSERT_TRUE(probed(two_hosts(), file_).ok());
    const Result<SwitchTree> more = probed(hosts(), file_);
    ASSERT_TRUE(more.ok()) << more.status().message();
    EXPECT_TRUE(has_note(*more, "does not have host n1"));
    EXPECT_NE(file_text().find("n1"), std::string::npos);
}

TEST_F(Probe, AForeignFileIsLeftAloneAndADamagedOneReplaced) {
    if (size_ == 1) GTEST_SKIP() << "one host is not measured";
    write("my diary");
    const Result<SwitchTree> beside = probed(two_hosts(), file_);
    ASSERT_TRUE(beside.ok()) << beside.status().message();
    EXPECT_TRUE(has_note(*beside, "left as it is"));
    EXPECT_EQ(file_text(), "my diary");
    write(R"({"gradcoll_probe": 1, "switches": [], "hosts": {}})");
    const Result<SwitchTree> over = probed(two_hosts(), file_);
    ASSERT_TRUE(over.ok()) << over.status().message();
    EXPECT_TRUE(has_note(*over, "/switches"));
    EXPECT_TRUE(switches_from_probe_cache(file_text()).ok());
}

TEST_F(Probe, AFileThatCannotBeWrittenIsANote) {
    if (size_ == 1) GTEST_SKIP() << "one host is not measured";
    const Result<SwitchTree> tree = probed(two_hosts(), file_ + "/nowhere/cache.json");
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_TRUE(has_note(*tree, "not kept"));
}

TEST_F(Probe, HostsThatShareANameAreMeasuredButNotKept) {
    if (size_ == 1) GTEST_SKIP() << "needs two hosts";
    std::vector<ProbeHost> same = two_hosts();
    for (ProbeHost& host : same) host.name = "clone";
    const Result<SwitchTree> tree = probed(same, file_);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_TRUE(has_note(*tree, "no names of their own"));
    EXPECT_EQ(file_text(), "");
}

TEST_F(Probe, HostsThatNobodyCanMeasureForAreRefusedOnAllRanks) {
    EXPECT_FALSE(probed({{0, "a"}, {size_, "b"}}).ok());
    EXPECT_FALSE(probed({{0, "a"}, {0, "b"}}).ok());
    EXPECT_FALSE(probed({}).ok());
}

}  // namespace
}  // namespace gradcoll
