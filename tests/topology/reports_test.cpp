// tests/topology/reports_test.cpp - several hosts, which one machine cannot have: trees from
// made-up reports of ranks.
#include "topology/sources/job/reports.hpp"

#include <gtest/gtest.h>

#include "topology/random_tree.hpp"
#include "topology/sources/job/job_tree.hpp"
#include "topology/sources/job/probe_request.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

/// Returns reports in which rank r is on the host whose lowest rank is firsts[r], bound to core
/// cores[r].
std::vector<std::string> reports(const std::vector<std::uint32_t>& firsts,
                                 const std::vector<std::uint32_t>& cores) {
    std::vector<std::string> all;
    for (std::size_t r = 0; r < firsts.size(); ++r)
        all.push_back(report_bytes(
            {firsts[r],
             {"node",
              {{VertexKind::package, cores[r] / 2, "P"}, {VertexKind::core, cores[r], "C"}}},
             ""}));
    return all;
}

/// Returns the tree that rank 0 makes of them.
Result<DiscoveredTree> tree_from(const std::string& written, std::span<const std::string> all) {
    Result<WrittenSource> source = written_source(written);
    if (source.ok()) source = resolved(std::move(*source));
    if (!source.ok()) return source.status();
    std::vector<std::string> notes;
    const Result<std::vector<JobHost>> hosts = hosts_of_reports(all, notes);
    if (!hosts.ok()) return hosts.status();
    Job job;
    job.hosts = *hosts;
    return JobSources(*source).tree_of(job, std::move(notes));
}

std::string expression_or_error(const Result<DiscoveredTree>& found) {
    return found.ok() ? expression_of(found->tree) : found.status().message();
}

TEST(Reports, HostsOfEqualNameAreToldApartAndOrderedByTheirLowestRank) {
    const Result<DiscoveredTree> found = tree_from("", reports({0, 1, 0, 1, 4}, {0, 0, 1, 2, 0}));
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(expression_of(found->tree), "((0 2)(1 3)4)");
    EXPECT_EQ(found->tree.vertex(0).kind, VertexKind::group);
}

TEST(Reports, RanksOnTheSameCoreAreBothLeaves) {
    EXPECT_EQ(expression_or_error(tree_from("", reports({0, 0, 0}, {0, 0, 3}))), "((0 1)2)");
}

TEST(Reports, ARankWithoutHwlocHangsRightBelowItsHost) {
    std::vector<std::string> all = reports({0, 0, 0}, {0, 1, 0});
    all[2] = report_bytes({0, {"node", {}}, "this machine: hwloc does not load it"});
    const Result<DiscoveredTree> found = tree_from("", all);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(expression_of(found->tree), "((0 1)2)");
    EXPECT_EQ(found->origin, "discovered: hwloc + shared-memory split");
    EXPECT_EQ(found->notes,
              std::vector<std::string>{"hwloc failed on rank 2: this machine: hwloc does not load "
                                       "it; such a rank is right below its host"});
    EXPECT_EQ(told_origin(*found), found->origin + "; " + found->notes.front());
}

TEST(Reports, EachHostTakesItsOwnDescription) {
    const std::string path = testing::TempDir() + "gradcoll_reports_hosts";
    std::ofstream(path) << "a pack:2 core:2 pu:1\n* pack:1 core:4 pu:1\n";
    std::vector<std::string> all;
    for (const std::uint32_t first : {0u, 0u, 0u, 3u, 3u})
        all.push_back(report_bytes({first, {first == 0 ? "a" : "b", {}}, ""}));
    EXPECT_EQ(expression_or_error(tree_from("hosts:" + path, all)), "(((0 1)2)(3 4))");

    std::ofstream(path) << "a pack:2 core:2 pu:1\n";
    const Result<DiscoveredTree> without = tree_from("hosts:" + path, all);
    EXPECT_EQ(expression_or_error(without), "(((0 1)2)(3 4))");
    EXPECT_EQ(without->notes, std::vector<std::string>{"\"" + path +
                                                       "\" does not describe b: ranks there are "
                                                       "equally near"});
    std::ofstream(path) << "c pack:2 core:2 pu:1\n";
    EXPECT_EQ(expression_or_error(tree_from("hosts:" + path, all)),
              "GC_TOPOLOGY hosts:" + path + ": \"" + path +
                  "\" describes none of the hosts a,b, and has nothing for *");
}

TEST(Reports, MalformedBytesNameTheRank) {
    std::vector<std::string> all = reports({0, 0}, {0, 1});
    all[1].pop_back();
    EXPECT_NE(expression_or_error(tree_from("", all)).find("rank 1: "), std::string::npos);
    EXPECT_EQ(expression_or_error(tree_from("", reports({0, 9}, {0, 1}))).substr(0, 8), "rank 1: ");
}

// ---- what rank 0 wants measured

Code read_back(const std::vector<ProbeHost>& hosts) {
    const auto read = probe_request_from(probe_request_bytes({"/tmp/kept", "job", hosts}), 5);
    if (!read.ok()) return read.status().code();
    EXPECT_EQ(read->cache_file, "/tmp/kept");
    EXPECT_EQ(read->job, "job");
    EXPECT_EQ(read->hosts.size(), hosts.size());
    return Code::ok;
}

TEST(ProbeRequest, HasHostsThatFollowEachOtherFromRank0On) {
    EXPECT_EQ(read_back({}), Code::ok);
    EXPECT_EQ(read_back({{0, "a"}, {3, "b"}, {4, "a"}}), Code::ok);
    EXPECT_EQ(read_back({{1, "a"}, {3, "b"}}), Code::corrupt);
    EXPECT_EQ(read_back({{0, "a"}, {3, "b"}, {3, "c"}}), Code::corrupt);
    EXPECT_EQ(read_back({{0, "a"}, {3, "b"}, {1, "c"}}), Code::corrupt);
    EXPECT_EQ(read_back({{0, "a"}, {5, "b"}}), Code::corrupt);
    EXPECT_EQ(read_back({{-1, "a"}, {0, "b"}}), Code::corrupt);
}

}  // namespace
}  // namespace gradcoll
