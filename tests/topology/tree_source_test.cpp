// tests/topology/tree_source_test.cpp - checks the promises of every source of trees, for each row
// of the table of sources.
#include "topology/sources/tree_source.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "topology/probe/cache.hpp"
#include "topology/random_tree.hpp"
#include "topology/sources/job/source_table.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

std::string written_file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "gradcoll_source_" + name;
    std::ofstream(path) << text;
    return path;
}

std::string folder_of_hosts() {
    const std::string folder = testing::TempDir() + "gradcoll_source_hosts";
    std::filesystem::create_directories(folder);
    for (const char* host : {"a", "b"})
        std::filesystem::copy_file(test::golden_path("hwloc/nvidiaDGX2.xml"),
                                   folder + "/" + host + ".xml",
                                   std::filesystem::copy_options::overwrite_existing);
    return folder;
}

/// Makes two switches with a host each.
SwitchTree two_switches() {
    SwitchTree tree;
    tree.switches = {{"top", -1, {}}, {"s1", 0, {}}, {"s2", 0, {}}};
    tree.hosts = {{"a", {1, {}}}, {"b", {2, {}}}};
    return tree;
}

/// Returns what may follow a row's word.
std::string value_for(const SourceRow& row) {
    if (row.takes == Takes::nothing) return "";
    const std::map<std::string_view, std::string> values{
        {"expression", "((0 1) (2 3 4))"},
        {"json", test::golden_path("two_and_three.json")},
        {"synthetic", "pack:2 core:2 pu:1"},
        {"xml", test::golden_path("hwloc/nvidiaDGX2.xml")},
        {"hosts", folder_of_hosts()},
        {"gpus", test::golden_path("hwloc/nvidiaDGX2.xml")},
        {"nccl", test::golden_path("nccl/ndv4-topo.xml")},
        {"probe", ""},
        {"fabric", written_file("table.csv", "host,switch\na,s1\nb,s2\n")},
        {"cache", written_file("cache.json", probe_cache_text(two_switches()))}};
    const auto value = values.find(row.word);
    EXPECT_NE(value, values.end()) << "a further source needs a value here: " << row.word;
    return value == values.end() ? std::string() : value->second;
}

/// Makes a job with ranks 0 and 1 on host a, the others on host b, and all that any source needs.
Job five_ranks() {
    Job job;
    job.rank_count = 5;
    for (const char* name : {"a", "b"}) {
        JobHost& host = job.hosts.emplace_back();
        host.name = name;
        host.slurm_address = std::string("top.s") + name + "." + name;
        host.slurm_pattern = "switch.switch.node";
    }
    for (int rank = 0; rank < 5; ++rank)
        job.hosts[rank < 2 ? 0 : 1].ranks.push_back({rank, rank, {}});
    job.measured = two_switches();
    return job;
}

struct Learnt {
    Status status;
    TreeDraft draft;
};

Learnt learnt(const SourceRow& row) {
    Learnt learnt;
    learnt.status = row.make(value_for(row))->learn(five_ranks(), learnt.draft);
    return learnt;
}

class EverySource : public testing::TestWithParam<const SourceRow*> {};

TEST_P(EverySource, AddsItsOwnPartAlone) {
    const SourceRow& row = *GetParam();
    const auto [status, draft] = learnt(row);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(draft.whole.has_value(), row.part == Part::whole);
    if (draft.whole) {
        EXPECT_EQ(draft.whole->rank_count(), 5);
    }
    EXPECT_EQ(draft.insides.size(), row.part == Part::inside ? 2U : 0U);
    if (row.part != Part::between) {
        EXPECT_FALSE(draft.switches.tree);
    }
    EXPECT_EQ(draft.switches.tree.has_value(), !draft.switches.origin.empty());
}

TEST_P(EverySource, OfInsidesGivesEachHostItsNameAndItsRanks) {
    const auto [status, draft] = learnt(*GetParam());
    if (draft.insides.empty()) return;
    EXPECT_EQ(draft.insides[0].lowest_rank, 0);
    EXPECT_EQ(draft.insides[1].lowest_rank, 2);
    TreeSpec top;
    for (const HostSubtree& host : draft.insides) top.children.push_back(host.spec);
    EXPECT_EQ(top.children[0].name, "a");
    EXPECT_EQ(top.children[1].name, "b");
    const Result<Tree> tree = Tree::make(top);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_EQ(tree->rank_count(), 5);
}

TEST_P(EverySource, LearnsTheSameAgain) {
    const SourceRow& row = *GetParam();
    const auto source = row.make(value_for(row));
    TreeDraft drafts[2];
    for (TreeDraft& draft : drafts) ASSERT_TRUE(source->learn(five_ranks(), draft).ok());
    EXPECT_EQ(drafts[0].notes, drafts[1].notes);
    EXPECT_EQ(drafts[0].switches.origin, drafts[1].switches.origin);
    EXPECT_EQ(drafts[0].insides.size(), drafts[1].insides.size());
    if (drafts[0].whole) {
        EXPECT_EQ(drafts[0].whole->serialize(), drafts[1].whole->serialize());
    }
}

TEST_P(EverySource, OfAPartNeedsTheJobsHosts) {
    const SourceRow& row = *GetParam();
    const Needs needs = row.make(value_for(row))->needs();
    EXPECT_EQ(needs.reports == Reports::none, row.part == Part::whole);
    if (row.part != Part::between) {
        EXPECT_FALSE(needs.measurement);
    }
}

TEST_P(EverySource, OfAFileTouchesItWhenItLearnsAndNamesItIfItIsNotThere) {
    const SourceRow& row = *GetParam();
    if (row.takes != Takes::a_file && !row.holds) return;
    const std::string path = "/nowhere/f.xml";
    const auto source = row.make(path);
    EXPECT_TRUE(source->check_text().ok());
    TreeDraft draft;
    const Status status = source->learn(five_ranks(), draft);
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
}

TEST_P(EverySource, IsTheOnlyOneThatItsFilesAreFor) {
    const SourceRow& row = *GetParam();
    if (!row.holds) return;
    EXPECT_FALSE(row.found.empty());
    const Result<PathContent> content = content_at(value_for(row));
    ASSERT_TRUE(content.ok()) << content.status().message();
    EXPECT_EQ(source_for(*content), &row);
    for (const SourceRow& other : source_table())
        if (other.holds && !other.vague) {
            EXPECT_EQ(other.holds(*content), &other == &row) << other.word;
        }
}

/// Returns the rows of the project, and those from outside the project, which come last, that take
/// no value.
std::vector<const SourceRow*> rows_that_learn() {
    std::vector<const SourceRow*> rows;
    std::size_t place = 0;
    for (const SourceRow& row : source_table()) {
        const bool built_in = place++ < GRADCOLL_BUILT_IN_SOURCES;
        if (row.make && (built_in || row.takes == Takes::nothing)) rows.push_back(&row);
    }
    return rows;
}

INSTANTIATE_TEST_SUITE_P(Table, EverySource, testing::ValuesIn(rows_that_learn()),
                         [](const auto& param_info) {
                             return std::string(param_info.param->word);
                         });

TEST(SourceTable, WordsOfAPartAreDifferent) {
    std::set<std::pair<Part, std::string_view>> words;
    for (const SourceRow& row : source_table())
        EXPECT_TRUE(words.emplace(row.part, row.word).second) << row.word;
}

TEST(SourceTable, RowsThatAreWrittenAreInMessagesAndThoseThatAreRecognisedSayWhatTheyHold) {
    const std::string forms = allowed_forms();
    for (const SourceRow& row : source_table()) {
        EXPECT_NE(forms.find(row.forms), std::string::npos) << row.word;
        EXPECT_EQ(row.found.empty(), row.holds == nullptr) << row.word;
        EXPECT_TRUE(row.expected.empty() || row.holds) << row.word;
        EXPECT_TRUE(row.help.empty() || !row.example.empty() || !row.forms.empty()) << row.word;
    }
}

}  // namespace
}  // namespace gradcoll
