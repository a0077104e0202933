// The report for browsers: it says what the text says, escapes what comes from outside, and draws
// what calls put on links.
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <sstream>

#include "base/text.hpp"
#include "report/report.hpp"
#include "report/sample_report.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using namespace test;

/// TextOf collects all text of a document, in its order.
struct TextOf : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node& node) override {
        if (node.type() == pugi::node_pcdata) text += std::string(" ") + node.value();
        return true;
    }
    std::string text;
};

std::string text_in(const std::string& html) {
    pugi::xml_document document;
    const auto parsed = document.load_buffer(html.data(), html.size(), pugi::parse_full);
    EXPECT_TRUE(parsed) << parsed.description() << " at " << parsed.offset;
    TextOf walker;
    document.traverse(walker);
    return walker.text;
}

Tree two_hosts() {
    return std::move(tree_from_expression("(host:a(0 1)@2 host:b(2))", 3)).value();
}

TEST(ReportHtml, SaysEveryWordOfTheText) {
    ReportSnapshot report = full_report();
    report.nic = {.frames_sent = 1200, .bytes_sent = 64 << 20, .frames_coded = 600};
    report.comms[0].engines.add({.sums = 12, .busy_ns = 1000, .waited_ns = 250, .stalls = 3});
    const std::string text = text_in(report_html(report));
    std::istringstream words(report_text(report));
    int count = 0;
    for (std::string word; words >> word; ++count) {
        if (word.find("====") != std::string::npos) continue;
        EXPECT_NE(text.find(word), std::string::npos) << word;
    }
    EXPECT_GT(count, 300);
}

TEST(ReportHtml, NeedsNothingElse) {
    const std::string html = report_html(full_report());
    for (const char* what : {"src=", "href=", "<script", "@import", "url("})
        EXPECT_EQ(html.find(what), std::string::npos) << what;
}

TEST(ReportHtml, TextFromOutsideIsNoMarkup) {
    ReportSnapshot report = full_report();
    const std::string evil = "<script>alert('x')</script> & \"q\" \x01\xff\xc3\xa4";
    report.process.command = report.process.host = report.process.mpi = evil;
    report.comms[0].name = evil;
    report.comms[0].trees[0].expression = report.comms[0].trees[0].origin = evil;
    report.ranks[0].host = evil;
    const std::string html = report_html(report);
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(html.find('\x01'), std::string::npos);
    EXPECT_NE(text_in(html).find("<script>alert('x')</script> & \"q\" "), std::string::npos);
}

TEST(ReportHtml, DrawsWhatCallsPutOnLinks) {
    Report report({});
    const auto world = report.add_comm("world", 3);
    const Tree tree = two_hosts();
    report.set_tree(world, expression_of(tree), "written");
    std::vector<LinkBytes> links(static_cast<std::size_t>(tree.vertex_count()));
    for (std::size_t i = 1; i < links.size(); ++i) links[i] = {i << 20, i << 30};
    for (int call = 0; call < 3; ++call) report.add_traffic(world, tree, links);
    const std::string html = report.html();
    const std::string text = text_in(html);
    for (const char* words : {"3 calls", "host \"a\"", "up 3 MiB", "down 3 GiB", "1.6 s"})
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    EXPECT_NE(html.find("<svg"), std::string::npos);
    EXPECT_EQ(text.find("numbered among themselves"), std::string::npos) << "no ranks are left out";
}

TEST(ReportHtml, SaysWhereRanksAreLeadersOfHosts) {
    Report report({});
    const auto world = report.add_comm("world", 6);
    const Tree leaders = two_hosts();
    report.set_tree(world, "((0 1) (2 3) (4 5))", "written");
    report.add_traffic(world, leaders,
                       std::vector<LinkBytes>(static_cast<std::size_t>(leaders.vertex_count())));
    EXPECT_NE(report.html().find("numbered among themselves"), std::string::npos);
}

TEST(ReportHtml, TreesTooLargeToLookAtAreLeftOut) {
    Report report({});
    const auto world = report.add_comm("world", 5000);
    const Tree tree = Tree::flat(5000);
    report.set_tree(world, "(0-4999)", "written");
    report.add_traffic(world, tree, std::vector<LinkBytes>(5001));
    EXPECT_TRUE(report.snapshot().comms.at(0).traffic.empty());
    EXPECT_EQ(report.html().find("<svg"), std::string::npos);
}

TEST(ReportHtml, SumsOverRanksHaveTheLeastAndTheMost) {
    Report report({});
    EXPECT_NE(report.html().find("of this rank alone"), std::string::npos);
    std::vector<RankSums> ranks(100);
    for (int rank = 0; rank < 100; ++rank) {
        auto& one = ranks[static_cast<std::size_t>(rank)];
        one = {rank, "n" + std::to_string(rank), {}};
        one.sums.calls = 10;
        one.sums.total_ns = static_cast<std::uint64_t>(1 + (rank * 37) % 100) * 1'000'000;
    }
    report.set_ranks(ranks);
    const std::string text = text_in(report.html());
    for (const char* words :
         {"1000", "1.0 ms (rank 0)", "100 ms (rank 27)", "1.98", "the 64 ranks that spent most"})
        EXPECT_NE(text.find(words), std::string::npos) << words;
    EXPECT_EQ(text.find("rank 0, n0"), std::string::npos) << "it spent least";
    EXPECT_NE(text.find("rank 27, n27"), std::string::npos);
}

}  // namespace
}  // namespace gradcoll
