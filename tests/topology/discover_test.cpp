// tests/topology/discover_test.cpp - the collective discovery under mpirun: all ranks get the same
// bytes, or the same error.
#include "topology/sources/job/discover.hpp"

#include <gtest/gtest.h>

#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

class Discover : public testing::Test {
  protected:
    void SetUp() override {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }

    /// Returns what a rank saw, tree or error, as one string.
    static std::string seen(const Result<DiscoveredTree>& found) {
        return found.ok() ? "tree " + found->origin + found->tree.serialize()
                          : "error " + std::to_string(static_cast<int>(found.status().code())) +
                                found.status().message();
    }
    /// Returns true if every rank holds the bytes of rank 0. Collective.
    static bool equal_everywhere(MPI_Comm comm, const std::string& mine) {
        int size = static_cast<int>(mine.size());
        MPI_Bcast(&size, 1, MPI_INT, 0, comm);
        std::string root = mine;
        root.resize(static_cast<std::size_t>(size));
        MPI_Bcast(root.data(), size, MPI_BYTE, 0, comm);
        int equal = root == mine;
        MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_MIN, comm);
        return equal != 0;
    }
    static std::string expression_or_error(MPI_Comm comm, const std::string& written) {
        const Result<DiscoveredTree> found = discover_tree(comm, written);
        EXPECT_TRUE(equal_everywhere(comm, seen(found))) << written;
        return found.ok() ? expression_of(found->tree) : found.status().message();
    }
    /// Returns "(0 (1 (2 3)))" over all ranks of MPI_COMM_WORLD, as expression_of() would write it.
    std::string comb() const {
        TreeSpec spec{VertexKind::rank, "", size_ - 1, {}, {}};
        for (int r = size_ - 1; r-- > 0;) {
            TreeSpec upper;
            upper.children.push_back({VertexKind::rank, "", r, {}, {}});
            upper.children.push_back(std::move(spec));
            spec = std::move(upper);
        }
        return expression_of(*Tree::make(spec));
    }

    int rank_ = 0;
    int size_ = 0;
};

TEST_F(Discover, TheMachineGivesOneLeafARankAndEqualBytes) {
    for (const char* written : {"", "discover"}) {
        const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, written);
        ASSERT_TRUE(found.ok()) << found.status().message();
        EXPECT_EQ(found->tree.rank_count(), size_);
        EXPECT_EQ(found->origin, "discovered: hwloc + shared-memory split");
        EXPECT_TRUE(equal_everywhere(MPI_COMM_WORLD, seen(found)));
    }
}

TEST_F(Discover, AnExpressionIsOverTheRanksOfTheWorld) {
    EXPECT_EQ(expression_or_error(MPI_COMM_WORLD, comb()), comb());
    EXPECT_EQ(expression_or_error(MPI_COMM_WORLD, "flat"), expression_of(Tree::flat(size_)));
}

TEST_F(Discover, ASubCommunicatorGetsThePrunedAndRenumberedTree) {
    MPI_Comm sub = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, -rank_, &sub);  // the ranks run backwards
    int count = 0;
    MPI_Comm_size(sub, &count);
    const Result<DiscoveredTree> found = discover_tree(sub, comb());
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_TRUE(equal_everywhere(sub, seen(found)));
    std::vector<int> members(static_cast<std::size_t>(count));
    MPI_Allgather(&rank_, 1, MPI_INT, members.data(), 1, MPI_INT, sub);
    const Result<Tree> expected = tree_from_expression(comb(), size_)->pruned(members);
    EXPECT_EQ(found->tree.serialize(), expected->serialize());

    const Result<DiscoveredTree> machine = discover_tree(sub, "");
    ASSERT_TRUE(machine.ok()) << machine.status().message();
    EXPECT_EQ(machine->tree.rank_count(), count);
    EXPECT_TRUE(equal_everywhere(sub, seen(machine)));
    MPI_Comm_free(&sub);
}

TEST_F(Discover, OneRankAloneIsALeaf) {
    const Result<DiscoveredTree> found = discover_tree(MPI_COMM_SELF, "");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->tree.vertex_count(), 1);
    EXPECT_EQ(discover_tree(MPI_COMM_SELF, comb())->tree.vertex_count(), 1);
}

TEST_F(Discover, OnlyRankZeroReadsWhatIsWritten) {
    const std::string mine = rank_ == 0 ? comb() : "nonsense on rank " + std::to_string(rank_);
    EXPECT_EQ(expression_or_error(MPI_COMM_WORLD, mine), comb());
    const std::string others = rank_ == 0 ? "" : "((";
    const Result<DiscoveredTree> found = discover_tree(MPI_COMM_WORLD, others);
    EXPECT_TRUE(found.ok());
}

TEST_F(Discover, ErrorsAreTheSameOnAllRanks) {
    const std::string fewer = expression_or_error(MPI_COMM_WORLD, "(0-6)");
    EXPECT_NE(fewer.find("GC_TOPOLOGY expression: topology expression: line 1, column 2: rank " +
                         std::to_string(size_) + " is unknown: there are " + std::to_string(size_) +
                         " ranks"),
              std::string::npos)
        << fewer;
    if (size_ > 1) {
        const std::string more = expression_or_error(MPI_COMM_WORLD, "0");
        EXPECT_NE(more.find("rank 1 is missing: 1 ranks are named"), std::string::npos) << more;
    }
    for (const char* bad : {"(((", "nonsense", "json:/nowhere/t.json", "xml:/nowhere/a.xml",
                            "synthetic:pakc:2", "hosts:/nowhere/h"})
        EXPECT_NE(expression_or_error(MPI_COMM_WORLD, bad).find("GC_TOPOLOGY"), std::string::npos)
            << bad;
}

TEST_F(Discover, JsonFileNeedsToBeThereOnRankZeroOnly) {
    const std::string path =
        testing::TempDir() + "gradcoll_discover_" + std::to_string(size_) + ".json";
    if (rank_ == 0) std::ofstream(path) << json_of(*tree_from_expression(comb(), size_));
    EXPECT_EQ(
        expression_or_error(MPI_COMM_WORLD, rank_ == 0 ? "json:" + path : "json:/nowhere/else"),
        comb());
    EXPECT_EQ(expression_or_error(MPI_COMM_WORLD, path), comb());
}

TEST_F(Discover, DescribedHostsTakeTheirRanksInOrder) {
    const std::string described =
        expression_or_error(MPI_COMM_WORLD, "synthetic:pack:2 core:2 pu:1");
    const std::vector<std::string> expected{"0", "(0 1)", "((0 1)2)", "((0 1)(2 3))",
                                            "(((0 4)1)(2 3))"};
    EXPECT_EQ(described, expected[static_cast<std::size_t>(size_ - 1)]);

    const std::string xml = test::golden_path("hwloc/16em64t-4s2c2t-offlines.xml");
    const std::string from_xml = expression_or_error(MPI_COMM_WORLD, "xml:" + xml);
    const std::string path =
        testing::TempDir() + "gradcoll_discover_hosts_" + std::to_string(size_);
    if (rank_ == 0) std::ofstream(path) << "# every host\n* " << xml << "\n";
    EXPECT_EQ(expression_or_error(MPI_COMM_WORLD, "hosts:" + path), from_xml);
}

}  // namespace
}  // namespace gradcoll
