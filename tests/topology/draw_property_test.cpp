// tests/topology/draw_property_test.cpp - properties of drawings of any tree: they are well formed,
// name everything once, read back, and have the same bytes each time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <pugixml.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "topology/draw/draw.hpp"
#include "topology/draw/picture.hpp"
#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

/// Adds kinds on leaves, names with everything that markup and quoting must preserve, and figures
/// of any size.
void decorate(test::Random& random, TreeSpec& spec) {
    static const char* const names[] = {"",         "n7",           "<a&b>",     "]]>\"'",
                                        "\x01\xff", "Z\xc3\xbc",    "rank 3",    "-->",
                                        "a\nb",     "\xed\xa0\x80", "ranks 0-9", "x16"};
    if (test::below(random, 4) == 0) spec.name = names[test::below(random, 12)];
    if (test::below(random, 4) == 0) spec.uplink = {1e-3 * test::below(random, 1 << 20), 1.0 / 3};
    if (spec.rank >= 0) spec.kind = static_cast<VertexKind>(test::below(random, 9));
    for (TreeSpec& child : spec.children) decorate(random, child);
}

Tree decorated_tree(test::Random& random, int max_ranks) {
    TreeSpec spec = test::random_spec(random, max_ranks);
    decorate(random, spec);
    return std::move(Tree::make(spec)).value();
}

/// A DotGraph holds the nodes of the whole file by their names, and of its edges what is above and
/// what below.
struct DotGraph {
    std::multiset<std::string> nodes;
    std::vector<std::pair<std::string, std::string>> edges;
};

DotGraph read_dot(const std::string& dot) {
    DotGraph graph;
    std::istringstream lines(dot);
    for (std::string line; std::getline(lines, line);) {
        std::smatch found;
        if (std::regex_search(line, found, std::regex(R"(^  (v\d+) -- (v\d+) \[)")))
            graph.edges.emplace_back(found[1], found[2]);
        else if (std::regex_search(line, found, std::regex(R"(^  (v\d+) \[label=")")))
            graph.nodes.insert(found[1]);
    }
    return graph;
}

TEST(DrawProperty, DotIsATreeOfItsNodesAndTheSameEveryTime) {
    test::Random random(5);
    for (int i = 0; i < 300; ++i) {
        const Tree tree = decorated_tree(random, i % 10 == 0 ? 600 : 40);
        const std::string dot = draw_dot(tree);
        ASSERT_EQ(dot, draw_dot(tree));
        for (const char c : dot) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
        const DotGraph graph = read_dot(dot);
        ASSERT_EQ(graph.edges.size() + 1, graph.nodes.size()) << dot;
        std::set<std::string> below;
        for (const auto& [upper, lower] : graph.edges) {
            ASSERT_EQ(graph.nodes.count(upper), 1U) << dot;
            ASSERT_EQ(graph.nodes.count(lower), 1U) << dot;
            ASSERT_TRUE(below.insert(lower).second) << dot;
        }
        ASSERT_EQ(below.count("v0"), 0U);
    }
}

/// Returns the ranks in the lines of a drawing; names, which may say anything, are cut out first.
std::vector<int> ranks_told(const std::string& text) {
    std::vector<int> told;
    std::istringstream lines(std::regex_replace(text, std::regex(R"("([^"\\]|\\.)*")"), ""));
    for (std::string line; std::getline(lines, line);) {
        std::smatch list;
        if (!std::regex_search(line, list, std::regex(R"((?:^ *|[,;] )ranks? ([0-9][^;]*))")))
            continue;
        const std::string numbers = list[1];
        static const std::regex piece(R"((\d+)(?:-(\d+))?(?: step (\d+))?)");
        for (std::sregex_iterator it(numbers.begin(), numbers.end(), piece), end; it != end; ++it) {
            const int first = std::stoi((*it)[1]);
            const int last = (*it)[2].matched ? std::stoi((*it)[2]) : first;
            const int step = (*it)[3].matched ? std::stoi((*it)[3]) : 1;
            for (int rank = first; rank <= last; rank += step) told.push_back(rank);
        }
    }
    std::sort(told.begin(), told.end());
    return told;
}

TEST(DrawProperty, TextTellsEveryRankOnce) {
    test::Random random(7);
    for (int i = 0; i < 300; ++i) {
        const Tree tree = decorated_tree(random, 60);
        std::vector<int> all(static_cast<std::size_t>(tree.rank_count()));
        std::iota(all.begin(), all.end(), 0);
        ASSERT_EQ(ranks_told(draw_text(tree)), all) << draw_text(tree);
    }
}

TEST(DrawProperty, JsonReadsBackEqualForAllKindsNamesAndFigures) {
    test::Random random(8);
    for (int i = 0; i < 500; ++i) {
        TreeSpec spec = test::random_spec(random, 30);
        decorate(random, spec);
        const Tree tree = std::move(Tree::make(spec)).value();
        const Result<Tree> back = tree_from_json(json_of(tree), tree.rank_count());
        ASSERT_TRUE(back.ok()) << back.status().message();
        // Names that are not UTF-8 lose bytes, once.
        const Result<Tree> again = tree_from_json(json_of(*back), tree.rank_count());
        ASSERT_EQ(again->serialize(), back->serialize());
        ASSERT_EQ(expression_of(*back), expression_of(tree));
        for (int id = 0; id < tree.vertex_count(); ++id) {
            const Vertex& a = tree.vertex(id);
            const Vertex& b = back->vertex(id);
            ASSERT_EQ(a.kind, b.kind);
            ASSERT_EQ(a.uplink.bandwidth_gbytes_per_s, b.uplink.bandwidth_gbytes_per_s);
            ASSERT_EQ(a.uplink.latency_us, b.uplink.latency_us);
            const bool utf8 = a.name.find_first_of("\xff\xed") == std::string::npos;
            if (utf8) {
                ASSERT_EQ(a.name, b.name);
            }
        }
    }
}

TEST(DrawProperty, GraphvizMakesPicturesOfTheDot) {
    if (std::system("command -v dot >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "there is no program called dot (package graphviz)";
    test::Random random(9);
    const std::string path =
        testing::TempDir() + "gradcoll_draw_" + std::to_string(getpid()) + ".dot";
    constexpr int count = 60;
    std::string all;
    for (int i = 0; i < count; ++i) all += draw_dot(decorated_tree(random, 30));
    std::ofstream(path, std::ios::binary) << all;
    const int status =
        std::system(("dot -Tsvg " + path + " >" + path + ".svg 2>" + path + ".err").c_str());
    EXPECT_EQ(status, 0) << test::file_bytes(path + ".err");
    const std::string svg = test::file_bytes(path + ".svg");
    int pictures = 0;
    for (std::size_t begin = 0; (begin = svg.find("<svg", begin)) != std::string::npos;) {
        const std::size_t end = svg.find("</svg>", begin) + 6;
        pugi::xml_document document;
        ASSERT_TRUE(document.load_buffer(svg.data() + begin, end - begin, pugi::parse_full));
        begin = end;
        ++pictures;
    }
    EXPECT_EQ(pictures, count);
    for (const char* ending : {"", ".svg", ".err"}) std::remove((path + ending).c_str());
}

TEST(DrawProperty, SvgIsWellFormedAndHasABoxForEveryEntry) {
    test::Random random(26);
    for (int i = 0; i < 60; ++i) {
        const Tree tree = decorated_tree(random, 30);
        const std::string svg = draw_svg(tree);
        pugi::xml_document document;
        ASSERT_TRUE(document.load_buffer(svg.data(), svg.size(), pugi::parse_full)) << svg;
        EXPECT_GE(document.select_nodes("//text").size(), outline_for_picture(tree).entries.size());
        for (const char c : svg) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ');
    }
}

TEST(DrawProperty, SvgHasWhatIsToStandAtLinks) {
    const Tree tree = Tree::flat(3);
    const std::string svg = draw_svg(tree, [](int vertex) {
        return SvgLink{{"a < b", std::to_string(vertex)}, 7.5, true};
    });
    EXPECT_NE(svg.find(">a &lt; b</text>"), std::string::npos) << svg;
    EXPECT_NE(svg.find("stroke-width=\"7.5\""), std::string::npos) << svg;
    EXPECT_NE(svg.find("#dc2626"), std::string::npos) << svg;
}

TEST(DrawProperty, ManyAlikeHostsAreAFewLines) {
    TreeSpec top;
    top.kind = VertexKind::fabric_switch;
    int rank = 0;
    for (int h = 0; h < 1024; ++h) {
        TreeSpec host;
        host.kind = VertexKind::host;
        host.name = "n" + std::to_string(h);
        for (int r = 0; r < 128; ++r) {
            host.children.emplace_back();
            host.children.back().rank = rank++;
        }
        top.children.push_back(std::move(host));
    }
    const Tree tree = std::move(Tree::make(top)).value();
    EXPECT_EQ(draw_text(tree),
              "switch: 1024 branches, 131072 ranks\n"
              "  x1024 host \"n[0-1023]\": 128 branches, 128 ranks each; ranks 0-131071\n");
    EXPECT_LT(draw_dot(tree).size(), 2'000U);
}

TEST(DrawProperty, OfHundredsOfHostsThatDifferAFewAreDrawn) {
    TreeSpec top;
    int rank = 0;
    for (int h = 0; h < 300; ++h) {
        top.children.emplace_back();
        for (int r = 0; r < h + 2; ++r) {
            top.children.back().children.emplace_back();
            top.children.back().children.back().rank = rank++;
        }
    }
    const std::string dot = draw_dot(std::move(Tree::make(top)).value());
    EXPECT_LT(dot.size(), 20'000U);
    EXPECT_NE(dot.find("288 more branches"), std::string::npos);
}

}  // namespace
}  // namespace gradcoll
